import type { Member } from '../domain/account.js'
import type { ReplayMark } from '../domain/replay.js'

export type CaptureMode = 'visible' | 'sensitive'

interface Reference {
  readonly id: string
  readonly generation: number
  readonly mode: CaptureMode
  /** Encrypted sample; open it with the vault. */
  readonly sealed: Uint8Array
}

export interface StoredReference extends Reference {
  /** An `adaptive` reference was learned from a sign-in, and is not counted in `nPatternsRef`. */
  readonly kind: 'enrolled' | 'adaptive'
}

export interface NewReference extends Reference {
  readonly memberId: string
  /** Null neither reads nor writes the replay index, which has the pattern already. */
  readonly replayMark: ReplayMark | null
  readonly createdAt: number
}

/** A reference whose pattern is in the replay index already, from its attempt. */
export type AdaptiveReference = Omit<NewReference, 'replayMark'>

export type AddOutcome =
  /** `completes`: this reference reaches the `limit` of `add`, or the `target` of the other methods. */
  | { readonly outcome: 'added'; readonly member: Member; readonly completes: boolean }
  /** The mark is known, so the typing is a replay. Nothing was written. */
  | { readonly outcome: 'replay' }
  /** The profile is full, has changed, or has this pattern already. Nothing was written. */
  | { readonly outcome: 'closed'; readonly member: Member }
  /** The profile takes its next reference at `at`, epoch ms. Nothing was written. */
  | { readonly outcome: 'too-soon'; readonly at: number }
  /** The pattern's link is not live. Nothing was written. */
  | { readonly outcome: 'link-ended' }
  /** An administrator has locked the member. Nothing was written. */
  | { readonly outcome: 'locked' }
  | { readonly outcome: 'absent' }

interface AddRules {
  readonly target: number
  /** Whether a pattern whose mark is known is refused; false stores it. */
  readonly rejectReplay: boolean
  /** Minimum time between the newest reference of an incomplete profile and this one; 0 by default. */
  readonly intervalMs?: number
  /** The pattern's profile link, which must be live. It ends in the same transaction if this reference completes the profile. */
  readonly linkId?: string | null
}

/**
 * Reference patterns of members. Every write is one transaction under the member's row lock. A change of the current
 * references increments the member's `profileVersion`. A removal of enrolled references also increments `attemptsVersion`,
 * so that no verdict on them is recorded afterwards, and removes the adaptive ones. A change that resets the profile ends the
 * member's profile links, because an older link must not fill the profile again.
 */
export interface ProfileStore {
  /** References of the member's current generation: enrolled ones, then adaptive ones, both oldest first. */
  references(organizationId: string, memberId: string): Promise<StoredReference[]>
  /** Adds to the current generation if it has fewer than `limit` references; sets `completedAt` when the count reaches `target`. */
  add(
    organizationId: string,
    reference: NewReference,
    rules: AddRules & { readonly limit: number },
  ): Promise<AddOutcome>
  /**
   * Replaces the oldest enrolled reference while the UPDATE with this id is queued. The `target`th replacement completes
   * the UPDATE.
   */
  replaceOldest(
    organizationId: string,
    reference: NewReference,
    rules: AddRules & { readonly pendingId: string },
  ): Promise<AddOutcome>
  /**
   * Collects the next generation while the current one stays in use: `reference.generation` is one above the member's. The
   * `target`th reference replaces the current generation and deletes its references, in the same transaction. Collected
   * patterns of another owner are dropped first. With `asReset`, the replacement also resets the counters as `reset` does.
   */
  addToSuccessor(
    organizationId: string,
    reference: NewReference,
    rules: AddRules & { readonly owner: string; readonly asReset: boolean },
  ): Promise<AddOutcome>
  /**
   * Keeps a sign-in's pattern as an adaptive reference, if the profile still has this version and has not adapted within
   * `intervalMs`. Deletes the oldest ones beyond `max`. False if the pattern was not kept.
   */
  adapt(
    organizationId: string,
    reference: AdaptiveReference,
    rules: { readonly profileVersion: number; readonly max: number; readonly intervalMs: number },
  ): Promise<boolean>
  /** Removes a reference of any generation and kind. Null if the member has no such reference. */
  removeOne(organizationId: string, memberId: string, patternId: string): Promise<Member | null>
  /**
   * Empties the profile: begins a new generation, clears biometric counters and lock, and dequeues the pending action. With
   * `pendingId`, it does so only while that action is queued and no administrator has locked the member; otherwise the member is
   * unchanged. `nPatternsDeleted` counts enrolled references. Null if the member is gone.
   */
  reset(
    organizationId: string,
    memberId: string,
    at: number,
    pendingId?: string,
  ): Promise<{ member: Member; nPatternsDeleted: number } | null>
}
