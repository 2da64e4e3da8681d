/** An account of an upstream provider. */
export interface SsoAccount {
  readonly issuer: string
  /** SHA-256 (hex) of its `sub`. */
  readonly sha256: string
}

/** Owner of a reference, seen from an account. `own`: the account. `free`: no account. `elsewhere`: only accounts of other issuers. */
type Standing = 'own' | 'free' | 'elsewhere'

/** References of accounts at upstream providers. Per issuer, an account has one reference, and a reference has one account. */
export interface SsoAccountStore {
  /** The reference of the account; null if it has none. */
  refOf(organizationId: string, account: SsoAccount): Promise<string | null>
  /** The owner of `userRef`; null if the account has another reference, or another account of the issuer has this one. */
  standing(organizationId: string, account: SsoAccount, userRef: string): Promise<Standing | null>
  /**
   * Gives `userRef` to the account. Atomic. False if the account has another reference, if another account of the issuer has this
   * one, or, with `alone`, if an account of another issuer has it.
   */
  bind(organizationId: string, account: SsoAccount, userRef: string, alone: boolean): Promise<boolean>
  /** Unbinds a reference, or all if it is null, from the accounts of every issuer. Resolves to the number of accounts. */
  release(organizationId: string, userRef: string | null): Promise<number>
}
