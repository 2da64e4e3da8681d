import { Command } from 'commander'
import { print, quietLog, run } from './administer.js'
import { table } from './table.js'

/** `keystride config`: checks and prints the configuration. */
export function configCommand(env: NodeJS.ProcessEnv): Command {
  const config = new Command('config').description('check and print the configuration')
  config
    .command('check')
    .description(
      'check the environment variables, the file of single sign-on and, with --connect, the stores and the encryption keys',
    )
    .option('--connect', 'also connect to PostgreSQL and Redis, and check that no encryption key is missing')
    .option('--json', 'print name, state and meaning of each variable as JSON')
    .action((options: { connect?: true; json?: true }) => run(() => check(env, options)))
  return config
}

async function check(env: NodeJS.ProcessEnv, { connect, json }: { connect?: true; json?: true }): Promise<void> {
  const [{ configTable, readConfig }, { unknownVariables }] = await Promise.all([
    import('../process/config.js'),
    import('../process/unknown-variables.js'),
  ])
  // Printed first, because a misspelt name may be the cause of an error below.
  for (const line of unknownVariables(env)) process.stderr.write(`keystride: warning: ${line}\n`)
  const config = readConfig(env)
  if (config.ssoFile !== null) {
    const [{ readSsoSettings }, { checkSsoFiles }] = await Promise.all([
      import('../sso/settings.js'),
      import('../sso/check-files.js'),
    ])
    for (const line of await checkSsoFiles(readSsoSettings(config.ssoFile), config.alertHosts))
      process.stderr.write(`keystride: warning: ${line}\n`)
  }
  const say = json === true ? (text: string) => process.stderr.write(`${text}\n`) : print
  const states = configTable().map(({ name, fallback, meaning }) => {
    const set = env[name] !== undefined && env[name] !== ''
    return { variable: name, state: set ? 'set' : fallback === '' ? 'unset' : `default ${fallback}`, meaning }
  })
  if (json === true) print(JSON.stringify(states, null, 2))
  else
    print(
      table(
        ['variable', 'state', 'meaning'],
        states.map(({ variable, state, meaning }) => [variable, state, meaning]),
      ),
    )
  if (connect === true) {
    const [{ openStores }, { requireKeys }] = await Promise.all([
      import('../wiring/open-stores.js'),
      import('../flows/organization/encryption-keys.js'),
    ])
    const stores = await openStores(config, quietLog(), { redis: true })
    try {
      for (const { name, ping } of stores.checks) {
        await ping()
        say(`${name} answers`)
      }
      await requireKeys(stores)
    } finally {
      await stores.close()
    }
  }
  say('The configuration can be used.')
}
