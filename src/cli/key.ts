import { Command, InvalidArgumentError } from 'commander'
import { SCOPES, type Scope } from '../domain/organization.js'
import { type Administer, iso, known, print } from './administer.js'
import { JSON_OPTION, uuid } from './arguments.js'
import { rotateCommand, statusCommand } from './encryption-key.js'
import { printRows } from './table.js'

/** `keystride key`: API keys of organizations, and the key that everything is encrypted under. */
export function keyCommand(administer: Administer): Command {
  const key = new Command('key').description('issue, list and revoke API keys; look at and rotate the encryption key')
  key
    .command('issue')
    .description('issue an API key and print it; it is shown this once only')
    .argument('<organization-id>', 'id as "organization list" prints it', uuid)
    .option('--label <text>', 'what the key is for', 'unnamed')
    .option('--scopes <list>', `APIs it opens, comma-separated: ${SCOPES.join(', ')}`, scopes, [...SCOPES])
    .action((organizationId: string, options: { label: string; scopes: Scope[] }) =>
      administer(async ({ flows }) => {
        await known(flows, organizationId)
        const issued = await flows.issueKey(organizationId, options.label, options.scopes)
        print(issued.apikey)
      }),
    )
  key
    .command('list')
    .description('list the API keys of an organization; the keys themselves are not kept')
    .argument('<organization-id>', 'id as "organization list" prints it', uuid)
    .option(...JSON_OPTION)
    .action((organizationId: string, { json }: { json?: true }) =>
      administer(async ({ flows }) => {
        await known(flows, organizationId)
        const rows = (await flows.listKeys(organizationId)).map((row) => ({
          id: row.id,
          label: row.label,
          scopes: row.scopes,
          issued: iso(row.createdAt),
          state: row.revokedAt === null ? 'live' : `revoked ${iso(row.revokedAt)}`,
        }))
        printRows(['id', 'label', 'scopes', 'issued', 'state'], rows, json)
      }),
    )
  key
    .command('revoke')
    .description('revoke an API key; every process refuses it within a second')
    .argument('<organization-id>', 'id as "organization list" prints it', uuid)
    .argument('<key-id>', 'id as "key list" prints it', uuid)
    .action((organizationId: string, keyId: string) =>
      administer(async ({ flows }) => {
        if (!(await flows.revokeKey(organizationId, keyId)))
          throw new Error('this organization has no live key of that id')
        print('revoked')
      }),
    )
  return key.addCommand(statusCommand(administer)).addCommand(rotateCommand(administer))
}

function scopes(text: string): Scope[] {
  const wanted = text.split(',').map((part) => part.trim())
  const found = SCOPES.filter((scope) => wanted.includes(scope))
  if (found.length !== new Set(wanted).size) throw new InvalidArgumentError(`wanted some of ${SCOPES.join(', ')}`)
  return found
}
