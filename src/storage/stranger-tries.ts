import type { AttemptKind } from '../domain/attempts.js'

/** A person at single sign-on. */
interface SsoMember {
  readonly memberId: string
  /** Time of the latest unlock or reset, epoch ms. A browser that signed in before is not the person's own. */
  readonly ownersFrom: number
}

/** No try is left for `waitMs`; null if only a success, an unlock or a reset gives one. */
export interface NoTryLeft {
  readonly taken: null
  readonly waitMs: number | null
}

/** Outcome of a try. `failed`: judged, without success. `invalid`: a pattern that was not judged. `free`: neither; costs no try. */
export type StrangerOutcome = 'failed' | 'invalid' | 'free'

/**
 * Tries of browsers that have not signed in as the person: see `STRANGER_LIMITS`. An unlock, a reset of the profile and the
 * deletion of the person end them. The database keeps the time.
 */
export interface StrangerTryStore {
  /** The person of a nominative account; null if there is none. */
  member(organizationId: string, userRef: string): Promise<SsoMember | null>
  /** Takes a try before it is judged; `settle` decides whether the try is used up. `taken` is its time, which identifies it. Atomic. */
  take(organizationId: string, memberId: string, kind: AttemptKind): Promise<{ readonly taken: string } | NoTryLeft>
  /** Null if a try is left. Takes none. */
  peek(organizationId: string, memberId: string, kind: AttemptKind): Promise<NoTryLeft | null>
  settle(organizationId: string, memberId: string, taken: string, outcome: StrangerOutcome): Promise<void>
}
