/** An account of an upstream provider. */
export interface SsoAccount {
  readonly issuer: string
  /** SHA-256 (hex) of its `sub`. */
  readonly sha256: string
}

/** Which reference an account of an upstream provider has. With one issuer an account has one reference, and a reference one account. */
export interface SsoAccountStore {
  /** The account's own reference; else `userRef` while no other account of the issuer has it; else null. */
  refFor(organizationId: string, account: SsoAccount, userRef: string): Promise<string | null>
  /** Gives `userRef` to the account. Atomic. False: the account has another reference, or another account has this one. */
  bind(organizationId: string, account: SsoAccount, userRef: string): Promise<boolean>
  /** Unbinds a reference, or all (null), of every issuer. Resolves to the number of accounts. */
  release(organizationId: string, userRef: string | null): Promise<number>
}
