import { inject } from 'vitest'
import { DEMO_ORGANIZATION } from '../src/domain/organization.js'
import { watchHealth } from '../src/flows/process/health.js'
import { createStoreMetrics } from '../src/metrics/store-metrics.js'
import { readConfig } from '../src/process/config.js'
import { jsonLog } from '../src/process/log.js'
import { administration, openStores } from '../src/wiring/open-stores.js'
import { serveAll } from '../src/wiring/serve-all.js'
import { startScoring } from '../src/wiring/start-scoring.js'
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

const ALONE = { name: 'PostgreSQL alone', redisUrl: null }
const redisUrl = inject('redisUrl')
const withRedis = redisUrl === null ? [] : [{ name: 'PostgreSQL and Redis', redisUrl }]

/** The session stores that a suite runs on. Without KEYSTRIDE_TESTS=all only one: Redis if installed, otherwise PostgreSQL. */
export const backEnds: readonly { name: string; redisUrl: string | null }[] =
  process.env.KEYSTRIDE_TESTS === 'all' || withRedis.length === 0 ? [ALONE, ...withRedis] : withRedis

/** A fixed key: tests have no secrets. */
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')

/** A long wait in the queue, so that a loaded machine sheds no request. Tests of shedding set their own. */
const QUEUE_MS = '20000'

/** Patience with stores on a machine that stands still for a moment. Tests of an outage set their own. */
const STORE_PATIENCE = '10'

/**
 * The whole service in this process on its own database, with Redis if a URL is given. Every answer to `call` is
 * checked against the route table.
 */
export async function startService(
  databaseUrl: string,
  {
    redisUrl,
    more = {},
    demo = false,
  }: {
    redisUrl?: string | null | undefined
    more?: Record<string, string>
    /** With the demo organization and the demo page, as with the embedded database. */
    demo?: boolean
  } = {},
): Promise<TestService> {
  const env = {
    PORT: '0',
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEY,
    SCORING_WORKERS: '1',
    PROCESSES: '1',
    LOG_LEVEL: 'error',
    QUEUE_MS,
    STORE_PATIENCE,
    ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
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
  const flows = administration(stores)
  const { id: organizationId } = (await flows.list())[0] ?? (await flows.create(demo ? DEMO_ORGANIZATION : 'Test'))
  const { apikey } = await flows.issueKey(organizationId, 'test')
  const base = `http://127.0.0.1:${serving.port}`
  const core = `${base}/core`
  const auth = `${base}/auth`

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
    core,
    auth,
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
    async close() {
      await serving.close()
      await scoring.close()
      health.stop()
      await stores.close()
    },
  }
}
