/** An account of an upstream provider. */
export interface SsoAccount {
  readonly issuer: string
  /** SHA-256 (hex) of its `sub`. */
  readonly sha256: string
}

/** How a reference stands to an account: it is the account's own, no account has it, or accounts of other issuers alone have it. */
type Standing = 'own' | 'free' | 'elsewhere'

/** Which reference an account of an upstream provider has. With one issuer an account has one reference, and a reference one account. */
export interface SsoAccountStore {
  /** The reference that the account has; null: none. */
  refOf(organizationId: string, account: SsoAccount): Promise<string | null>
  /** How `userRef` stands to the account; null: the account has another reference, or another account of the issuer has this one. */
  standing(organizationId: string, account: SsoAccount, userRef: string): Promise<Standing | null>
  /**
   * Gives `userRef` to the account. Atomic. False: the account has another reference, another account of the issuer has this one, or,
   * with `alone`, an account of another issuer.
   */
  bind(organizationId: string, account: SsoAccount, userRef: string, alone: boolean): Promise<boolean>
  /** Unbinds a reference, or all (null), of every issuer. Resolves to the number of accounts. */
  release(organizationId: string, userRef: string | null): Promise<number>
}
