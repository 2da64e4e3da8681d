/** An organization's data key as stored. */
export interface WrappedKey {
  readonly organizationId: string
  readonly wrapped: Uint8Array
}

/** Number of data keys that each encryption key wraps, by its id. */
export type KeyCounts = ReadonlyMap<string, number>

/** The wrapped data keys of all organizations. */
export interface WrappedKeyStore {
  /** The wrapped data key of an organization; null for an unknown one. */
  find(organizationId: string): Promise<Uint8Array | null>
  counts(): Promise<KeyCounts>
  /** The next `limit` organizations after `after` (null for the first call), by id, whose data key another encryption key wraps. */
  wrappedByOthers(keyId: string, after: string | null, limit: number): Promise<WrappedKey[]>
  /**
   * Replaces `before` with `after`. `check` gets the stored bytes; if it throws, nothing changes. False if the stored key
   * is not `before`.
   */
  swap(
    organizationId: string,
    before: Uint8Array,
    after: Uint8Array,
    check: (stored: Uint8Array) => void,
  ): Promise<boolean>
  /** Runs `change` while no organization is being created and no other change runs. */
  alone<T>(change: (counts: KeyCounts) => T | Promise<T>): Promise<T>
}
