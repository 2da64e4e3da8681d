import { Command, InvalidArgumentError } from 'commander'
import { reasonOf } from '../base/error-reason.js'
import type { OneDatabase, Stores } from '../wiring/stores.js'
import { type Administer, iso, type Opened, print, withRetries } from './administer.js'
import { JSON_OPTION, uuid } from './arguments.js'
import { limitsCommand } from './limits.js'
import { moveCommand } from './move.js'
import { quotasCommand } from './quotas.js'
import { redirectsCommand } from './redirects.js'
import { printRows } from './table.js'

/** `keystride organization`: the organizations that use the service, and their settings. */
export function organizationCommand(administer: Administer): Command {
  const organization = new Command('organization').description(
    'create, list, rename and delete organizations, and change their settings',
  )
  organization
    .command('create')
    .description('create an organization with the default policy, and print its id')
    .argument('<name>', 'name shown on the dashboard', nonEmpty)
    .option('--database <name>', 'one of DATABASE_URLS, or main; the smallest one by default')
    .action((name: string, { database }: { database?: string }) =>
      administer(async ({ flows }) => {
        const { id } = await flows.create(name, database)
        print(`${id}\nNext: keystride key issue ${id} --label backend`)
      }),
    )
  organization
    .command('list')
    .description('list all organizations, oldest first')
    .option(...JSON_OPTION)
    .action(({ json }: { json?: true }) => administer(async ({ stores }) => list(stores, json)))
  organization
    .command('rename')
    .description('give an organization another name; its id stays')
    .argument('<organization-id>', 'id as "organization list" prints it', uuid)
    .argument('<name>', 'name shown on the dashboard', nonEmpty)
    .action((organizationId: string, name: string) =>
      administer(async ({ flows }) => {
        if (!(await flows.rename(organizationId, name))) throw new Error('there is no organization of that id')
        print('renamed')
      }),
    )
  organization
    .command('delete')
    .description('delete an organization with all of its accounts, keys, attempts and logs, for good')
    .argument('<organization-id>', 'id as "organization list" prints it', uuid)
    .option('--yes', 'delete without asking for the name')
    .addHelpText('after', DELETE_HELP)
    .action((organizationId: string, { yes }: { yes?: true }) =>
      administer((opened) => remove(organizationId, opened, yes === true), { redis: true }),
    )
  return organization
    .addCommand(quotasCommand(administer))
    .addCommand(redirectsCommand(administer))
    .addCommand(limitsCommand(administer))
    .addCommand(moveCommand(administer))
}

/** Lists the organizations of every database that answers; the others are named, with exit status 1. */
async function list({ databases }: Stores, json: true | undefined): Promise<void> {
  const several = databases.length > 1
  const outcomes = await Promise.allSettled(databases.map(organizationsOf))
  const found = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []))
  found.sort((a, b) => a.createdAt - b.createdAt)
  const rows = found.map(({ id, name, createdAt, database }) => ({
    id,
    name,
    created: iso(createdAt),
    ...(several ? { database } : {}),
  }))
  printRows(['id', 'name', 'created', ...(several ? ['database'] : [])], rows, json)
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome.status === 'fulfilled') continue
    process.stderr.write(
      `keystride: the organizations of ${databases[i]?.name} are missing: ${reasonOf(outcome.reason)}\n`,
    )
    process.exitCode = 1
  }
}

/** The organizations of one database, with what a move has to say about them. */
async function organizationsOf({ name, stores, placements }: OneDatabase) {
  const states = new Map((await placements.list()).map((one) => [one.organizationId, one]))
  return (await stores.organizations.list()).flatMap((organization) => {
    const { state, other = '' } = states.get(organization.id) ?? {}
    if (state === 'arriving' || state === 'left') return []
    return { ...organization, database: state === undefined ? name : `${name}, moving to ${other}` }
  })
}

async function remove(organizationId: string, { flows, stores }: Opened, yes: boolean): Promise<void> {
  const name = (await flows.list()).find(({ id }) => id === organizationId)?.name
  const license = await flows.license(organizationId)
  if (name === undefined || license === null) throw new Error('there is no organization of that id')
  const { nAccounts, nUsers } = license.headcount
  if (!yes) {
    process.stderr.write(
      `This deletes "${name}" with ${nAccounts} accounts and ${nUsers} users. This cannot be undone.\nType its name to continue: `,
    )
    if ((await answer()) !== name) throw new Error('that is not its name: nothing was deleted')
  }
  if (stores.databases.length > 1) {
    const { deleteSources, requireNoMove } = await import('../wiring/move-organization.js')
    await requireNoMove(stores, organizationId)
    await deleteSources(stores, organizationId)
  }
  await withRetries(() => flows.delete(organizationId))
  await stores.endSessionsOf(organizationId)
  print(`deleted "${name}"`)
}

/** The next line of standard input; null at its end. */
async function answer(): Promise<string | null> {
  const { createInterface } = await import('node:readline')
  const lines = createInterface({ input: process.stdin })
  try {
    for await (const line of lines) return line.trim()
    return null
  } finally {
    lines.close()
  }
}

const DELETE_HELP = `
Its API keys and links are refused within a second. Then its rows are deleted in batches, which takes minutes for a large organization;
after an interruption, run the command again. Other organizations are not touched. An older backup still contains the organization: after
restoring one, delete it again.`

function nonEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('wanted a name')
  return text.trim()
}
