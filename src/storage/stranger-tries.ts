import type { AttemptKind } from '../domain/attempts.js'

/** A person at single sign-on. */
interface SsoMember {
  readonly memberId: string
  /** A browser that signed in before this time, epoch ms, is not the person's own: an unlock or a reset of the profile came after. */
  readonly ownersFrom: number
}

/** A try that was taken, by its time. */
export type StrangerTry =
  | { readonly taken: string }
  /** None is left. `waitMs`: until one is; null: until a success, an unlock or a reset. */
  | { readonly taken: null; readonly waitMs: number | null }

/** `failed`: judged, and not a success; `invalid`: a pattern that was not judged; `free`: neither. */
export type StrangerOutcome = 'failed' | 'invalid' | 'free'

/**
 * Tries of browsers that have not signed in as the person: see `STRANGER_LIMITS`. They end with an unlock, a reset of the profile and
 * the deletion of the person. The database keeps the time.
 */
export interface StrangerTryStore {
  /** The person of an account of one; null: there is none. */
  member(organizationId: string, userRef: string): Promise<SsoMember | null>
  /** Takes a try before it is judged, until it is settled: atomic. */
  take(organizationId: string, memberId: string, kind: AttemptKind): Promise<StrangerTry>
  /** As `take`, and takes none. */
  peek(organizationId: string, memberId: string, kind: AttemptKind): Promise<StrangerTry>
  settle(organizationId: string, memberId: string, taken: string, outcome: StrangerOutcome): Promise<void>
}
