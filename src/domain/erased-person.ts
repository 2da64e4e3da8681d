/** A deleted account with its members, or one archived member of a shared account. */
export interface ErasedPerson {
  readonly organizationId: string
  readonly userRef: string
  readonly memberIds: readonly string[]
}
