import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { SCOPES } from '../domain/organization.js'
import { newApiKey, type OrganizationFlows } from '../flows/organization/organizations.js'

/**
 * Makes an organization where there is none, with a key that opens everything; null where that was done before. `file`
 * gets what `content` makes of the key, readable by its owner alone, before the key is stored: a crash in between leaves a
 * file that the next start writes again.
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
  await flows.issueKey(id, label, SCOPES, apikey)
  return { id, apikey }
}
