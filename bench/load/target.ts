import { metricsText, readingOf } from './service-metrics.js'

/** The state of a service before the test. */
export interface Target {
  readonly version: string
  readonly httpProvider: string | null
  /** URL of its metrics; null if unreadable, as behind most proxies. */
  readonly metrics: string | null
}

/** The test cannot be run; the message tells the user why. */
export class CannotTest extends Error {
  override readonly name = 'CannotTest'
}

const PATIENCE_MS = 10_000

/**
 * Checks that the service answers and accepts the key, so that a mistake is reported at once. `metrics` is the URL of its
 * metrics; null takes /metrics of the same host. Throws `CannotTest`.
 */
export async function lookAt(core: string, apikey: string, metrics: string | null): Promise<Target> {
  const status = await answered(core, '/status', apikey)
  const json = await status.json().catch(() => null)
  const { version, status: state } = (json ?? {}) as { version?: unknown; status?: unknown }
  if (status.status !== 200 || typeof version !== 'string') {
    const cause = status.status === 503 ? 'is there a service behind the proxy?' : 'is this the base of a core API?'
    throw new CannotTest(`${core}/status answered ${status.status} and no status: ${cause}`)
  }
  if (state !== 'OK')
    throw new CannotTest(`${core} reports that it is degraded (status ${state}): nothing to measure yet`)
  const organization = await answered(core, '/organization', apikey)
  if (organization.status === 401) throw new CannotTest(unknownKey(core))
  if (organization.status === 403)
    throw new CannotTest(`the key has no access to the core API of ${core}: issue one with the scope "core"`)
  if (organization.status !== 200)
    throw new CannotTest(`GET ${core}/organization answered ${organization.status}, expected 200`)
  return { version, ...(await metricsOf(core, metrics)) }
}

/** Message for a 401. */
export const unknownKey = (core: string) =>
  `${core} does not know the key (401): see --apikey-file, KEYSTRIDE_APIKEY, and "keystride key list"`

async function answered(core: string, path: string, apikey: string): Promise<Response> {
  try {
    return await fetch(core + path, { headers: { apikey }, signal: AbortSignal.timeout(PATIENCE_MS) })
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } }
    throw new CannotTest(`${core} cannot be reached: ${cause?.code ?? message}`)
  }
}

/** The URL of the metrics, and the HTTP implementation they report. Throws `CannotTest` if the given URL has no metrics. */
async function metricsOf(core: string, given: string | null): Promise<Pick<Target, 'httpProvider' | 'metrics'>> {
  const url = given ?? new URL('/metrics', core).href
  const text = await metricsText(url)
  if (text === null || readingOf(text, 0) === null) {
    if (given === null) return { httpProvider: null, metrics: null }
    throw new CannotTest(`--metrics: no metrics of the service at ${url}`)
  }
  const labels = /^keystride_http_server_info\{(.*)\}/m.exec(text)?.[1] ?? ''
  const of = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1]
  return { httpProvider: of('name') === undefined ? null : `${of('name')} ${of('version')}`, metrics: url }
}
