/** The note of an erasure. It names nobody, because only a backup that still has the person can resolve its hash. */
export interface Erasure {
  readonly organizationId: string
  readonly id: string
  /** Epoch ms. */
  readonly at: number
  /** Whether a whole account was erased, or one member of a shared account. */
  readonly of: 'account' | 'member'
  /** SHA-256 of the account's or member's id, in hex. */
  readonly person: string
}

export type ErasureOutcome =
  /** The database had the person, and has erased it now. */
  | 'erased'
  /** The database does not have the person. */
  | 'absent'
  /** The database has this note already, so a matching person was created later. */
  | 'known'
  /** The database has no such organization. */
  | 'foreign'

/** Notes of erasures, to repeat them on a database that was restored from an older backup. */
export interface ErasureStore {
  /** Erasures of every organization after the given one, in the order of organization and id. */
  list(after: Pick<Erasure, 'organizationId' | 'id'> | null, limit: number): Promise<Erasure[]>
  /**
   * Repeats these erasures, each atomically. Idempotent: the outcome of a repeated one is `known`. Scans the organization's people
   * once for all erasures. Returns the outcome of each. Ends no session.
   */
  again(organizationId: string, erasures: readonly Erasure[]): Promise<ErasureOutcome[]>
}
