/** The owner of a code. A hash that is copied to another member matches no code. */
export interface CodeOwner {
  readonly organizationId: string
  readonly memberId: string
}

/**
 * Slow hashes of security codes, under a pepper that no database holds. Both methods refuse with `rate-limited` if too many
 * calls wait; nothing is computed then.
 */
export interface CodeHash {
  /** The text to store. */
  hash(owner: CodeOwner, code: string): Promise<string>
  /** Whether the code matches `kept`. If `kept` is null, takes the same time and returns false. */
  matches(owner: CodeOwner, code: string, kept: string | null): Promise<boolean>
}
