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
 * The accounts of the upstream provider, each named by its `sub`. An account gets its reference when its person has proved to be that
 * person, and keeps it. So no second account can take a reference by a name that is normalized to the same text.
 */
export interface Accounts {
  /** The reference that an account has, or would get as `userRef`; null, and a line in the log: another account has it. */
  refFor(subject: string, userRef: string): Promise<string | null>
  /** Whether a person whom the directory names may sign in by this account. `subject`: null if no account names the person. */
  mayBe(subject: string | null, userRef: string): Promise<boolean>
  /** As `mayBe`, and gives the reference to the account. */
  bind(subject: string | null, userRef: string): Promise<boolean>
}

export function createAccounts({ organizationId, settings, ssoAccounts, warn }: Needs): Accounts {
  const { directory, upstream } = settings
  const issuer = directory.kind === 'userinfo' ? directory.issuer : (upstream?.issuer ?? '')
  const accountOf = (subject: string) => ({ issuer, sha256: sha256Hex(subject) })
  const reported = (may: boolean, subject: string, userRef: string): boolean => {
    if (!may)
      warn(
        `an account of ${issuer} may not sign in as ${userRef}: one account has one reference (keystride sso release): ${JSON.stringify(subject.slice(0, 64))}`,
      )
    return may
  }
  const refFor = async (subject: string, userRef: string) => {
    const found = await ssoAccounts.refFor(organizationId, accountOf(subject), userRef)
    reported(found !== null, subject, userRef)
    return found
  }
  return {
    refFor,
    mayBe: async (subject, userRef) => {
      if (subject === null) return true
      const found = await ssoAccounts.refFor(organizationId, accountOf(subject), userRef)
      return reported(found === userRef, subject, userRef)
    },
    bind: async (subject, userRef) =>
      subject === null ||
      reported(await ssoAccounts.bind(organizationId, accountOf(subject), userRef), subject, userRef),
  }
}
