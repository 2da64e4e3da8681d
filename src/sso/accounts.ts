import { sha256Hex } from '../flows/process/tokens.js'
import type { SsoAccountStore } from '../storage/sso-account.js'
import type { SsoSettings } from './settings.js'

interface Needs {
  readonly organizationId: string
  readonly settings: Pick<SsoSettings, 'directory' | 'upstream'>
  readonly ssoAccounts: SsoAccountStore
  /** Logs a line at intervals. */
  readonly warn: (line: string) => void
}

/**
 * The proof that a one-time password gives. `person`: the person is the one of the reference. `new-person`: a person without a
 * typing profile may enroll. With the directory `userinfo` the account itself names the mail address, so the password proves
 * nothing about a profile that the account has not enrolled.
 */
export type MailProof = 'person' | 'new-person' | 'nothing'

/**
 * The accounts of the upstream provider, each named by issuer and `sub`. An account gets its reference when its holder has proved to
 * be the person, and keeps it. So no second account can take a reference by a name that is normalized to the same text.
 */
export interface Accounts {
  /** The reference of an account; null if it has none yet. */
  refOf(subject: string): Promise<string | null>
  /** Whether a person of the directory may sign in by this account. `subject` is null if no account names the person. */
  mayBe(subject: string | null, userRef: string): Promise<boolean>
  /** The proof that a one-time password gives; null, with a line in the log, if the account may not be that person. */
  mailProof(subject: string | null, userRef: string): Promise<MailProof | null>
  /** Gives the reference to the account if `mayBe` permits it. Typing also proves a person whom an account of another issuer names. */
  bind(subject: string | null, userRef: string, by: 'typing' | 'password'): Promise<boolean>
}

export function createAccounts({ organizationId, settings, ssoAccounts, warn }: Needs): Accounts {
  const { directory, upstream } = settings
  const mailIsOfAccount = directory.kind === 'userinfo'
  const issuer = directory.kind === 'userinfo' ? directory.issuer : (upstream?.issuer ?? '')
  const accountOf = (subject: string) => ({ issuer, sha256: sha256Hex(subject) })
  const refused = (subject: string, userRef: string): void =>
    warn(
      `an account of ${issuer} may not sign in as ${userRef}: one account has one reference (keystride sso release): ${JSON.stringify(subject.slice(0, 64))}`,
    )
  const mailProof = async (subject: string | null, userRef: string): Promise<MailProof | null> => {
    if (subject === null) return 'person'
    const standing = await ssoAccounts.standing(organizationId, accountOf(subject), userRef)
    if (standing === null) {
      refused(subject, userRef)
      return null
    }
    if (standing === 'own' || !mailIsOfAccount) return 'person'
    return standing === 'free' ? 'new-person' : 'nothing'
  }
  return {
    refOf: (subject) => ssoAccounts.refOf(organizationId, accountOf(subject)),
    mailProof,
    mayBe: async (subject, userRef) => (await mailProof(subject, userRef)) !== null,
    async bind(subject, userRef, by) {
      if (subject === null) return true
      const alone = mailIsOfAccount && by === 'password'
      const bound = await ssoAccounts.bind(organizationId, accountOf(subject), userRef, alone)
      if (!bound) refused(subject, userRef)
      return bound
    },
  }
}
