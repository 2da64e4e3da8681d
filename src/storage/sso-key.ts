/** A key that signs tokens, as stored. */
interface SsoKey {
  /** A UUID. */
  readonly id: string
  readonly sealed: Uint8Array
  /** Epoch ms. Published before, used from then on. */
  readonly signsFrom: number
}

export interface SsoKeyStore {
  /** By `signsFrom`. */
  list(organizationId: string): Promise<SsoKey[]>
  /** Adds the key that follows `follows` (null: the first); false if another one follows already. */
  add(organizationId: string, key: SsoKey, follows: string | null): Promise<boolean>
  remove(organizationId: string, ids: readonly string[]): Promise<void>
}
