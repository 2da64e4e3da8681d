type Claims = Readonly<Record<string, unknown>>

/**
 * Whether a provider calls a claim verified. Only e-mail addresses and telephone numbers have such a mark. Without it they are not
 * verified: Entra and AD FS send none, and let an administrator of any tenant write any address. Cognito and Apple write the text
 * "true". A user name that is the account's e-mail address is verified if that address is, because people often sign up by address.
 */
export function isVerified(claims: Claims, name: string): boolean {
  if (name !== 'email' && name !== 'phone_number') return !isEmail(claims, name) || isVerified(claims, 'email')
  const mark = claims[`${name}_verified`]
  return mark === true || mark === 'true'
}

/** Whether a claim may name a new person: it is verified, and if it is an e-mail address, it is the account's. */
export const isVerifiedName = (claims: Claims, name: string): boolean =>
  isVerified(claims, name) && (!String(claims[name]).includes('@') || isEmail(claims, name))

const isEmail = ({ email, ...claims }: Claims, name: string): boolean =>
  name === 'email' || (typeof email === 'string' && written(claims[name]) === written(email))

const written = (value: unknown): unknown => (typeof value === 'string' ? value.trim().toLowerCase() : value)
