import type { KeyRate } from '../../domain/key-rate.js'
import { type KeyScope, type Organization, type Quotas, SCOPES } from '../../domain/organization.js'
import { DEFAULT_POLICY } from '../../domain/policy.js'
import type { ApiKeyRecord, ApiKeyStore } from '../../storage/api-key.js'
import type { KeyRing } from '../../storage/key-ring.js'
import type { KeyWrap } from '../../storage/key-wrap.js'
import type { License, OrganizationStore } from '../../storage/organization.js'
import type { WrappedKeyStore } from '../../storage/wrapped-key.js'
import { newToken, sha256 } from '../process/tokens.js'
import { requireKeys } from './encryption-keys.js'

interface Needs {
  readonly organizations: OrganizationStore
  readonly apiKeys: ApiKeyStore
  readonly keyRing: KeyRing
  readonly keyWrap: KeyWrap
  readonly wrappedKeys: WrappedKeyStore
  readonly newId: () => string
  readonly now: () => number
}

/** A new key, which is shown once. */
export interface IssuedKey {
  readonly id: string
  readonly apikey: string
  readonly scopes: readonly KeyScope[]
}

interface KeyWishes {
  readonly scopes?: readonly KeyScope[]
  /** The key, of which only the hash is stored; a new one is generated if absent. */
  readonly apikey?: string
  /** Epoch ms; the key does not expire if null or absent. */
  readonly expiresAt?: number | null
}

export interface OrganizationFlows {
  /**
   * Creates an organization, in the named database if there are several, by default in the smallest one. Throws if this process lacks
   * the encryption key of an existing organization, because its configured key is then wrong.
   */
  create(name: string, database?: string | null): Promise<{ id: string }>
  list(): Promise<Organization[]>
  /** Quotas and their use; null for an unknown organization. */
  license(organizationId: string): Promise<License | null>
  /** Changes the given quotas only; they apply to creations at once. Null for an unknown organization. */
  setQuotas(organizationId: string, changes: Partial<Quotas>): Promise<License | null>
  /** Replaces the list of origins; false for an unknown organization. Effective everywhere within a second. */
  setRedirectOrigins(organizationId: string, origins: readonly string[]): Promise<boolean>
  /** Sets the rate of each key; null sets the deployment's default. False for an unknown organization. Effective within a second. */
  setKeyRate(organizationId: string, rate: KeyRate | null): Promise<boolean>
  issueKey(organizationId: string, label: string, wishes?: KeyWishes): Promise<IssuedKey>
  /** Deletes the organization with all its data and its data key. Can be repeated after an interruption. False if unknown. */
  delete(organizationId: string): Promise<boolean>
  /** False for an unknown organization. */
  rename(organizationId: string, name: string): Promise<boolean>
  listKeys(organizationId: string): Promise<ApiKeyRecord[]>
  /** False if the organization has no live key of this id. */
  revokeKey(organizationId: string, keyId: string): Promise<boolean>
}

/** `ks_` and 256 random bits in base64url. */
export const newApiKey = (): string => `ks_${newToken()}`

/** Administration of organizations and their keys. */
export function createOrganizationFlows(needs: Needs): OrganizationFlows {
  const license = (organizationId: string) => needs.organizations.license(organizationId)
  return {
    async create(name, database = null) {
      await requireKeys(needs)
      const id = needs.newId()
      await needs.organizations.create({
        id,
        name,
        wrapKey: () => needs.keyWrap.wrapNew(id),
        policyId: needs.newId(),
        policy: DEFAULT_POLICY,
        createdAt: needs.now(),
        database,
      })
      return { id }
    },
    list: () => needs.organizations.list(),
    license,
    async setQuotas(organizationId, changes) {
      const before = await license(organizationId)
      if (before === null) return null
      const quotas = { ...before.quotas, ...changes }
      return (await needs.organizations.setQuotas(organizationId, quotas)) ? { ...before, quotas } : null
    },
    setRedirectOrigins: (organizationId, origins) => needs.organizations.setRedirectOrigins(organizationId, origins),
    setKeyRate: (organizationId, rate) => needs.organizations.setKeyRate(organizationId, rate),
    delete: (organizationId) => needs.organizations.delete(organizationId),
    rename: (organizationId, name) => needs.organizations.rename(organizationId, name),
    async issueKey(organizationId, label, { scopes = SCOPES, apikey = newApiKey(), expiresAt = null } = {}) {
      const id = needs.newId()
      await needs.apiKeys.add({ id, organizationId, label, scopes, createdAt: needs.now(), expiresAt }, sha256(apikey))
      return { id, apikey, scopes }
    },
    listKeys: (organizationId) => needs.apiKeys.list(organizationId),
    revokeKey: (organizationId, keyId) => needs.apiKeys.revoke(organizationId, keyId, needs.now()),
  }
}
