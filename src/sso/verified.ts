/**
 * Whether a provider calls a claim verified. Only addresses and telephone numbers have such a mark; without it they are not verified:
 * Entra and AD FS send none, and let an administrator of any tenant write any address. Cognito and Apple write the text "true".
 */
export function isVerified(claims: Readonly<Record<string, unknown>>, name: string): boolean {
  if (name !== 'email' && name !== 'phone_number') return true
  const mark = claims[`${name}_verified`]
  return mark === true || mark === 'true'
}
