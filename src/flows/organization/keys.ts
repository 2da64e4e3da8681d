import { type KeyScope, scopesInclude } from '../../domain/organization.js'
import { Refusal } from '../../domain/refusal.js'
import type { ApiKeyRecord, ApiKeyStore } from '../../storage/api-key.js'
import type { IssuedKey, OrganizationFlows } from './organizations.js'

interface Needs {
  readonly apiKeys: Pick<ApiKeyStore, 'find' | 'page'>
  readonly organizationFlows: Pick<OrganizationFlows, 'issueKey' | 'revokeKey'>
  readonly now: () => number
}

interface WantedKey {
  readonly label: string
  readonly scopes: readonly KeyScope[]
  /** Epoch ms; if null, the key expires with the issuing key. */
  readonly expiresAt: number | null
}

/** API keys of an organization, by one of its own keys. */
export interface KeyFlows {
  /** The calling key. Refuses with `key-missing` once it is revoked. */
  current(organizationId: string, keyId: string): Promise<ApiKeyRecord>
  page: ApiKeyStore['page']
  /** Refuses with `key-scope` a key that may do more, or is valid for longer, than the calling one. */
  issue(organizationId: string, by: string, wanted: WantedKey): Promise<IssuedKey & { expiresAt: number | null }>
  /**
   * Refuses an unknown, foreign or revoked key with `nothing-found`, the calling key with `key-own`, and a key that may do
   * more than the calling one with `key-scope`.
   */
  revoke(organizationId: string, by: string, keyId: string): Promise<void>
}

export function createKeyFlows({ apiKeys, organizationFlows, now }: Needs): KeyFlows {
  const current: KeyFlows['current'] = async (organizationId, keyId) => {
    const found = await apiKeys.find(organizationId, keyId)
    if (found === null || found.revokedAt !== null) throw new Refusal('key-missing', 'this key has been revoked')
    return found
  }
  return {
    current,
    page: apiKeys.page,
    async issue(organizationId, by, { label, scopes, expiresAt }) {
      if (expiresAt !== null && expiresAt <= now())
        throw new Refusal('validation-failed', 'expires_at: must be in the future')
      const issuer = await current(organizationId, by)
      if (!scopesInclude(issuer.scopes, scopes))
        throw new Refusal('key-scope', 'a key gives another key no scope that it does not have itself')
      const until = expiresAt ?? issuer.expiresAt
      if (issuer.expiresAt !== null && (until ?? Infinity) > issuer.expiresAt)
        throw new Refusal('key-scope', 'a key that expires issues no key that is valid for longer')
      const issued = await organizationFlows.issueKey(organizationId, label, { scopes, expiresAt: until })
      return { ...issued, expiresAt: until }
    },
    async revoke(organizationId, by, keyId) {
      if (keyId === by) throw new Refusal('key-own', 'a key does not revoke itself: revoke it by another key')
      const revoker = await current(organizationId, by)
      const revoked = await apiKeys.find(organizationId, keyId)
      if (revoked === null) throw noLiveKey()
      if (!scopesInclude(revoker.scopes, revoked.scopes))
        throw new Refusal('key-scope', 'a key revokes no key with a scope that it does not have itself')
      if (!(await organizationFlows.revokeKey(organizationId, keyId))) throw noLiveKey()
    },
  }
}

const noLiveKey = () => new Refusal('nothing-found', 'no live key of this id')
