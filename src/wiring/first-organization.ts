import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { newApiKey, type OrganizationFlows } from '../flows/organization/organizations.js'

/**
 * Creates the first organization, with a key of all scopes. Null if an organization exists already, unless the oldest has this
 * name and no key: then only the key is created. Writes `content(apikey)` to `file`, readable only by its owner, before the key
 * is stored: after a crash in between, the next start overwrites it.
 */
export async function firstOrganization(
  flows: OrganizationFlows,
  { name, label, file, content }: { name: string; label: string; file: string; content: (apikey: string) => string },
): Promise<{ id: string; apikey: string } | null> {
  const [first] = await flows.list()
  if (first !== undefined && (first.name !== name || (await flows.listKeys(first.id)).length > 0)) return null
  const apikey = newApiKey()
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content(apikey), { mode: 0o600 })
  const { id } = first ?? (await flows.create(name))
  await flows.issueKey(id, label, { apikey })
  return { id, apikey }
}
