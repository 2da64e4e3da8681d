import { Command } from 'commander'
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
  return sso
}

interface FileOption {
  readonly file?: string
}

const withFile = (env: NodeJS.ProcessEnv, { file }: FileOption): NodeJS.ProcessEnv =>
  file === undefined ? env : { ...env, SSO_FILE: file }

async function rotate(env: NodeJS.ProcessEnv): Promise<void> {
  const [{ readConfig }, { openStores }, { rotateSsoKeys }] = await Promise.all([
    import('../process/config.js'),
    import('../wiring/open-stores.js'),
    import('../wiring/serve-sso.js'),
  ])
  const config = readConfig({ ...env, ROLES: 'sso' })
  const stores = await openStores(config, quietLog(), { redis: false })
  try {
    await rotateSsoKeys(config, stores)
  } finally {
    await stores.close()
  }
  print('The next key is made. Bridges publish it within a minute; it signs after a day.')
}
