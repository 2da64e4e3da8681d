import { inject } from 'vitest'
import { DEMO_ORGANIZATION } from '../../src/domain/organization.js'
import { watchHealth } from '../../src/flows/process/health.js'
import { createStoreMetrics } from '../../src/metrics/store-metrics.js'
import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'
import { administration, openStores } from '../../src/wiring/open-stores.js'
import { serveAll } from '../../src/wiring/serve-all.js'
import { startScoring } from '../../src/wiring/start-scoring.js'
import { freshDatabase } from '../servers/database.js'
import { holdsToContract, type TestedApi } from './contract.js'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // The shape of an answer depends on the route; each test states what it expects.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly json: any
}

export interface TestService {
  readonly core: string
  readonly auth: string
  readonly organizationId: string
  readonly apikey: string
  readonly env: Record<string, string>
  call(
    method: string,
    path: string,
    options?: { body?: unknown; session?: string | undefined; headers?: Record<string, string> },
  ): Promise<Answer>
  /** Like `call`, on the profile-link API. */
  callLinks: TestService['call']
  /** Like `call`, on the dashboard API. */
  dashboard(method: string, path: string, options?: { body?: unknown; apikey?: string }): Promise<Answer>
  bootstrap(userRef: string): Promise<Answer & { session: string }>
  /** Creates another organization with a key. */
  another(name?: string): Promise<{ organizationId: string; apikey: string }>
  close(): Promise<void>
}

/** Redis for sessions and counters; null where it is not installed and in the project `without-redis`. */
export const redisUrl: string | null = inject('redisUrl')

const ALONE = { name: 'PostgreSQL alone', redisUrl: null }
/** Both places of sessions and counters, for long tests that run on each. The short tests of `api` run again in `without-redis`. */
export const sharedBackEnds: readonly { name: string; redisUrl: string | null }[] =
  redisUrl === null ? [ALONE] : [ALONE, { name: 'PostgreSQL and Redis', redisUrl }]

/** A fixed key: tests have no secrets. */
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')

/** A long wait in the queue, so that a loaded machine sheds no request. Tests of shedding set their own. */
const QUEUE_MS = '20000'

/** Patience with stores on a machine that stands still for a moment. Tests of an outage set their own. */
const STORE_PATIENCE = '10'

interface ServiceOptions {
  /** The Redis of all tests unless given. With null, sessions and counters are in PostgreSQL. */
  readonly redisUrl?: string | null | undefined
  readonly more?: Record<string, string>
  /** Whether the service has the demo organization and the demo page, as with the embedded database. */
  readonly demo?: boolean
}

/** A running service of a test; `close` stops it and leaves the database. */
type Running = Awaited<ReturnType<typeof run>>
let shared: Promise<Running> | undefined

/**
 * The service that all files of a worker share, with a new organization of its own for the caller. A test that needs settings,
 * an empty database or a service that nobody else uses calls `startService`.
 */
export async function sharedService(): Promise<TestService> {
  shared ??= freshDatabase().then(({ url }) => run(url, {}))
  const running = await shared
  const { id } = await running.flows.create('Test')
  return clientOf(running, id, async () => {})
}

/**
 * A whole service in this process on the given database, with its first organization. Every answer to `call` is checked
 * against the route table.
 */
export async function startService(databaseUrl: string, options: ServiceOptions = {}): Promise<TestService> {
  const running = await run(databaseUrl, options)
  const first = (await running.flows.list())[0]
  const { id } = first ?? (await running.flows.create(options.demo === true ? DEMO_ORGANIZATION : 'Test'))
  return clientOf(running, id, running.close)
}

async function run(databaseUrl: string, { redisUrl: redis = redisUrl, more = {}, demo = false }: ServiceOptions) {
  const env = {
    PORT: '0',
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEY,
    PROCESSES: '1',
    LOG_LEVEL: 'error',
    QUEUE_MS,
    STORE_PATIENCE,
    HTTP_SERVER: process.env.HTTP_SERVER ?? 'auto',
    ...(redis === null ? {} : { REDIS_URL: redis }),
    ...more,
  }
  const config = readConfig(env)
  const log = jsonLog(config.logLevel)
  const storeMetrics = createStoreMetrics()
  const stores = await openStores(config, log, { redis: true, schema: 'migrate', observer: storeMetrics })
  const health = watchHealth(stores.checks, () => {})
  const scoring = await startScoring(config, log)
  const serving = await serveAll({
    config,
    stores: { ...stores, embedded: demo },
    scoring,
    health,
    stopping: () => false,
    log,
    front: null,
    storeMetrics,
  })
  return {
    env,
    base: `http://127.0.0.1:${serving.port}`,
    flows: administration(stores),
    async close() {
      await serving.close()
      await scoring.close()
      health.stop()
      await stores.close()
    },
  }
}

async function clientOf(
  { env, base, flows }: Running,
  organizationId: string,
  close: () => Promise<void>,
): Promise<TestService> {
  const { apikey } = await flows.issueKey(organizationId, 'test')
  const ask = async (
    api: TestedApi,
    method: string,
    path: string,
    { body, session, headers = {} }: Parameters<TestService['call']>[2] = {},
  ): Promise<Answer> => {
    const answer = await fetch(`${base}/${api}${path}`, {
      method,
      headers: {
        apikey,
        ...(session === undefined ? {} : { 'x-service-session': session }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const json = (await answer.json()) as Record<string, unknown>
    holdsToContract(api, method, path, answer, json)
    return { status: answer.status, headers: answer.headers, json }
  }
  const call: TestService['call'] = (method, path, options) => ask('core', method, path, options)
  return {
    core: `${base}/core`,
    auth: `${base}/auth`,
    organizationId,
    apikey,
    env,
    call,
    callLinks: (method, path, options) => ask('auth', method, path, options),
    dashboard: (method, path, { body, apikey: key } = {}) =>
      ask('dashboard', method, path, { body, ...(key === undefined ? {} : { headers: { apikey: key } }) }),
    async bootstrap(userRef) {
      const answer = await call('GET', `/users/${encodeURIComponent(userRef)}`)
      return { ...answer, session: answer.headers.get('x-service-session') ?? '' }
    },
    async another(name = 'Another') {
      const { id } = await flows.create(name)
      return { organizationId: id, apikey: (await flows.issueKey(id, 'another')).apikey }
    },
    close,
  }
}
