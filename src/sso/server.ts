import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { parse as parseQuery } from 'node:querystring'
import type Provider from 'oidc-provider'
import { writtenAddress } from '../base/address.js'
import { ExpectedFault } from '../base/expected-fault.js'
import type { Language } from '../domain/typing-words.js'
import { claimedIssuer, type HintReader } from './hint.js'
import type { Interactions } from './interactions.js'
import type { OpenSignIns } from './open-sign-ins.js'
import { busyPage, languageOf, unavailablePage } from './pages.js'
import { HINT_PARAM, hintVerified, loginPrompts } from './provider.js'
import type { SsoSettings } from './settings.js'

/** A file of the pages. */
export interface Asset {
  readonly contentType: string
  readonly body: string
}

interface Needs {
  readonly settings: SsoSettings
  /** The provider with the present keys. */
  readonly provider: () => Provider
  readonly interactions: Interactions
  readonly openSignIns: OpenSignIns
  /** Null without an upstream provider; an `id_token_hint` is then one of our own tokens. */
  readonly readHint: HintReader | null
  /** Headers of every page. */
  readonly headers: Readonly<Record<string, string>>
  /** The assets by path. */
  readonly assets: ReadonlyMap<string, Asset>
  /** The reason why new requests must not be sent here; null if the bridge is ready. */
  readonly unready: () => string | null
  readonly onError: (error: unknown) => void
  /** Logs a line at intervals. */
  readonly warn: (line: string) => void
}

export interface SsoServer {
  readonly port: number
  close(): Promise<void>
}

/** A form with a pattern of 2,000 events is smaller. */
const FORM_BYTES_MAX = 2_000_000
const AUTHORIZATION_BYTES_MAX = 64_000
/** Characters of an address. Node refuses a head of more than 16 KiB; some proxies refuse one of more than 8 KiB. */
const ADDRESS_MAX = 12_000
/** A connection is closed after this if it is idle, its head has not arrived, or its client reads no answer, as in `src/http`. */
const IDLE_MS = 10_000
/** A request is refused if it has not arrived after this, including its form. */
const ARRIVAL_MS = 12_000
const TIMEOUTS = {
  headersTimeout: IDLE_MS,
  keepAliveTimeout: IDLE_MS,
  requestTimeout: ARRIVAL_MS,
  connectionsCheckingInterval: 1_000,
}

const SECURITY = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

/** Serves the bridge. Throws an `ExpectedFault` if it cannot listen on the address. */
export async function serveSso(needs: Needs): Promise<SsoServer> {
  const { settings, onError } = needs
  const server = createServer(TIMEOUTS, (request, response) => {
    // The next request on the connection ends this time-out.
    response.once('prefinish', () => request.socket.setTimeout(IDLE_MS))
    answer(needs, request, response).catch((error: unknown) => {
      // The browser has closed the connection, so nobody reads an answer.
      if (request.readableAborted) return
      if (!(error instanceof BadRequest)) onError(error)
      // A browser that still sends a form would not see the answer.
      request.resume()
      if (response.headersSent) return void response.destroy()
      const status = error instanceof BadRequest ? error.status : 503
      if (status === 503) return tryLater(needs, request, response, UNAVAILABLE)
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...SECURITY })
      response.end(`${(error as Error).message}\n`)
    })
  })
  try {
    server.listen({ host: settings.host, port: settings.port })
    await once(server, 'listening')
  } catch {
    throw new ExpectedFault(
      `SSO_FILE: cannot listen on ${settings.host}:${settings.port}: another process has the port, or host is not an address of this machine`,
    )
  }
  const at = server.address()
  return {
    port: typeof at === 'object' && at !== null ? at.port : settings.port,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      setTimeout(() => server.closeAllConnections(), 2_000).unref()
      await closed
    },
  }
}

/** An answer that asks for another try. */
interface Later {
  readonly status: 429 | 503
  readonly afterS: number
  readonly page: (language: Language) => string
  readonly text: string
}
const UNAVAILABLE: Later = { status: 503, afterS: 2, page: unavailablePage, text: 'try again later\n' }
const TOO_MANY: Readonly<Record<'address' | 'all', Later>> = {
  address: { status: 429, afterS: 60, page: busyPage, text: 'too many sign-ins have begun at this address\n' },
  all: { status: 503, afterS: 60, page: busyPage, text: 'too many sign-ins have begun\n' },
}

function tryLater(
  { headers }: Needs,
  request: IncomingMessage,
  response: ServerResponse,
  { status, afterS, page, text }: Later,
): void {
  const { accept = '', 'accept-language': language = null } = request.headers
  const asPage = accept.includes('text/html')
  response.writeHead(status, {
    ...SECURITY,
    ...headers,
    'retry-after': String(afterS),
    'content-type': `text/${asPage ? 'html' : 'plain'}; charset=utf-8`,
  })
  response.end(asPage ? page(languageOf(null, language)) : text)
}

/** A request that cannot be answered because of an error of its sender. */
class BadRequest extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

async function answer(needs: Needs, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { settings, interactions, assets } = needs
  const url = addressOf(request, settings.issuer)
  const { pathname } = url
  const asset = assets.get(pathname)
  if (asset !== undefined) return sendAsset(request, response, asset)
  const probe = probeOf(needs, pathname)
  if (probe !== null) {
    response.writeHead(probe.status, { 'content-type': 'text/plain; charset=utf-8', ...SECURITY }).end(probe.body)
    return
  }
  for (const [name, value] of Object.entries(SECURITY)) response.setHeader(name, value)
  overrideOrigin(request, settings.issuer)
  const uid = /^\/interaction\/([\w-]{1,64})\/?$/.exec(pathname)?.[1]
  if (uid !== undefined || pathname === '/upstream') {
    const form = request.method === 'POST' ? await formOf(request, FORM_BYTES_MAX) : null
    return interactions.answer({ request, response, url, form, ip: ipOf(needs, request) })
  }
  if (request.method === 'POST' && (pathname === '/auth' || pathname === '/session/end')) {
    const parameters = await formOf(request, AUTHORIZATION_BYTES_MAX)
    // A hint may be too long for a URL, and it names the person without a session, so the request is not redirected.
    if (needs.readHint === null || !hasHint(parameters, settings.issuer)) return toGet(response, pathname, parameters)
    becomeGet(request, url, parameters)
  }
  if (pathname === '/auth') {
    promptLogin(url.searchParams, loginPrompts(settings))
    if (needs.readHint !== null) await exchangeHint(needs.readHint, settings.issuer, request, url.searchParams)
  }
  // A request target may contain another host.
  request.url = `${pathname}${url.search}`
  await provide(needs, request, response, url)
}

/** Lets the provider answer. A request that begins a sign-in is refused while too many are open. */
async function provide(needs: Needs, request: IncomingMessage, response: ServerResponse, { pathname, search }: URL) {
  const { openSignIns, provider } = needs
  const continued = /^\/auth\/([\w-]{1,64})$/.exec(pathname)?.[1]
  if (pathname !== '/auth' && continued === undefined) return provider().callback()(request, response)
  const ip = ipOf(needs, request)
  const reserved =
    continued === undefined ? openSignIns.begin(ip, bytesKept(search)) : openSignIns.continue(continued, ip)
  if (typeof reserved === 'string') {
    needs.warn(`a sign-in was refused: too many are open ${reserved === 'all' ? 'in all' : `at ${ip}`}`)
    return tryLater(needs, request, response, TOO_MANY[reserved])
  }
  try {
    await provider().callback()(request, response)
  } finally {
    reserved.settle(/\/interaction\/([\w-]{1,64})$/.exec(String(response.getHeader('location') ?? ''))?.[1] ?? null)
  }
}

/** Maximum number of bytes that the store keeps of a sign-in: its parameters as JSON, and 4,000 for the rest. */
const bytesKept = (search: string): number => 4_000 + 2 * search.length

function addressOf({ url = '/' }: IncomingMessage, issuer: string): URL {
  try {
    return new URL(url, issuer)
  } catch {
    throw new BadRequest(400, 'the request target is not a valid URL path')
  }
}

/** The answer of `/livez` or `/readyz`; null for other paths. */
function probeOf({ unready }: Needs, pathname: string): { status: number; body: string } | null {
  if (pathname === '/livez') return { status: 200, body: 'live\n' }
  if (pathname !== '/readyz') return null
  const why = unready()
  return why === null ? { status: 200, body: 'ready\n' } : { status: 503, body: `${why}\n` }
}

function sendAsset(request: IncomingMessage, response: ServerResponse, { contentType, body }: Asset): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw new BadRequest(405, 'GET only')
  response.writeHead(200, {
    'content-type': contentType,
    'cache-control': 'public, max-age=300',
    'x-content-type-options': 'nosniff',
  })
  response.end(request.method === 'HEAD' ? '' : body)
}

/** Replaces host and scheme of a request with those of the issuer, so that addresses in answers come from the settings. */
function overrideOrigin(request: IncomingMessage, issuer: string): void {
  const { host, protocol } = new URL(issuer)
  request.headers.host = host
  request.headers['x-forwarded-host'] = host
  request.headers['x-forwarded-proto'] = protocol.slice(0, -1)
}

/** The address of the browser, as the outermost trusted proxy has seen it. Null, with a line in the log, if that is no address. */
function ipOf({ settings: { proxies }, warn }: Needs, request: IncomingMessage): string | null {
  const direct = request.socket.remoteAddress ?? ''
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  const seen = (proxies === 0 ? undefined : forwarded.at(-proxies)) ?? direct
  const address = writtenAddress(seen)
  if (address === null && seen !== '')
    warn(
      `${proxies === 0 ? 'the connection has' : 'X-Forwarded-For names'} no address, so a sign-in is judged without one: ${JSON.stringify(seen.slice(0, 64))}`,
    )
  return address
}

/**
 * Redirects the browser to the same endpoint by GET. The cookies are `SameSite=Lax`, so a form of another site is sent without them,
 * and the endpoint would see no session.
 */
function toGet(response: ServerResponse, pathname: string, parameters: URLSearchParams): void {
  const location = `${pathname}?${parameters}`
  if (location.length > ADDRESS_MAX) throw new BadRequest(413, 'the form is too large')
  response.writeHead(303, { location }).end()
}

/** Turns a POST request into a GET request, so that the provider reads the changed parameters. */
function becomeGet(request: IncomingMessage, url: URL, parameters: URLSearchParams): void {
  url.search = parameters.toString()
  request.method = 'GET'
  delete request.headers['content-type']
  delete request.headers['content-length']
}

/** Replaces the values of `prompt` that mean the same as `login`. */
function promptLogin(parameters: URLSearchParams, same: readonly string[]): void {
  const [prompt, ...more] = parameters.getAll('prompt')
  const values = prompt?.split(' ') ?? []
  // The provider refuses a repeated parameter.
  if (more.length > 0 || !values.some((value) => same.includes(value))) return
  parameters.set('prompt', values.map((value) => (same.includes(value) ? 'login' : value)).join(' '))
}

/** Whether there is an `id_token_hint` that is not one of our own tokens. */
function hasHint(parameters: URLSearchParams, issuer: string): boolean {
  const token = parameters.get('id_token_hint')
  return token !== null && claimedIssuer(token) !== issuer
}

/** Verifies an `id_token_hint` of the upstream provider and replaces it by its person. One of our own tokens stays. */
async function exchangeHint(read: HintReader, issuer: string, request: IncomingMessage, parameters: URLSearchParams) {
  parameters.delete(HINT_PARAM)
  hintVerified.add(request)
  if (!hasHint(parameters, issuer)) return
  const hint = await read(parameters.get('id_token_hint') ?? '')
  parameters.delete('id_token_hint')
  parameters.set(HINT_PARAM, typeof hint === 'string' ? hint : JSON.stringify(hint))
}

async function formOf(request: IncomingMessage, bytesMax: number): Promise<URLSearchParams> {
  const type = request.headers['content-type'] ?? ''
  if (!/^application\/x-www-form-urlencoded\b/.test(type)) throw new BadRequest(415, 'expected a form')
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > bytesMax) throw new BadRequest(413, 'the form is too large')
    parts.push(part)
  }
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(parseQuery(Buffer.concat(parts).toString())))
    for (const one of [value].flat()) parameters.append(name, one ?? '')
  return parameters
}
