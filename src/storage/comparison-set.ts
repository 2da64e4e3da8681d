/**
 * A member's comparison set as stored: everything that the member's next typing pattern is compared with, in one row. It is
 * derived from references, attempts and refused patterns, and can be built from them again at any time.
 */
export interface StoredComparisonSet {
  /** The member's generation and `profileVersion` whose references it holds. With other ones it is out of date. */
  readonly generation: number
  readonly profileVersion: number
  /** Complete up to this version of the member's attempts. */
  readonly attemptsVersion: number
  /** The profile also has adaptive references, which are not in the set. */
  readonly hasAdaptive: boolean
  /** Sealed: references and known patterns (`flows/attempt/comparison-set.ts`). */
  readonly base: Uint8Array
  /** Patterns that were recorded after `base`: each a u16 length, little-endian, and a sealed entry. */
  readonly tail: Uint8Array
}

/** The change of the member's comparison set that belongs to a recorded pattern. */
export type SetChange =
  /** Adds this entry to the tail, its length included. Without effect if the stored set is not up to date. */
  | { readonly kind: 'append'; readonly entry: Uint8Array }
  /** Replaces the set by one that includes the pattern. */
  | {
      readonly kind: 'replace'
      readonly base: Uint8Array
      readonly hasAdaptive: boolean
      /** Time of the oldest known pattern in it, epoch ms. */
      readonly oldestAt: number
    }

/** A set that was built from the rows, for the versions of the member that it was built on. */
interface BuiltComparisonSet extends Omit<StoredComparisonSet, 'tail'> {
  readonly memberId: string
  readonly oldestAt: number
}

export interface MemberKey {
  readonly organizationId: string
  readonly memberId: string
}

export interface ComparisonSetStore {
  /** The stored set of a member, of whatever version; null if there is none. */
  find(organizationId: string, memberId: string): Promise<StoredComparisonSet | null>
  /**
   * The members among the next 2,000 of all organizations, in the order of their keys, who have a complete profile and no set of its
   * version. `last` is the key to continue after; null at the end.
   */
  withoutSet(after: MemberKey | null): Promise<{
    readonly members: readonly (MemberKey & { readonly userRef: string; readonly memberRef: string })[]
    readonly last: MemberKey | null
  }>
  /** Stores a set, if the member still has its three versions. False if not. */
  put(organizationId: string, set: BuiltComparisonSet): Promise<boolean>
}
