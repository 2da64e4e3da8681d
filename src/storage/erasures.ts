/** That somebody was erased. Names nobody, and tells of whom only beside a backup that still has them. */
export interface Erasure {
  readonly organizationId: string
  readonly id: string
  /** Epoch ms. */
  readonly at: number
  /** Whether the whole account went, or a member was taken off a shared one. */
  readonly of: 'account' | 'member'
  /** SHA-256 of the id of either, in hex. */
  readonly person: string
}

export type ErasureOutcome =
  /** Whom the database still had is gone. */
  | 'erased'
  /** The database never had them. */
  | 'absent'
  /** The database knows of this erasure: whoever it has came later. */
  | 'known'
  /** The database has no such organization. */
  | 'foreign'

/** What was erased, to be done again to a database that was restored from before. */
export interface ErasureStore {
  /** Of every organization, in the order of organization and id, those after the given one. */
  list(after: Pick<Erasure, 'organizationId' | 'id'> | null, limit: number): Promise<Erasure[]>
  /**
   * Erases again whom these are about, each all or nothing and once: what is given again is `known`. One look through the
   * organization's people for all. Gives the outcome of each. Sessions are left alone.
   */
  again(organizationId: string, erasures: readonly Erasure[]): Promise<ErasureOutcome[]>
}
