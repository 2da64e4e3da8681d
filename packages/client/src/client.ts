/** The client of the three APIs of Keystride. Uses `fetch` alone: Node 20, Deno, Bun, and runtimes at the edge. */
import type { paths as CorePaths, components } from '../schema/core.js'
import type { paths as DashboardPaths } from '../schema/dashboard.js'
import type { paths as LinkPaths } from '../schema/links.js'
import { type Api, createApi, type RetryOptions } from './api.js'
import { signIn } from './sign-in.js'
import type { SignIn, SignInInput } from './sign-in-result.js'

export type { components as CoreComponents, paths as CorePaths } from '../schema/core.js'
export type { components as DashboardComponents, paths as DashboardPaths } from '../schema/dashboard.js'
export type { components as LinkComponents, paths as LinkPaths } from '../schema/links.js'
export type { Answer, Api, Input, RetryOptions } from './api.js'
export { type ErrorReason, KeystrideError } from './error.js'
export type * from './sign-in-result.js'
/** A pattern of the recorder, as enroll and verify take it. */
export type TypingPattern = components['schemas']['TypingPattern']

export interface ClientOptions {
  /**
   * Address of the service, such as `https://login.example.org`: the APIs are below it at `/core`, `/auth` and `/dashboard`. Or
   * the address of each API.
   */
  readonly url: string | { readonly core: string; readonly links: string; readonly dashboard: string }
  readonly apikey: string
  /** Longest time for an answer, of each try. Default 10000. */
  readonly timeoutMs?: number
  readonly retry?: RetryOptions
  /** Another `fetch`, such as one with a proxy or a client certificate. */
  readonly fetch?: typeof fetch
}

export interface Keystride {
  readonly core: Api<CorePaths>
  readonly links: Api<LinkPaths>
  readonly dashboard: Api<DashboardPaths>
  /**
   * One step of a sign-in: begins it, or continues the `state` of an earlier result with a pattern or a security code. Only a
   * result of the kind `authenticated` may complete a login. Rejects with a `KeystrideError` if the service cannot decide; the
   * state before the call then stays valid, but the pattern may be used up.
   */
  signIn(input: SignInInput): Promise<SignIn>
}

/** Creates a client. Throws a TypeError if the address is not that of a service or the key is empty; makes no call. */
export function createKeystride({
  url,
  apikey,
  timeoutMs = 10_000,
  retry = {},
  fetch: given,
}: ClientOptions): Keystride {
  if (apikey === '') throw new TypeError('apikey is empty: give the API key of the organization')
  const common = {
    apikey,
    timeoutMs,
    retry: { tries: retry.tries ?? 2, maxWaitMs: retry.maxWaitMs ?? 5_000 },
    fetch: given ?? ((...call: Parameters<typeof fetch>) => globalThis.fetch(...call)),
  }
  const at = (name: 'core' | 'links' | 'dashboard', path: string): string =>
    typeof url === 'string' ? serviceUrl(url) + path : httpUrl(url[name])
  const core = createApi<CorePaths>({ ...common, url: at('core', '/core') })
  return {
    core,
    links: createApi<LinkPaths>({ ...common, url: at('links', '/auth') }),
    dashboard: createApi<DashboardPaths>({ ...common, url: at('dashboard', '/dashboard') }),
    signIn: (input) => signIn(core, input),
  }
}

/** The service prints the address of each API, which is easily taken for that of the service. */
function serviceUrl(text: string): string {
  const url = httpUrl(text)
  const api = /\/(core|auth|dashboard)$/.exec(url)?.[0]
  if (api === undefined) return url
  throw new TypeError(
    `url must be the address of the service, without ${api} at its end, and is ${JSON.stringify(text)}`,
  )
}

/** The address without a slash at its end. */
function httpUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (
    parsed === null ||
    !/^https?:$/.test(parsed.protocol) ||
    parsed.username !== '' ||
    parsed.search + parsed.hash !== ''
  )
    throw new TypeError(
      `url must be http(s)://host[:port][/path] without user, query and fragment, and is ${JSON.stringify(url)}`,
    )
  return url.replace(/\/+$/, '')
}
