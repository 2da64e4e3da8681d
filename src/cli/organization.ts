import { Command, InvalidArgumentError } from 'commander'
import type { OrganizationFlows } from '../flows/organization/organizations.js'
import type { Stores } from '../wiring/stores.js'
import { type Administer, iso, print, withRetries } from './administer.js'
import { JSON_OPTION, uuid } from './arguments.js'
import { limitsCommand } from './limits.js'
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
    .action((name: string) =>
      administer(async ({ flows }) => {
        const { id } = await flows.create(name)
        print(`${id}\nNext: keystride key issue ${id} --label backend`)
      }),
    )
  organization
    .command('list')
    .description('list all organizations, oldest first')
    .option(...JSON_OPTION)
    .action(({ json }: { json?: true }) =>
      administer(async ({ flows }) => {
        const rows = (await flows.list()).map(({ id, name, createdAt }) => ({ id, name, created: iso(createdAt) }))
        printRows(['id', 'name', 'created'], rows, json)
      }),
    )
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
      administer(({ flows, stores }) => remove(organizationId, flows, stores, yes === true), { redis: true }),
    )
  return organization
    .addCommand(quotasCommand(administer))
    .addCommand(redirectsCommand(administer))
    .addCommand(limitsCommand(administer))
}

async function remove(organizationId: string, flows: OrganizationFlows, stores: Stores, yes: boolean): Promise<void> {
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
