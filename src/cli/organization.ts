import { Command, InvalidArgumentError } from 'commander'
import { type Administer, iso, print } from './administer.js'
import { JSON_OPTION, uuid } from './arguments.js'
import { limitsCommand } from './limits.js'
import { quotasCommand } from './quotas.js'
import { redirectsCommand } from './redirects.js'
import { printRows } from './table.js'

/** `keystride organization`: whom the service works for. */
export function organizationCommand(administer: Administer): Command {
  const organization = new Command('organization').description(
    'create, list and rename organizations, and change what holds for one',
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
  return organization
    .addCommand(quotasCommand(administer))
    .addCommand(redirectsCommand(administer))
    .addCommand(limitsCommand(administer))
}

function nonEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('wanted a name')
  return text.trim()
}
