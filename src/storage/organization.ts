import type { KeyRate } from '../domain/key-rate.js'
import type { Headcount, LanguageMode, Organization, Quotas } from '../domain/organization.js'
import type { Policy } from '../domain/policy.js'
import type { Language } from '../domain/typing-words.js'

interface NewOrganization {
  readonly id: string
  readonly name: string
  /** Returns a new data key, wrapped. Called under a lock, so that no rotation runs between wrapping and commit. */
  readonly wrapKey: () => Uint8Array
  readonly policyId: string
  readonly policy: Policy
  readonly createdAt: number
  /** Name of the database, if there are several; the smallest one if null or absent. */
  readonly database?: string | null
}

export interface StoredPolicy {
  readonly id: string
  readonly policy: Policy
}

/** Null leaves a field unchanged. */
export interface LanguageChange {
  readonly defaultLanguage: Language | null
  readonly languageMode: LanguageMode | null
}

/** Quotas of an organization and their use. */
export interface License {
  readonly quotas: Quotas
  readonly headcount: Headcount
}

/** Organizations and their settings. */
export interface OrganizationStore {
  /** Stores the organization and its default policy in one transaction. */
  create(organization: NewOrganization): Promise<void>
  /** Administration. All organizations, oldest first. */
  list(): Promise<Organization[]>
  find(organizationId: string): Promise<Organization | null>
  /** Administration. Deletes all rows of the organization, which may take minutes. False for an unknown organization. */
  delete(organizationId: string): Promise<boolean>
  /** Administration. False for an unknown organization. */
  rename(organizationId: string, name: string): Promise<boolean>
  /** Returns the changed organization; null for an unknown one. */
  setLanguage(organizationId: string, change: LanguageChange): Promise<Organization | null>
  /** Quotas and their use; null for an unknown organization. */
  license(organizationId: string): Promise<License | null>
  /** Administration. False for an unknown organization. */
  setQuotas(organizationId: string, quotas: Quotas): Promise<boolean>
  /** Administration. False for an unknown organization. */
  setRedirectOrigins(organizationId: string, origins: readonly string[]): Promise<boolean>
  /** Administration. A null rate stands for the deployment's default. False for an unknown organization. */
  setKeyRate(organizationId: string, rate: KeyRate | null): Promise<boolean>
}
