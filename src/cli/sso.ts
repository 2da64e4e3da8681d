import { Command } from 'commander'
import { ExpectedFault } from '../base/expected-fault.js'
import { normalizeUserRef, USER_REF_RULE } from '../domain/user-ref.js'
import type { Config } from '../process/config.js'
import type { Stores } from '../wiring/stores.js'
import { print, quietLog, run } from './administer.js'

/** `keystride sso`: single sign-on in a process of its own. */
export function ssoCommand(env: NodeJS.ProcessEnv): Command {
  const sso = new Command('sso')
    .description('run single sign-on until SIGTERM or Ctrl-C: the role sso of the service, in a process of its own')
    .option('--file <path>', 'the settings; by default SSO_FILE')
    .addHelpText('after', '\nSettings: docs/sso.md. "keystride config check" checks them without a start.')
    .action(async (options: FileOption) => {
      const { start } = await import('../main.js')
      await start({ ...withFile(env, options), ROLES: 'sso' })
    })
  sso
    .command('rotate-keys')
    .description('make the next signing key now: published within a minute, used after a day')
    .addHelpText('after', '\nThe settings: keystride sso --file <path> rotate-keys, or SSO_FILE.')
    .action(() => run(() => rotate(withFile(env, sso.opts()))))
  sso
    .command('release')
    .argument('[userRef]', 'the reference')
    .option('--all', 'every reference, such as after a move to another provider')
    .description(
      'unbind a reference from the account of the upstream provider: the next account with its name may take it',
    )
    .addHelpText('after', '\nThe settings: keystride sso --file <path> release, or SSO_FILE.')
    .action((userRef: string | undefined, { all }: { all?: true }) =>
      run(() => release(withFile(env, sso.opts()), userRef, all === true)),
    )
  return sso
}

interface FileOption {
  readonly file?: string
}

const withFile = (env: NodeJS.ProcessEnv, { file }: FileOption): NodeJS.ProcessEnv =>
  file === undefined ? env : { ...env, SSO_FILE: file }

async function rotate(env: NodeJS.ProcessEnv): Promise<void> {
  await withStores(env, ({ rotateSsoKeys }, ...opened) => rotateSsoKeys(...opened))
  print('The next key is made. Bridges publish it within a minute; it signs after a day.')
}

async function release(env: NodeJS.ProcessEnv, given: string | undefined, all: boolean): Promise<void> {
  const userRef = given === undefined ? null : normalizeUserRef(given)
  if (all === (given !== undefined)) throw new ExpectedFault('name one reference, or give --all')
  if (!all && userRef === null) throw new ExpectedFault(`the reference ${USER_REF_RULE}`)
  const n = await withStores(env, ({ releaseSsoAccounts }, ...opened) => releaseSsoAccounts(...opened, userRef))
  print(`${n} ${n === 1 ? 'account has' : 'accounts have'} no reference now.`)
}

/** Runs `call` with the wiring of single sign-on, the configuration and open stores. */
async function withStores<T>(
  env: NodeJS.ProcessEnv,
  call: (wiring: typeof import('../wiring/serve-sso.js'), config: Config, stores: Stores) => Promise<T>,
): Promise<T> {
  const [{ readConfig }, { openStores }, wiring] = await Promise.all([
    import('../process/config.js'),
    import('../wiring/open-stores.js'),
    import('../wiring/serve-sso.js'),
  ])
  const config = readConfig({ ...env, ROLES: 'sso' })
  const stores = await openStores(config, quietLog(), { redis: false })
  try {
    return await call(wiring, config, stores)
  } finally {
    await stores.close()
  }
}
