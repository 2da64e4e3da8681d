import { Command, InvalidArgumentError } from 'commander'
import pino from 'pino'
import { type Config, ConfigError, configTable, readConfig } from '../config.js'
import { SCOPES, type Scope } from '../domain/organization.js'
import type { OrganizationFlows } from '../flows/organizations.js'
import { administration, openStores } from '../open-stores.js'
import { version } from '../version.js'
import { uuid } from './arguments.js'
import { calibrateCommand } from './calibrate.js'
import { quotasCommand } from './quotas.js'
import { table } from './table.js'
import { typingPatternCommand } from './typing-pattern.js'

/**
 * The administration command. It works on the same stores as the service, found through the same environment
 * variables; with the embedded PostgreSQL it joins a running one or starts it for as long as the command runs.
 */
export async function keystride(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const program = new Command('keystride')
    .description('Administration of Keystride: organizations, API keys, database, configuration, scoring model.')
    .version(version())
    .showHelpAfterError('(add --help for what can be given)')
    .addHelpText(
      'after',
      '\nThe command reads the same environment as the service (DATABASE_URL, KEYSTRIDE_DATA, ...): see "keystride config check".\n' +
        'First steps:\n  keystride organization create "My company"\n  keystride key issue <organization-id> --label backend',
    )

  const administer = async (work: (flows: OrganizationFlows) => Promise<void>) => {
    const stores = await openStores(readConfig(env), quietLog(), { redis: false })
    try {
      await work(administration(stores))
    } finally {
      await stores.close()
    }
  }

  program
    .command('migrate')
    .description('bring the database to this version; safe to run twice, or by several machines at once')
    .action(() =>
      run(async () => {
        const stores = await openStores(readConfig(env), quietLog(), { redis: false })
        await stores.close()
        print(stores.migrated.length === 0 ? 'The database is up to date.' : `Applied: ${stores.migrated.join(', ')}`)
      }),
    )

  const organization = program.command('organization').description('create and list organizations')
  organization
    .command('create')
    .description('create an organization with the default policy, and print its id')
    .argument('<name>', 'name shown on the dashboard', nonEmpty)
    .action((name: string) =>
      run(() =>
        administer(async (flows) => {
          const { id } = await flows.create(name)
          print(`${id}\nNext: keystride key issue ${id} --label backend`)
        }),
      ),
    )
  organization
    .command('list')
    .description('list all organizations, oldest first')
    .action(() =>
      run(() =>
        administer(async (flows) => {
          const rows = (await flows.list()).map(({ id, name, createdAt }) => [id, name, iso(createdAt)])
          print(table(['id', 'name', 'created'], rows))
        }),
      ),
    )

  organization.addCommand(quotasCommand((work) => run(() => administer(work))))

  const key = program.command('key').description('issue, list and revoke API keys')
  key
    .command('issue')
    .description('issue an API key and print it; it is shown this once only')
    .argument('<organization-id>', 'id as "organization list" prints it', uuid)
    .option('--label <text>', 'what the key is for', 'unnamed')
    .option('--scopes <list>', `APIs it opens, comma-separated: ${SCOPES.join(', ')}`, scopes, [...SCOPES])
    .action((organizationId: string, options: { label: string; scopes: Scope[] }) =>
      run(() =>
        administer(async (flows) => {
          await known(flows, organizationId)
          const issued = await flows.issueKey(organizationId, options.label, options.scopes)
          print(issued.apikey)
        }),
      ),
    )
  key
    .command('list')
    .description('list the API keys of an organization; the keys themselves are not kept')
    .argument('<organization-id>', 'id as "organization list" prints it', uuid)
    .action((organizationId: string) =>
      run(() =>
        administer(async (flows) => {
          await known(flows, organizationId)
          const rows = (await flows.listKeys(organizationId)).map((row) => [
            row.id,
            row.label,
            row.scopes.join(','),
            iso(row.createdAt),
            row.revokedAt === null ? 'live' : `revoked ${iso(row.revokedAt)}`,
          ])
          print(table(['id', 'label', 'scopes', 'issued', 'state'], rows))
        }),
      ),
    )
  key
    .command('revoke')
    .description('revoke an API key; every process refuses it within a second')
    .argument('<organization-id>', 'id as "organization list" prints it', uuid)
    .argument('<key-id>', 'id as "key list" prints it', uuid)
    .action((organizationId: string, keyId: string) =>
      run(() =>
        administer(async (flows) => {
          if (!(await flows.revokeKey(organizationId, keyId)))
            throw new Error('this organization has no live key of that id')
          print('revoked')
        }),
      ),
    )

  program
    .command('config')
    .description('look at the configuration')
    .command('check')
    .description('check the environment variables and, with --connect, the stores behind them')
    .option('--connect', 'also reach PostgreSQL and Redis')
    .action((options: { connect?: true }) => run(() => checkConfig(env, options.connect === true)))

  program.addCommand(typingPatternCommand())
  program.addCommand(calibrateCommand(run))
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
  } finally {
    await stores.close()
  }
}

async function known(flows: OrganizationFlows, organizationId: string): Promise<void> {
  const organizations = await flows.list()
  if (!organizations.some(({ id }) => id === organizationId)) throw new Error('there is no organization of that id')
}

/** Runs a command's work; what goes wrong is one clear line and exit status 1. */
async function run(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const message = error instanceof ConfigError || error instanceof Error ? error.message : String(error)
    process.stderr.write(`keystride: ${message}\n`)
    process.exitCode = 1
  }
}

const print = (text: string) => process.stdout.write(`${text}\n`)
const iso = (ms: number) => new Date(ms).toISOString()
const quietLog = () => pino({ level: 'warn' }, pino.destination(2))

function nonEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('wanted a name')
  return text.trim()
}

function scopes(text: string): Scope[] {
  const wanted = text.split(',').map((part) => part.trim())
  const found = SCOPES.filter((scope) => wanted.includes(scope))
  if (found.length !== new Set(wanted).size) throw new InvalidArgumentError(`wanted some of ${SCOPES.join(', ')}`)
  return found
}
