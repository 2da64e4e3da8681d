import { readFileSync } from 'node:fs'
import { coreGroups, coreRoutes } from '../api/core-table.js'
import { dashboardGroups, dashboardRoutes } from '../api/dashboard-table.js'
import { linkGroups, linkRoutes } from '../api/links-table.js'
import { createOutages } from '../flows/alert/outages.js'
import { createUsageMeter } from '../flows/insight/usage-meter.js'
import { createKeyRates } from '../flows/organization/key-rates.js'
import type { Health } from '../flows/process/health.js'
import { createAuthenticate } from '../flows/session/authenticate.js'
import { createAdmission, LOOK_MS } from '../http/admission.js'
import { createMetrics } from '../http/metrics.js'
import { loadProvider } from '../http/provider.js'
import { serveApart } from '../http/serve-apart.js'
import { serve } from '../http/server.js'
import type { Api } from '../http/server-types.js'
import { noteOutages, startAlerting } from '../jobs/alerting.js'
import { createCourier } from '../jobs/channels/courier.js'
import type { Config } from '../process/config.js'
import type { Front } from '../process/front.js'
import type { Logger } from '../process/log.js'
import { idsBy } from '../process/new-id.js'
import { version } from '../process/version.js'
import type { Scoring } from '../scoring/scoring.js'
import { adding, openQueue, startJobs, workOn } from './background.js'
import { browserPage, documents, pages, probes } from './endpoints.js'
import type { Stores } from './open-stores.js'
import { type Services, servicesOf } from './services.js'

interface Needs {
  readonly config: Config
  readonly stores: Stores
  readonly scoring: Scoring
  readonly health: Health
  /** The process has been told to stop, and serves what still comes. */
  readonly stopping: () => boolean
  readonly log: Logger
  /** Null where this process alone serves. */
  readonly front: Front | null
}

interface Serving {
  readonly port: number
  /** Which uWebSockets.js serves. */
  readonly uws: string
  close(): Promise<void>
}

/** The three APIs. Where one has no rows yet, its base path answers a missing key and an unknown path like the others. */
const APIS: readonly Api<Services>[] = [
  { basePath: '/core', scope: 'core', title: 'Keystride core API', groups: coreGroups, routes: coreRoutes },
  { basePath: '/auth', scope: 'links', title: 'Keystride profile-link API', groups: linkGroups, routes: linkRoutes },
  {
    basePath: '/dashboard',
    scope: 'dashboard',
    title: 'Keystride dashboard API',
    groups: dashboardGroups,
    routes: dashboardRoutes,
  },
]

/** Open connections are served this long while draining, so that the whole stop stays within 5 s. */
const LINGER_MS = 300
const DRAIN_MS = 3_000

/** One try of an alert, so that the answer to a test of a channel stays within its own deadline. */
const SEND_WITHIN_MS = 10_000

/** Builds the flows and the server on open stores and a running scoring pool, and begins to serve. */
export async function serveAll({ config, stores, scoring, health, stopping, log, front }: Needs): Promise<Serving> {
  const { now } = stores.clock
  const newId = idsBy(now)
  const provider = loadProvider(config.uwsProvider === null ? {} : { named: config.uwsProvider })
  const queue = openQueue(stores, log)
  const courier = createCourier({
    hosts: config.alertHosts,
    closedPorts: stores.ports,
    ca: config.alertCaFile === null ? null : readFileSync(config.alertCaFile, 'utf8'),
    deadlineMs: SEND_WITHIN_MS,
  })
  const services = servicesOf(config, stores, scoring, health, front, queue, courier, newId)
  const outages = createOutages({ ...stores, now })
  health.listen(outages.turn)
  const meter = createUsageMeter({ usage: stores.usage, now })
  const metrics = createMetrics({ version: version(), provider })
  let looking: NodeJS.Timeout | undefined
  const admission = createAdmission({
    atOnce: config.requestsAtOnce,
    waitMs: config.queueMs,
    onRefused: metrics.onRefused,
    onWork: () => {
      let lookedAt = performance.now()
      looking = setInterval(() => {
        const at = performance.now()
        metrics.onLoopDelay(Math.max(0, at - lookedAt - LOOK_MS))
        lookedAt = at
        if (!admission.look(at)) clearInterval(looking)
      }, LOOK_MS)
    },
  })
  const spendRate = createKeyRates({
    rate: config.keyRate,
    accounts: stores.rateAccounts ?? front?.rateAccounts ?? null,
    monotonicMs,
  })
  const unready = () => {
    if (stopping()) return 'stopping'
    return config.readyNeedsStores ? health.degraded() : stores.clock.skewedHere()
  }
  front?.readiness(unready)
  const asked = probes(unready, front?.metrics(metrics) ?? metrics.text)
  const { metricsAt } = config
  const apis = APIS.filter(({ scope }) => config.roles.includes(scope))
  const server = await serve({
    uws: provider.uws,
    apis,
    plain: [
      ...asked.filter(({ path }) => metricsAt === null || path !== '/metrics'),
      ...(config.roles.includes('links') ? pages(config, services, stores) : []),
      ...apis.filter(({ routes }) => routes.length > 0).flatMap((api) => documents(api, config, stores)),
    ],
    ...(config.roles.includes('links') ? { browserPage: browserPage(config, stores) } : {}),
    authenticate: createAuthenticate({ apiKeys: stores.apiKeys, spendRate, monotonicMs }),
    admission,
    degraded: health.degraded,
    services,
    log,
    newRequestId: newId,
    now,
    onAnswer(answered) {
      metrics.onAnswer(answered)
      meter.note(answered)
    },
    host: config.host,
    port: config.port,
    exclusivePort: front === null,
  })
  // That of several processes is their supervisor's.
  const apart = metricsAt === null || front !== null ? null : await serveApart(asked, metricsAt)
  metrics.gauge('keystride_http_requests_in_flight', 'Requests begun and not yet answered', server.inFlight)
  metrics.gauge('keystride_http_requests_waiting', 'Requests that wait for others to end', admission.waiting)
  metrics.gauge('keystride_scoring_memory_bytes', 'Memory of a scoring kernel, fixed', scoring.memoryBytes, 'max')
  const degraded = () => (health.degraded() === null ? 0 : 1)
  metrics.gauge('keystride_degraded', '1 while a store is out of reach, else 0', degraded, 'max')
  const skewS = () => stores.clock.skewMs() / 1000
  metrics.gauge('keystride_clock_skew_seconds', "How far a clock is off the database's, at most", skewS, 'max')
  const jobs = [
    adding(meter, log),
    noteOutages(outages, log),
    ...(config.roles.includes('jobs')
      ? [...startJobs(stores, log), ...startAlerting({ ...stores, courier, now, log })]
      : []),
  ]
  if (config.roles.includes('jobs')) workOn(queue, stores)
  return {
    port: server.port,
    uws: `${provider.name}@${provider.version}`,
    async close() {
      await Promise.all([server.close({ lingerMs: LINGER_MS, deadlineMs: DRAIN_MS }), queue.stop()])
      await apart?.close()
      clearInterval(looking)
      await Promise.all(jobs.map((job) => job.stop()))
      await meter.flush().catch((error: unknown) => log.warn({ err: error }, 'the last requests were not counted'))
    },
  }
}

const monotonicMs = () => performance.now()
