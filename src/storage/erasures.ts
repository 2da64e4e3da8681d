/** The note of an erasure. It names nobody; only a backup that still has the person shows whom it means. */
export interface Erasure {
  readonly organizationId: string
  readonly id: string
  /** Epoch ms. */
  readonly at: number
  /** The erased thing: a whole account, or one member of a shared account. */
  readonly of: 'account' | 'member'
  /** SHA-256 of the account's or member's id, in hex. */
  readonly person: string
}

export type ErasureOutcome =
  /** The database had the person, who is erased now. */
  | 'erased'
  /** The database does not have the person. */
  | 'absent'
  /** The database has this note already: a matching person was created later. */
  | 'known'
  /** The database has no such organization. */
  | 'foreign'

/** Notes of erasures, to repeat them on a database that was restored from an older backup. */
export interface ErasureStore {
  /** Erasures of every organization, by organization and id, those after the given one. */
  list(after: Pick<Erasure, 'organizationId' | 'id'> | null, limit: number): Promise<Erasure[]>
  /**
   * Repeats these erasures, each atomically and once: a repeated one is `known`. Scans the organization's people once for
   * all. Returns the outcome of each. Ends no session.
   */
  again(organizationId: string, erasures: readonly Erasure[]): Promise<ErasureOutcome[]>
}
