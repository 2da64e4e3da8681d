import type { KeyRate } from '../domain/key-rate.js'
import type { KeyScope } from '../domain/organization.js'

export interface ApiKeyRecord {
  readonly id: string
  readonly organizationId: string
  readonly label: string
  readonly scopes: readonly KeyScope[]
  readonly createdAt: number
  /** End of validity, epoch ms; null if the key does not expire. */
  readonly expiresAt: number | null
  readonly revokedAt: number | null
}

/** A key to add, which does not expire if `expiresAt` is absent. */
type NewApiKey = Omit<ApiKeyRecord, 'revokedAt' | 'expiresAt'> & Partial<Pick<ApiKeyRecord, 'expiresAt'>>

/** A key's organization and rights. */
export interface KeyHolder {
  readonly organizationId: string
  readonly keyId: string
  readonly scopes: readonly KeyScope[]
  /** Null if the deployment's default applies. */
  readonly rate: KeyRate | null
}

/** API keys by their SHA-256; the key itself is never stored. */
export interface ApiKeyStore {
  add(record: NewApiKey, sha256: Uint8Array): Promise<void>
  /** The live key with this hash, in any organization; null if there is none, or it is revoked or expired. */
  resolve(sha256: Uint8Array): Promise<KeyHolder | null>
  /** All keys, oldest first. */
  list(organizationId: string): Promise<ApiKeyRecord[]>
  /** Keys, newest first, with the number of all matches; `live` leaves out revoked and expired keys. */
  page(
    organizationId: string,
    live: boolean,
    paging: { readonly skip: number; readonly limit: number },
  ): Promise<{ keys: ApiKeyRecord[]; count: number }>
  find(organizationId: string, keyId: string): Promise<ApiKeyRecord | null>
  /** Revokes a key. False if the organization has no live key with this id. */
  revoke(organizationId: string, keyId: string, at: number): Promise<boolean>
}
