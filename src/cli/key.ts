import { Command, InvalidArgumentError } from 'commander'
import { KEY_SCOPES, type KeyScope, SCOPES } from '../domain/organization.js'
import type { ApiKeyRecord } from '../storage/api-key.js'
import { type Administer, iso, print, requireOrganization } from './administer.js'
import { JSON_OPTION, uuid } from './arguments.js'
import { rotateCommand, statusCommand } from './encryption-key.js'
import { printRows } from './table.js'

/** `keystride key`: API keys of organizations, and the encryption key. */
export function keyCommand(administer: Administer): Command {
  const key = new Command('key').description('issue, list and revoke API keys; show and rotate the encryption key')
  key
    .command('issue')
    .description('issue an API key and print it; it is shown only once')
    .argument('<organization-id>', 'id as "organization list" prints it', uuid)
    .option('--label <text>', 'what the key is for', 'unnamed')
    .option(
      '--scopes <list>',
      `scopes of the key, comma-separated: ${KEY_SCOPES.join(', ')}; dashboard is both of its parts`,
      scopes,
      [...SCOPES],
    )
    .option(
      '--expires <when>',
      'ISO 8601 date or date-time at which it expires, or a time span such as 90d or 12h',
      expiry,
    )
    .action((organizationId: string, options: { label: string; scopes: KeyScope[]; expires?: number }) =>
      administer(async ({ flows }) => {
        await requireOrganization(flows, organizationId)
        const { label, scopes, expires: expiresAt = null } = options
        const issued = await flows.issueKey(organizationId, label, { scopes, expiresAt })
        print(issued.apikey)
      }),
    )
  key
    .command('list')
    .description('list the API keys of an organization; the keys themselves are not stored')
    .argument('<organization-id>', 'id as "organization list" prints it', uuid)
    .option(...JSON_OPTION)
    .action((organizationId: string, { json }: { json?: true }) =>
      administer(async ({ flows, stores }) => {
        await requireOrganization(flows, organizationId)
        const now = stores.clock.now()
        const rows = (await flows.listKeys(organizationId)).map((row) => ({
          id: row.id,
          label: row.label,
          scopes: row.scopes,
          issued: iso(row.createdAt),
          expires: row.expiresAt === null ? 'never' : iso(row.expiresAt),
          state: stateOf(row, now),
        }))
        printRows(['id', 'label', 'scopes', 'issued', 'expires', 'state'], rows, json)
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

function stateOf({ revokedAt, expiresAt }: ApiKeyRecord, now: number): string {
  if (revokedAt !== null) return `revoked ${iso(revokedAt)}`
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'live'
}

/** Parses an expiry into epoch ms; a span counts from this machine's clock. */
function expiry(text: string): number {
  const [, n, unit] = /^([1-9]\d{0,4})([dh])$/.exec(text) ?? []
  const at = n === undefined ? isoTime(text) : Date.now() + Number(n) * (unit === 'd' ? 24 : 1) * 3_600_000
  if (at === null || at <= Date.now())
    throw new InvalidArgumentError(
      'wanted a future date such as 2030-01-31 or 2030-01-31T12:00Z, or a time span such as 90d or 12h',
    )
  return at
}

function isoTime(text: string): number | null {
  const at = /^20\d\d-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : at
}

function scopes(text: string): KeyScope[] {
  const wanted = text.split(',').map((part) => part.trim())
  const found = KEY_SCOPES.filter((scope) => wanted.includes(scope))
  if (found.length !== new Set(wanted).size) throw new InvalidArgumentError(`wanted some of ${KEY_SCOPES.join(', ')}`)
  return found
}
