import { join } from 'node:path'
import { httpServerOf, NODE_COST, type Provider } from '../http/provider.js'
import type { Config } from './config.js'
import { version } from './version.js'

interface Greeted {
  readonly config: Config
  readonly port: number
  readonly provider: Provider
  /** The key that this start has created; it is printed only once. Null if none. */
  readonly apikey: string | null
  /** Number of organizations. */
  readonly organizations: number
  /** The command that runs the command line here. */
  readonly command: string
  /** A made-up month is being written to the demo organization. */
  readonly month: boolean
}

/** The facts of the greeting as fields of a log line. They name the file of the demo key, because a key does not belong in a log. */
export function greetingFields({ config, organizations }: Pick<Greeted, 'config' | 'organizations'>): object {
  const { publicUrl, databaseUrl, roles, host } = config
  return {
    host,
    core: `${publicUrl}/core`,
    links: `${publicUrl}/auth`,
    dashboard: `${publicUrl}/dashboard`,
    ...(roles.includes('dashboard') ? { console: `${publicUrl}/console/` } : {}),
    documentation: `${publicUrl}/core/docs`,
    ...(databaseUrl === null ? { tryPage: `${publicUrl}/auth/try`, demoKeyFile: demoFile(config) } : {}),
    organizations,
  }
}

/** The file with the key of the demo organization, which only its owner can read. */
export const demoFile = ({ dataFolder }: Pick<Config, 'dataFolder'>): string => join(dataFolder, 'demo.json')

/** The text that a start prints for the operator: addresses, and the next step. */
export function greeting({ config, port, provider, apikey, organizations, command, month }: Greeted): string {
  const { publicUrl } = config
  const embedded = config.databaseUrl === null
  const file = demoFile(config)
  const start = [
    '',
    `Keystride ${version()} serves on ${config.host}:${port}, by ${httpServerOf(provider)}`,
    ...(provider.whyNot === null ? [] : [`  ${NODE_COST} (${provider.whyNot})`]),
    '',
    `  core API           ${publicUrl}/core`,
    `  profile-link API   ${publicUrl}/auth`,
    `  dashboard API      ${publicUrl}/dashboard`,
    ...(config.roles.includes('dashboard') ? [`  console            ${publicUrl}/console/`] : []),
    `  documentation      ${publicUrl}/core/docs`,
    ...(embedded ? [`  try it yourself    ${publicUrl}/auth/try`] : []),
    '',
  ]
  const key =
    apikey !== null
      ? [`A demo organization was created. Its API key, shown only once and stored in ${file}:`, '', `  ${apikey}`, '']
      : embedded
        ? [`The demo organization's key is in ${file}.`, '']
        : organizations === 0
          ? [
              'Create an organization and a key:',
              '',
              `  ${command} organization create "My company"`,
              `  ${command} key issue <organization-id> --label backend`,
              '',
            ]
          : []
  return [
    ...start,
    ...key,
    ...(month ? MONTH : []),
    'Next: begin a sign-in',
    '',
    `  curl -i -H 'apikey: ${apikey ?? '<API key>'}' ${publicUrl}/core/users/ann@example.com`,
    '',
    `More: ${command} --help`,
    '',
  ].join('\n')
}

const MONTH = [
  'Its people and a month of their sign-ins are made up, and are being written now: in less than a minute the console is',
  'full of them. A button of the console deletes them. `npm start -- --empty` starts without them.',
  '',
]

/**
 * The command that runs the command line, by the script that started the service: `keystride` if that is on the PATH, as in
 * the container; `npx keystride` in a checkout and for a package that is installed in a folder.
 */
export const commandAt = (script: string): string =>
  /[/\\]keystride$/.test(script) && !/[/\\]node_modules[/\\]\.bin[/\\]/.test(script) ? 'keystride' : 'npx keystride'
