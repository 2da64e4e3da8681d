/** Whose code it is: a hash moved to another member matches nothing there. */
export interface CodeOwner {
  readonly organizationId: string
  readonly memberId: string
}

/**
 * Slow hashes of security codes, under a pepper that no database holds. Both refuse with `rate-limited` where too many
 * wait already; then nothing was computed.
 */
export interface CodeHash {
  /** The text to keep. */
  hash(owner: CodeOwner, code: string): Promise<string>
  /** Null in place of a kept hash costs the same time and matches nothing. */
  matches(owner: CodeOwner, code: string, kept: string | null): Promise<boolean>
}
