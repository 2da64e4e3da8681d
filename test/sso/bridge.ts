import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as oidc from 'openid-client'
import { afterAll } from 'vitest'
import { watchHealth } from '../../src/flows/process/health.js'
import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { type MadeUpPerson, person } from '../../src/typist/made-up-person.js'
import { openStores } from '../../src/wiring/open-stores.js'
import { startSso } from '../../src/wiring/serve-sso.js'
import { sharedService, startService, type TestService } from '../harness/service.js'
import { freshDatabase } from '../servers/database.js'
import { type Sink, smtpSink } from '../servers/sinks.js'

export const CLIENT_SECRET = 'a secret of sixteen characters and more'
/** Where the application of the tests takes codes. Nothing listens there: the test reads the address. */
export const CALLBACK = 'http://localhost:9/callback'

export interface Bridge {
  readonly issuer: string
  readonly port: number
  readonly folder: string
  /** Codes of the situations that it logged. */
  readonly codes: number[]
  /** Lines of its log, parsed. */
  readonly lines: Record<string, unknown>[]
  close(): Promise<void>
}

export interface BridgeOptions {
  /** Settings that replace those of the bridge. */
  readonly settings?: Record<string, unknown>
  /** Environment variables. */
  readonly more?: Record<string, string>
  readonly port?: number
  /** The API key; that of the service unless given. */
  readonly apikey?: string
  readonly people?: readonly Record<string, string>[]
  /** Further files in the folder of the settings, by name. */
  readonly files?: Readonly<Record<string, string>>
  /** Directories other than the file. */
  readonly directory?: Record<string, unknown>
}

/** People that the file directory of a test names. */
export const someone = (name: string) => ({ name, email: `${name}@example.org`, displayName: `The person ${name}` })

/** A bridge in this process, on the database of the service. */
export async function startBridge(
  service: TestService,
  smtpPort: number,
  { settings = {}, more = {}, port, apikey = service.apikey, people = [], files = {}, directory }: BridgeOptions = {},
): Promise<Bridge> {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-sso-'))
  const listens = port ?? (await freePort())
  const issuer = `http://localhost:${listens}`
  const file = (name: string, content: string) => {
    writeFileSync(join(folder, name), content)
    return name
  }
  file('apikey', apikey)
  file('people.json', JSON.stringify(people))
  for (const [name, content] of Object.entries(files)) file(name, content)
  file(
    'sso.json',
    JSON.stringify({
      issuer,
      port: listens,
      core: { url: service.core.replace(/\/core$/, ''), apikeyFile: 'apikey' },
      directory: directory ?? { kind: 'file', path: 'people.json' },
      mail: { host: 'localhost', port: smtpPort, tls: 'none', sender: 'sign-in@example.org' },
      clients: [
        {
          id: 'app',
          secret: CLIENT_SECRET,
          redirectUris: [CALLBACK],
          postLogoutRedirectUris: ['http://localhost:9/bye'],
        },
      ],
      ...settings,
    }),
  )
  const config = readConfig({
    ...service.env,
    ALERT_HOSTS: 'localhost,127.0.0.1',
    ROLES: 'sso',
    SSO_FILE: join(folder, 'sso.json'),
    ...more,
  })
  const codes: number[] = []
  const lines: Record<string, unknown>[] = []
  const log = jsonLog('info', (line) => {
    const { code, level, msg } = JSON.parse(line)
    lines.push(JSON.parse(line))
    if (typeof code === 'number') codes.push(code)
    if (level >= 50 && process.env.KEYSTRIDE_SHOW_LOG) process.stderr.write(`${msg} ${line}`)
  })
  const stores = await openStores(config, log, { redis: true })
  const health = watchHealth(stores.checks, () => {})
  const server = await startSso({ config, stores, degraded: health.degraded, stopping: () => false, log })
  return {
    issuer,
    port: server.port,
    folder,
    codes,
    lines,
    async close() {
      await server.close()
      health.stop()
      await stores.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A service and a mail server. */
export interface World {
  readonly service: TestService
  readonly mail: Sink<{ to: string[]; raw: string }>
  close(): Promise<void>
}

/** Opens a world with the shared service, or with a service of these options and a database that nobody else uses. */
export async function openWorld(own?: Parameters<typeof startService>[1]): Promise<World> {
  const mail = await smtpSink()
  if (own === undefined) return { service: await sharedService(), mail, close: mail.close }
  const fresh = await freshDatabase()
  const service = await startService(fresh.url, own)
  return {
    service,
    mail,
    async close() {
      await service.close()
      await mail.close()
      await fresh.drop()
    },
  }
}

/** A world and a bridge in it, which end with the file or the block. */
export async function openBridge(options: BridgeOptions = {}, own?: Parameters<typeof startService>[1]) {
  const world = await openWorld(own)
  const bridge = await startBridge(world.service, world.mail.port, options)
  afterAll(async () => {
    await bridge.close()
    await world.close()
  })
  return { world, bridge }
}

/** The digits of the latest mail to an address. */
export function latestPassword({ mail }: Pick<World, 'mail'>, address: string): string {
  const found = mail.received.findLast(({ to }) => to.includes(address))
  return /\b(\d{6})\b/.exec(found?.raw.split('\r\n\r\n')[1] ?? '')?.[1] ?? ''
}

/** A relying party by openid-client. */
export async function relyingParty(issuer: string, id = 'app', secret = CLIENT_SECRET): Promise<oidc.Configuration> {
  return oidc.discovery(new URL(issuer), id, secret, oidc.ClientSecretBasic(secret), {
    execute: [oidc.allowInsecureRequests],
  })
}

interface Asked {
  readonly url: URL
  readonly verifier: string
  readonly state: string
  readonly nonce: string
}

/** A new authorization request. */
export async function ask(party: oidc.Configuration, more: Record<string, string> = {}): Promise<Asked> {
  const [verifier, state, nonce] = [oidc.randomPKCECodeVerifier(), oidc.randomState(), oidc.randomNonce()]
  const url = oidc.buildAuthorizationUrl(party, {
    redirect_uri: CALLBACK,
    scope: 'openid profile email',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    ...more,
  })
  return { url, verifier, state, nonce }
}

/** A browser without script, which keeps cookies and follows redirects within the bridge. */
export class Visitor {
  readonly cookies = new Map<string, { name: string; value: string; path: string; port: string }>()
  /** The address and the markup of the page shown. */
  at = ''
  page = ''
  status = 0
  /** The port that requests to the bridge go to; 0 for the port of its address. */
  through = 0
  readonly headers: Record<string, string> = {}

  async open(address: string, init: RequestInit = {}): Promise<string> {
    let url = new URL(address)
    let request: RequestInit = init
    for (let hops = 0; hops < 12; hops++) {
      if (url.port === '9') {
        this.at = url.href
        return url.href
      }
      const cookie = [...this.cookies]
        .filter(([, { path, port }]) => port === url.port && url.pathname.startsWith(path))
        .map(([, { name, value }]) => `${name}=${value}`)
        .join('; ')
      const through = new URL(url)
      if (this.through !== 0) through.port = String(this.through)
      const answer = await fetch(through, {
        ...request,
        redirect: 'manual',
        headers: {
          accept: 'text/html',
          ...this.headers,
          ...(request.headers as Record<string, string>),
          ...(cookie === '' ? {} : { cookie }),
        },
      })
      // A store may be late on a loaded machine: the request is repeated.
      if (answer.status === 503 && hops < 8) continue
      for (const line of answer.headers.getSetCookie()) this.#keep(line, url.port)
      this.page = await answer.text()
      this.at = url.href
      this.status = answer.status
      const location = answer.headers.get('location')
      const onward = this.onward()
      if (location === null && onward === null) return this.at
      url = new URL(location ?? onward ?? '', url)
      request = {}
    }
    throw new Error('too many redirects')
  }

  #keep(line: string, port: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
    const at = pair.indexOf('=')
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)]
    const path = attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? '/'
    // Two bridges on this machine share a host name.
    const key = `${port} ${name}`
    if (value === '') this.cookies.delete(key)
    else this.cookies.set(key, { name, value, path, port })
  }

  /** Submits a form of the page. */
  submit(fields: Record<string, string>): Promise<string> {
    return this.open(this.at, {
      method: 'POST',
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
  }

  /** The address that the page opens by itself; null if it has none. */
  onward(): string | null {
    const data = /data-page="([^"]*)"/.exec(this.page)?.[1]
    return data === undefined
      ? null
      : (JSON.parse(data.replaceAll('&quot;', '"').replaceAll('&amp;', '&')).onward ?? null)
  }

  title = () => /<h1[^>]*>([^<]*)/.exec(this.page)?.[1] ?? ''
  /** The code of the note; NaN if there is none. */
  code = () => Number(/<small[^>]*>\((\d+)\)<\/small>/.exec(this.page)?.[1] ?? Number.NaN)
  words = () => / words="([^"]*)"/.exec(this.page)?.[1] ?? ''

  /** Types the words of the page as `who`, with new times at each call. Types again if classified as a machine's. */
  async types(who: MadeUpPerson, tempo = 1): Promise<string> {
    for (let tries = 0; tries < 5; tries++) {
      const pattern = who.types(this.words(), typed++, { tempo })
      await this.submit({ action: 'pattern', pattern: JSON.stringify(pattern) })
      if (this.code() !== 107 || this.words() === '') break
    }
    return this.at
  }
}
let typed = 1000

/** Passes a new person by a one-time password and lets the person type five patterns: the page then asks to sign in. */
export async function enroll(world: Pick<World, 'mail'>, visitor: Visitor, name: string, who: MadeUpPerson) {
  await visitor.submit({ action: 'send', purpose: 'enroll' })
  await visitor.submit({ action: 'password', password: latestPassword(world, `${name}@example.org`) })
  for (let n = 0; n < 12 && / target="/.test(visitor.page); n++) await visitor.types(who)
}

/** Enrolls a person in a new browser. */
export async function enrolled(world: Pick<World, 'mail'>, bridge: Bridge, name: string, seed: number) {
  const who = person(seed)
  await enroll(world, (await beginSignIn(bridge, name)).visitor, name, who)
  return who
}

/** Changes the default policy of the service's organization. */
export async function changePolicy(service: TestService, changes: Record<string, unknown>): Promise<void> {
  const policy = (await service.dashboard('GET', '/default-policy')).json.data
  const { status, json } = await service.dashboard('PUT', `/policies/${policy.id}`, { body: { ...policy, ...changes } })
  if (status !== 200) throw new Error(`the policy was not changed: ${json.message}`)
}

/** Lifts every lock of a person, whose failed tries then count anew. */
export const unlock = (service: TestService, name: string) =>
  service.dashboard('POST', `/users/${name}/actions`, { body: { action: 'unlock' } })

/** Begins a sign-in of a person, up to its first page, in `browser` of an earlier sign-in or in a new browser. */
export async function beginSignIn(
  bridge: Bridge,
  name: string,
  more: Record<string, string> = {},
  browser = new Visitor(),
) {
  const party = await relyingParty(bridge.issuer)
  const asked = await ask(party, { ...(name === '' ? {} : { login_hint: name }), ...more })
  await browser.open(asked.url.href)
  return { party, asked, visitor: browser }
}
type SignInOfTest = Awaited<ReturnType<typeof beginSignIn>>

/**
 * Signs an enrolled person in by typing, at a new sign-in or at `begun`. One pattern in fifty is classified as a machine's, which ends
 * a sign-in: begins again then, with other words, up to five times.
 */
export async function signInByTyping(
  bridge: Bridge,
  name: string,
  who: MadeUpPerson,
  more: Record<string, string> = {},
  begun?: SignInOfTest,
): Promise<SignInOfTest> {
  for (let tries = 1; ; tries++) {
    const sign = tries === 1 && begun !== undefined ? begun : await beginSignIn(bridge, name, more)
    const { visitor } = sign
    const isBack = () => visitor.at.includes('localhost:9/')
    // Another provider may ask for typing first.
    for (let n = 0; n < 4 && !isBack() && visitor.words() !== ''; n++) await visitor.types(who)
    if (isBack() || tries === 5) return sign
  }
}

/** The tokens for the code at the address of the visitor. */
export const tokensOf = ({ party, asked, visitor }: SignInOfTest) =>
  oidc.authorizationCodeGrant(party, new URL(visitor.at), {
    pkceCodeVerifier: asked.verifier,
    expectedState: asked.state,
    expectedNonce: asked.nonce,
    idTokenExpected: true,
  })
