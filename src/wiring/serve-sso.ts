import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { every } from '../base/every.js'
import { ExpectedFault } from '../base/expected-fault.js'
import { logAtIntervals } from '../base/log-at-intervals.js'
import { scopesAllow } from '../domain/organization.js'
import { LANGUAGES } from '../domain/typing-words.js'
import { sha256 } from '../flows/process/tokens.js'
import type { ConnectNeeds } from '../jobs/channels/connect.js'
import type { Config } from '../process/config.js'
import type { Logger } from '../process/log.js'
import { packageRoot } from '../scoring/artifacts.js'
import { createAccounts } from '../sso/accounts.js'
import { createArtifacts, providerAdapter } from '../sso/artifacts.js'
import { checkSsoFiles } from '../sso/check-files.js'
import { type ClientModule, coreApi } from '../sso/core.js'
import type { PeopleDirectory } from '../sso/directory/directory.js'
import { fileDirectory } from '../sso/directory/file.js'
import { hintReader } from '../sso/hint.js'
import { createInteractions } from '../sso/interactions.js'
import { createProviderKeys } from '../sso/keys.js'
import { passwordMailer } from '../sso/mailer.js'
import { createOpenSignIns, OPEN_SIGN_INS } from '../sso/open-sign-ins.js'
import { providerPages } from '../sso/pages.js'
import { createPasswords, type Passwords } from '../sso/passwords.js'
import { createProvider, INTERACTION_MS } from '../sso/provider.js'
import { reporting } from '../sso/provider-events.js'
import { type Asset, type SsoServer, serveSso } from '../sso/server.js'
import { readSsoSettings, type SsoSettings, secretOf } from '../sso/settings.js'
import { advance } from '../sso/sign-in.js'
import { createStrangers } from '../sso/strangers.js'
import { type UpstreamNeeds, upstreamLogin } from '../sso/upstream-login.js'
import { iconSvg, pageHeaders } from '../web/page.js'
import { pageStyle } from '../web/page-style.js'
import type { Stores } from './stores.js'

interface Needs {
  readonly config: Config
  readonly stores: Stores
  /** The reason why the stores are degraded; null if they are not. */
  readonly degraded: () => string | null
  readonly stopping: () => boolean
  readonly log: Logger
}

/** A key that another process has made is published here within this time, long before the key signs. */
const KEYS_EVERY_MS = 60_000
const MAIL_WITHIN_MS = 10_000

/** Builds single sign-on on open stores, and begins to serve it. Throws an `ExpectedFault` for settings that cannot be used. */
export async function startSso(needs: Needs): Promise<SsoServer> {
  const { config, stores, log } = needs
  const settings = readSsoSettings(config.ssoFile ?? '')
  await checkSsoFiles(settings, config.alertHosts)
  const { clock, ssoArtifacts, strangerTries, vault } = stores
  const apikey = secretOf('core.apikeyFile', settings.core.apikeyFile)
  const { organizationId } = await holderOf(stores.apiKeys, apikey)
  const kept = { organizationId, ssoArtifacts, vault }
  const artifacts = createArtifacts(kept)
  const warn = logAtIntervals((line) => log.warn(line))
  const accounts = createAccounts({ organizationId, settings, ssoAccounts: stores.ssoAccounts, warn })
  const upstream = openUpstream(settings, { artifacts, accounts, warn })
  const directory = await openDirectory(settings, log, warn)
  const headers = pageHeaders(settings.issuer)
  const openSignIns = createOpenSignIns({ now: clock.now, lifetimeMs: INTERACTION_MS, limits: OPEN_SIGN_INS })
  const keys = createProviderKeys({ organizationId, ssoKeys: stores.ssoKeys, vault, now: clock.now })
  const { provider, cookieKeys, renewing } = await openProvider(log, keys, {
    settings,
    adapter: providerAdapter({ ...kept, onInteractionEnded: openSignIns.ended }),
    artifacts,
    directory: upstream === null ? directory : null,
    accounts,
    pages: providerPages(headers),
  })
  const strangers = createStrangers({ organizationId, strangerTries, cookieKeys, now: clock.now })
  const core = coreApi(await clientModule(), { url: settings.core.url, apikey })
  const onFailure = (error: unknown) => log.warn({ err: error }, 'a step of a sign-in failed')
  const steps = {
    core,
    directory,
    accounts,
    passwords: openPasswords(needs, settings, organizationId),
    mayEnroll: settings.enroll,
    strangers,
    resetAfterBlock: settings.resetAfterBlock,
    onFailure,
  }
  const server = await serveSso({
    settings,
    provider,
    interactions: createInteractions({
      settings,
      provider,
      artifacts,
      strangers,
      upstream,
      advance: (progress, action, call) => advance(steps, progress, action, call),
      now: clock.now,
      headers,
      onFailure,
      onSituation: (code, sentence, facts) => log.info({ code, ...facts }, `sign-in: ${sentence}`),
    }),
    openSignIns,
    readHint: settings.upstream === undefined ? null : hintReader(settings.upstream),
    headers,
    assets: assets(),
    unready: () => (needs.stopping() ? 'stopping' : needs.degraded()),
    onError: (error) => log.error({ err: error }, 'a request of single sign-on failed'),
    warn,
  })
  log.info({ port: server.port, issuer: settings.issuer }, 'serving single sign-on')
  return {
    port: server.port,
    async close() {
      await server.close()
      await renewing.stop()
    },
  }
}

/** The provider with the present keys, and the job that renews it. */
async function openProvider(
  log: Logger,
  keys: ReturnType<typeof createProviderKeys>,
  needs: Omit<Parameters<typeof createProvider>[0], 'keys'>,
) {
  let held = await keys.current()
  const build = async () => logged(await createProvider({ ...needs, keys: held }), log)
  let provider = await build()
  const renewing = every({
    async work() {
      const present = await keys.current()
      if (present.version !== held.version) {
        held = present
        provider = await build()
      }
      return false
    },
    everyMs: KEYS_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'the keys of single sign-on were not read: the present ones stay'),
  })
  return { provider: () => provider, cookieKeys: () => held.cookieKeys, renewing }
}

/** Makes the next signing key. */
export async function rotateSsoKeys(config: Config, stores: Stores): Promise<void> {
  const { ssoKeys, vault, clock } = stores
  await createProviderKeys({
    organizationId: await organizationOf(config, stores),
    ssoKeys,
    vault,
    now: clock.now,
  }).rotate()
}

/** Unbinds a reference, or all (null), from accounts of upstream providers. Resolves to the number of accounts. */
export async function releaseSsoAccounts(config: Config, stores: Stores, userRef: string | null): Promise<number> {
  return stores.ssoAccounts.release(await organizationOf(config, stores), userRef)
}

async function organizationOf({ ssoFile }: Config, { apiKeys }: Stores): Promise<string> {
  const { core } = readSsoSettings(ssoFile ?? '')
  return (await holderOf(apiKeys, secretOf('core.apikeyFile', core.apikeyFile))).organizationId
}

async function holderOf(apiKeys: Stores['apiKeys'], apikey: string) {
  const holder = await apiKeys.resolve(sha256(apikey))
  if (holder === null)
    throw new ExpectedFault('SSO_FILE: core.apikeyFile: no organization of this database has this API key')
  if (!scopesAllow(holder.scopes, 'core', false))
    throw new ExpectedFault(
      `SSO_FILE: core.apikeyFile: the API key has the scopes ${holder.scopes.join(', ')}: core is needed`,
    )
  return holder
}

const logged = (provider: Awaited<ReturnType<typeof createProvider>>, log: Logger) =>
  reporting(provider, {
    failed: (error) => log.error({ err: error }, 'single sign-on failed'),
    complete: (client) => log.info({ client }, 'a sign-in is complete'),
    refused: (request) => log.warn(request, 'a request of an application was refused'),
    notNotified: (client, why) => log.warn({ client, why }, 'an application was not notified of a sign-out'),
  })

/** The login at the upstream provider; null if the directory finds people by name. */
function openUpstream({ directory, issuer }: SsoSettings, needs: Omit<UpstreamNeeds, 'settings' | 'bridge'>) {
  return directory.kind === 'userinfo' ? upstreamLogin({ ...needs, settings: directory, bridge: issuer }) : null
}

/** LDAP is loaded only where it is used. */
async function openDirectory(
  { directory }: SsoSettings,
  log: Logger,
  warn: (line: string) => void,
): Promise<PeopleDirectory> {
  if (directory.kind === 'file') return fileDirectory(directory.path, (line) => log.error(line))
  if (directory.kind === 'ldap') return (await import('../sso/directory/ldap.js')).ldapDirectory(directory, warn)
  return { find: async () => null }
}

function openPasswords(
  { config, stores, log }: Needs,
  settings: SsoSettings,
  organizationId: string,
): Passwords | null {
  const { mail, issuer } = settings
  if (mail === undefined) return null
  const connect: ConnectNeeds = {
    hosts: config.alertHosts,
    closedPorts: stores.ports,
    ca: config.alertCaFile === null ? null : readFileSync(config.alertCaFile, 'utf8'),
    deadlineMs: MAIL_WITHIN_MS,
  }
  const password = mail.passwordFile === undefined ? null : secretOf('mail.passwordFile', mail.passwordFile)
  const onFailure = (outcome: string) => log.error({ outcome, host: mail.host }, 'a one-time password was not sent')
  const send = passwordMailer({ ...connect, server: mail, password, issuer, onFailure })
  return createPasswords({ organizationId, oneTimePasswords: stores.oneTimePasswords, vault: stores.vault, send })
}

const built = (...path: string[]) => join(packageRoot(), 'build', ...path)

/** The client of the core API, as the build has it. */
const clientModule = async (): Promise<ClientModule> => import(pathToFileURL(built('client.js')).href)

/** Files of the pages, by path. */
function assets(): ReadonlyMap<string, Asset> {
  const script = (name: string): [string, Asset] => [
    `/assets/${name}`,
    { contentType: 'text/javascript; charset=utf-8', body: readFileSync(built('web', name), 'utf8') },
  ]
  return new Map([
    script('element.js'),
    script('sso.js'),
    ...LANGUAGES.filter((language) => language !== 'en').map((language) => script(`texts/${language}.js`)),
    ['/assets/page.css', { contentType: 'text/css; charset=utf-8', body: pageStyle }],
    ['/assets/icon.svg', { contentType: 'image/svg+xml', body: iconSvg('#2a9d8f') }],
  ])
}
