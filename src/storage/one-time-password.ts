/** Bounds of one-time passwords of a person. */
interface PasswordLimits {
  readonly lifetimeMs: number
  /** Tries of one password. */
  readonly tries: number
  readonly sendsPerHour: number
  /** Wrong tries over all passwords; they are forgotten 24 hours after the last of them. */
  readonly wrongPerDay: number
}

/** A try, counted before the comparison. */
type PasswordTry =
  | { readonly outcome: 'open'; readonly hash: Uint8Array }
  | { readonly outcome: 'expired' | 'none' }
  /** No wrong try of the day is left. */
  | { readonly outcome: 'wait'; readonly waitMs: number }

/** One-time passwords: at most one is live for a person. The database keeps the time. */
export interface OneTimePasswordStore {
  /** Replaces the live password and counts it as sent. At a limit, changes nothing and returns the ms to wait. */
  issue(organizationId: string, userRef: string, hash: Uint8Array, limits: PasswordLimits): Promise<number | null>
  /** Counts a try as wrong and returns the hash to compare with. Atomic. `none`: there is no password, or no try of it is left. */
  try(organizationId: string, userRef: string, limits: Pick<PasswordLimits, 'wrongPerDay'>): Promise<PasswordTry>
  /** Uses up the live password if it has this hash, and forgets the wrong tries. Atomic: true for only one of concurrent calls. */
  redeem(organizationId: string, userRef: string, hash: Uint8Array): Promise<boolean>
}
