import type { Organization } from '../../domain/organization.js'
import { Refusal } from '../../domain/refusal.js'
import type { LanguageChange, OrganizationStore } from '../../storage/organization.js'

interface Needs {
  readonly organizations: Pick<OrganizationStore, 'setLanguage'>
  readonly forgetSettings: (organizationId: string) => Promise<void>
}

export type ChangeLanguage = (organizationId: string, change: LanguageChange) => Promise<Organization>

/** Changes the language setting; returns the organization afterwards. */
export function createChangeLanguage(needs: Needs): ChangeLanguage {
  return async (organizationId, change) => {
    const organization = await needs.organizations.setLanguage(organizationId, change)
    if (organization === null) throw new Refusal('internal', 'the organization of this key is gone')
    await needs.forgetSettings(organizationId)
    return organization
  }
}
