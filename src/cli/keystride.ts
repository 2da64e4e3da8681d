import { Command, InvalidArgumentError } from 'commander'
import { type Config, configTable, readConfig } from '../config.js'
import { requireKeys } from '../flows/encryption-keys.js'
import type { OrganizationFlows } from '../flows/organizations.js'
import { administration, openStores } from '../open-stores.js'
import { version } from '../version.js'
import { administerFrom, iso, print, quietLog, run } from './administer.js'
import { calibrateCommand } from './calibrate.js'
import { erasuresCommand } from './erasures.js'
import { explainCommand } from './explain.js'
import { keyCommand } from './key.js'
import { limitsCommand } from './limits.js'
import { memberCommand } from './member.js'
import { planCommand } from './plan.js'
import { quotasCommand } from './quotas.js'
import { redirectsCommand } from './redirects.js'
import { table } from './table.js'
import { typingPatternCommand } from './typing-pattern.js'

/**
 * The administration command. It works on the same stores as the service, found through the same environment
 * variables; with the embedded PostgreSQL it joins a running one or starts it for as long as the command runs.
 */
export async function keystride(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const program = new Command('keystride')
    .description('Administration of Keystride: organizations, keys, members, database, configuration, scoring model.')
    .version(version())
    .showHelpAfterError('(add --help for what can be given)')
    .addHelpText(
      'after',
      '\nThe command reads the same environment as the service (DATABASE_URL, KEYSTRIDE_DATA, ...): see "keystride config check".\n' +
        'First steps:\n  keystride organization create "My company"\n  keystride key issue <organization-id> --label backend',
    )

  const administer = administerFrom(env)
  program
    .command('migrate')
    .description('bring the database to this version; safe to run twice, or by several machines at once')
    .action(() =>
      administer(async ({ migrated }) => {
        print(migrated.length === 0 ? 'The database is up to date.' : `Applied: ${migrated.join(', ')}`)
      }, 'migrate'),
    )

  const organization = program.command('organization').description('create and list organizations')
  organization
    .command('create')
    .description('create an organization with the default policy, and print its id')
    .argument('<name>', 'name shown on the dashboard', nonEmpty)
    .action((name: string) =>
      administer(async (stores) => {
        const { id } = await administration(stores).create(name)
        print(`${id}\nNext: keystride key issue ${id} --label backend`)
      }),
    )
  organization
    .command('list')
    .description('list all organizations, oldest first')
    .action(() =>
      administer(async (stores) => {
        const organizations = await administration(stores).list()
        const rows = organizations.map(({ id, name, createdAt }) => [id, name, iso(createdAt)])
        print(table(['id', 'name', 'created'], rows))
      }),
    )

  const withFlows = (work: (flows: OrganizationFlows) => Promise<void>) =>
    administer((stores) => work(administration(stores)))
  organization.addCommand(quotasCommand(withFlows))
  organization.addCommand(redirectsCommand(withFlows))
  organization.addCommand(limitsCommand(withFlows))

  program
    .command('config')
    .description('look at the configuration')
    .command('check')
    .description('check the environment variables and, with --connect, the stores behind them and the encryption keys')
    .option('--connect', 'also reach PostgreSQL and Redis, and look whether a key is missing')
    .action((options: { connect?: true }) => run(() => checkConfig(env, options.connect === true)))

  program.addCommand(keyCommand(administer))
  program.addCommand(memberCommand(administer))
  program.addCommand(erasuresCommand(administer, env))
  program.addCommand(typingPatternCommand())
  program.addCommand(explainCommand(run))
  program.addCommand(calibrateCommand(run))
  program.addCommand(planCommand(run))
  await program.parseAsync(argv)
}

async function checkConfig(env: NodeJS.ProcessEnv, connect: boolean): Promise<void> {
  const config = readConfig(env)
  const rows = configTable().map(({ name, fallback, meaning }) => {
    const set = env[name] !== undefined && env[name] !== ''
    return [name, set ? 'set' : fallback === '' ? 'unset' : `default ${fallback}`, meaning]
  })
  print(table(['variable', 'state', 'meaning'], rows))
  if (connect) await reach(config)
  print('The configuration can be used.')
}

async function reach(config: Config): Promise<void> {
  const stores = await openStores(config, quietLog(), { redis: true })
  try {
    for (const { name, ping } of stores.checks) {
      await ping()
      print(`${name} answers`)
    }
    await requireKeys(stores)
  } finally {
    await stores.close()
  }
}

function nonEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('wanted a name')
  return text.trim()
}
