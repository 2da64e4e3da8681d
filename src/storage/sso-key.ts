/** A key that signs tokens, as stored. */
interface SsoKey {
  /** A UUID. */
  readonly id: string
  readonly sealed: Uint8Array
  /** Time from which the key signs, epoch ms. It is published before. */
  readonly signsFrom: number
}

export interface SsoKeyStore {
  /** Keys in the order of `signsFrom`. */
  list(organizationId: string): Promise<SsoKey[]>
  /** Adds the key after `follows`, or the first key if it is null. False if there is a key in that position already. */
  add(organizationId: string, key: SsoKey, follows: string | null): Promise<boolean>
  remove(organizationId: string, ids: readonly string[]): Promise<void>
}
