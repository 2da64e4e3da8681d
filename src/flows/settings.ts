import type { Organization } from '../domain/organization.js'
import { Refusal } from '../domain/refusal.js'
import type { OrganizationStore, StoredPolicy } from '../storage/organization.js'
import { remember } from './remembered.js'

/** What every call of an organization rests on. */
export interface Settings {
  readonly organization: Organization
  readonly policy: StoredPolicy
}

/** A changed setting holds everywhere within this time. */
const KEPT_MS = 1000

/** Reads an organization's settings, kept for a second in this process. */
export function createSettings(
  organizations: OrganizationStore,
  monotonicMs: () => number,
): (organizationId: string) => Promise<Settings> {
  const kept = remember(
    async (organizationId) => {
      const [organization, policy] = await Promise.all([
        organizations.find(organizationId),
        organizations.defaultPolicy(organizationId),
      ])
      if (organization === null || policy === null) {
        throw new Refusal('internal', 'the organization of this key has no settings')
      }
      return { organization, policy }
    },
    { lifetimeMs: KEPT_MS, entriesMax: 10_000, monotonicMs },
  )
  return (organizationId) => kept.get(organizationId)
}
