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
  /** `adaptive`: learned from a sign-in; these are not counted in `nPatternsRef`. */
  readonly kind: 'enrolled' | 'adaptive'
}

export interface NewReference extends Reference {
  readonly memberId: string
  /** Null stores it without looking at, or adding to, the replay index: it knows the pattern already. */
  readonly replayMark: ReplayMark | null
  readonly createdAt: number
}

/** The replay index knows it from the attempt that it was. */
export type AdaptiveReference = Omit<NewReference, 'replayMark'>

export type AddOutcome =
  /** `completes`: with this one there are as many as `limit` or `target` asked for. */
  | { readonly outcome: 'added'; readonly member: Member; readonly completes: boolean }
  /** The mark is known: somebody has typed exactly this before. Nothing was written. */
  | { readonly outcome: 'replay' }
  /** The profile takes no such reference (any more): full, moved on, or holding this very one. Nothing was written. */
  | { readonly outcome: 'closed'; readonly member: Member }
  /** The link that the pattern came by is not alive (any more). Nothing was written. */
  | { readonly outcome: 'link-ended' }
  | { readonly outcome: 'absent' }

interface AddRules {
  readonly target: number
  /** False stores a known mark's pattern all the same. */
  readonly rejectReplay: boolean
  /** The profile link that the pattern comes by: it must live, and ends in the same transaction where this completes. */
  readonly linkId?: string | null
}

/**
 * Reference patterns of members. Every write is one transaction under the member's row lock. What changes the references
 * that count moves the member's `profileVersion`; what takes enrolled ones away moves `attemptsVersion` too, so that no
 * verdict on them is recorded afterwards, and takes the adaptive ones along.
 */
export interface ProfileStore {
  /** Of the member's current generation: the enrolled ones, oldest first, then the adaptive ones, oldest first. */
  references(organizationId: string, memberId: string): Promise<StoredReference[]>
  /** Adds to the current generation where it holds fewer than `limit`; sets `completedAt` when the count reaches `target`. */
  add(
    organizationId: string,
    reference: NewReference,
    rules: AddRules & { readonly limit: number },
  ): Promise<AddOutcome>
  /**
   * Puts the reference in the place of the oldest enrolled one, while the UPDATE of this id is queued, which is done with
   * the last of `target` replacements.
   */
  replaceOldest(
    organizationId: string,
    reference: NewReference,
    rules: AddRules & { readonly pendingId: string },
  ): Promise<AddOutcome>
  /**
   * Collects the next generation beside the current one, which goes on as it is: `reference.generation` is one above the
   * member's. With the `target`th the new one takes its place, in this same transaction, and the old references are gone.
   * Collected patterns of another owner are dropped first. `asReset` also does then what a reset does to the counters.
   */
  addToSuccessor(
    organizationId: string,
    reference: NewReference,
    rules: AddRules & { readonly owner: string; readonly asReset: boolean },
  ): Promise<AddOutcome>
  /**
   * Keeps a sign-in's pattern as an adaptive reference, the oldest one of more than `max` going, if the profile still has
   * this version and has not adapted within `intervalMs`; false where it was not kept.
   */
  adapt(
    organizationId: string,
    reference: AdaptiveReference,
    rules: { readonly profileVersion: number; readonly max: number; readonly intervalMs: number },
  ): Promise<boolean>
  /** Of any generation and kind. Null where the member holds no such reference. */
  removeOne(organizationId: string, memberId: string, patternId: string): Promise<Member | null>
  /**
   * Empties the profile: new generation, biometric counters and lock cleared, nothing queued any more. With `pendingId`
   * only while that action is queued; else the member comes back as it is. `nPatternsDeleted` counts the enrolled ones.
   * Null where the member is gone.
   */
  reset(
    organizationId: string,
    memberId: string,
    at: number,
    pendingId?: string,
  ): Promise<{ member: Member; nPatternsDeleted: number } | null>
}
