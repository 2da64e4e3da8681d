import type { Member } from '../domain/account.js'
import type { ReplayMark } from '../domain/replay.js'

export type CaptureMode = 'visible' | 'sensitive'

export interface StoredReference {
  readonly id: string
  readonly generation: number
  readonly mode: CaptureMode
  /** Encrypted sample; open it with the vault. */
  readonly sealed: Uint8Array
}

export interface NewReference extends StoredReference {
  readonly memberId: string
  /** Null stores it without looking at, or adding to, the replay index: it knows the pattern already. */
  readonly replayMark: ReplayMark | null
  readonly createdAt: number
}

export type AddOutcome =
  | { readonly outcome: 'added'; readonly member: Member }
  /** The mark is known: somebody has typed exactly this before. Nothing was written. */
  | { readonly outcome: 'replay' }
  /** The profile holds `limit` references or this very one already, or its generation moved on. Nothing was written. */
  | { readonly outcome: 'closed'; readonly member: Member }
  | { readonly outcome: 'absent' }

/** Reference patterns of members. Every write is one transaction under the member's row lock. */
export interface ProfileStore {
  /** Oldest first, of the member's current generation. */
  references(organizationId: string, memberId: string): Promise<StoredReference[]>
  /**
   * Adds a reference if the member holds fewer than `limit`; sets `completedAt` when the count reaches `target`.
   * `rejectReplay` false stores a known mark's pattern all the same.
   */
  add(
    organizationId: string,
    reference: NewReference,
    rules: { readonly target: number; readonly limit: number; readonly rejectReplay: boolean },
  ): Promise<AddOutcome>
  /** Null where the account holds no such live reference. */
  removeOne(organizationId: string, memberId: string, patternId: string): Promise<Member | null>
  /** Empties the profile: new generation, biometric counters and lock cleared. Null where the member is gone. */
  reset(
    organizationId: string,
    memberId: string,
    at: number,
  ): Promise<{ member: Member; nPatternsDeleted: number } | null>
}
