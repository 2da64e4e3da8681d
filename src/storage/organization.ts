import type { Organization } from '../domain/organization.js'
import type { Policy } from '../domain/policy.js'

export interface NewOrganization {
  readonly id: string
  readonly name: string
  /** The organization's data key, wrapped under the deployment's `ENCRYPTION_KEY`. */
  readonly wrappedKey: Uint8Array
  readonly policyId: string
  readonly policy: Policy
  readonly createdAt: number
}

export interface StoredPolicy {
  readonly id: string
  readonly policy: Policy
}

/** What there is of an organization's customers. */
export interface Headcount {
  readonly nAccounts: number
  readonly nAccountsGeneric: number
  /** Members of all accounts. */
  readonly nUsers: number
}

/** Organizations and what is decided once for each of them. */
export interface OrganizationStore {
  /** Stores the organization and its default policy in one transaction. */
  create(organization: NewOrganization): Promise<void>
  /** All organizations, oldest first: for administration only. */
  list(): Promise<Organization[]>
  find(organizationId: string): Promise<Organization | null>
  /** The data key as it is stored, still wrapped; null for an unknown organization. */
  wrappedKey(organizationId: string): Promise<Uint8Array | null>
  headcount(organizationId: string): Promise<Headcount>
  defaultPolicy(organizationId: string): Promise<StoredPolicy | null>
}
