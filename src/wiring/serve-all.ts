import { readFileSync } from 'node:fs'
import { Gauge, type Metric } from 'prom-client'
import { coreGroups, coreRoutes } from '../api/core-table.js'
import { dashboardGroups, dashboardRoutes } from '../api/dashboard-table.js'
import { linkGroups, linkRoutes } from '../api/links-table.js'
import type { Job } from '../base/every.js'
import { Refusal } from '../domain/refusal.js'
import type { Courier } from '../flows/alert/courier.js'
import { createOutages, type Outages } from '../flows/alert/outages.js'
import { createUsageMeter, type UsageMeter } from '../flows/insight/usage-meter.js'
import { createKeyRates } from '../flows/organization/key-rates.js'
import type { Health } from '../flows/process/health.js'
import { createAuthenticate } from '../flows/session/authenticate.js'
import { type Admission, createAdmission, WATCH_MS } from '../http/admission.js'
import { ANSWER_MS } from '../http/in-flight.js'
import { createMetrics, type Metrics } from '../http/metrics.js'
import { createProcessMetrics } from '../http/process-metrics.js'
import { httpServerOf, loadProvider, type Provider } from '../http/provider.js'
import { serveApart } from '../http/serve-apart.js'
import { serve } from '../http/server.js'
import type { Answered, Api, PlainEndpoint, Probe, Server } from '../http/server-types.js'
import { noteOutages, startAlerting } from '../jobs/alerting.js'
import { createCourier } from '../jobs/channels/courier.js'
import type { JobQueue } from '../jobs/queue.js'
import type { Config } from '../process/config.js'
import type { Front } from '../process/front.js'
import type { Logger } from '../process/log.js'
import { createUuidV7 } from '../process/new-id.js'
import { createOutageLog } from '../process/outage-log.js'
import { version } from '../process/version.js'
import type { Scoring } from '../scoring/scoring.js'
import type { Tracing } from '../tracing/tracing.js'
import { flushUsage, openQueue, registerWorkers, startJobs, stopJobs } from './background.js'
import { browserPage, consolePages, documents, pages, probes } from './endpoints.js'
import { openTracing, tracedParts } from './open-tracing.js'
import { createProductMetrics, type ProductMetrics } from './product-metrics.js'
import { type Services, servicesOf } from './services.js'
import type { OneDatabase, Stores } from './stores.js'
import { warmUp } from './warm-up.js'

interface Needs {
  readonly config: Config
  readonly stores: Stores
  readonly scoring: Scoring
  readonly health: Health
  /** True once the process is asked to stop; it still serves requests. */
  readonly stopping: () => boolean
  readonly log: Logger
  /** Null if this process is the whole service. */
  readonly front: Front | null
  /** Metrics that count the calls of the stores since they were opened. */
  readonly storeMetrics: { readonly metrics: readonly Metric[] }
}

interface Serving {
  readonly port: number
  readonly provider: Provider
  close(): Promise<void>
}

/** The three APIs. The base path of an API without routes answers a missing key and an unknown path like the others. */
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

const basePathOf = (api: Answered['api']): string => APIS.find(({ scope }) => scope === api)?.basePath ?? ''

/** Open connections are served this long while draining, so that the whole stop takes less than 8 s. */
const LINGER_MS = 300
const DRAIN_MS = 3_000

/** Deadline of one delivery of an alert: a test of a channel delivers within a request, which has a deadline too. */
const SEND_WITHIN_MS = 10_000

/** Builds the flows and the server on open stores and started scoring, and begins to serve. */
export async function serveAll(given: Needs): Promise<Serving> {
  const { config, log, front } = given
  const product = createProductMetrics()
  const tracing = await openTracing(config, log, basePathOf)
  const needs = { ...given, ...tracedParts(tracing, product.watch(given)) }
  const newId = createUuidV7(needs.stores.clock.now)
  const provider = loadProvider(config.httpServer)
  const background = openBackground(needs, product)
  const { courier } = background
  const jobs = jobsOf(background, needs.stores)
  const { watchCaches } = product
  const services = servicesOf({ ...needs, jobs, courier, newId, watchCaches, httpServer: httpServerOf(provider) })
  const metrics = createMetrics({ version: version(), provider })
  const { admission, stopWatching } = openAdmission(config, needs.stores, metrics, front)
  const served = openProbes(needs, metrics)
  if (config.roles.includes('core')) await warm(given, newId)
  const onAnswer = (answered: Answered) => {
    metrics.onAnswer(answered)
    background.meter.note(answered)
    tracing?.onAnswer(answered)
  }
  const server = await openServer(needs, { provider, services, admission, served, newId, onAnswer, tracing })
  // The supervisor of several processes serves their metrics.
  const apart = config.metricsAt === null || front !== null ? null : await serveApart(served, config.metricsAt)
  addGauges(needs, metrics, server, admission)
  metrics.add(product.metricsOf(config.roles))
  const stopBackground = beginBackground(needs, background, product)
  return {
    port: server.port,
    provider,
    async close() {
      await Promise.all([
        server.close({ lingerMs: LINGER_MS, deadlineMs: DRAIN_MS }),
        ...background.databases.map(({ queue }) => queue.stop()),
      ])
      await apart?.close()
      stopWatching()
      await stopBackground()
      await tracing?.stop()
    },
  }
}

/** The parts that work outside of requests. */
interface Background {
  readonly databases: readonly WorkedDatabase[]
  readonly courier: Courier
  readonly meter: UsageMeter
}

/** A database with its queue, the outages to be noted there, and the log of its jobs. */
interface WorkedDatabase extends OneDatabase {
  readonly queue: JobQueue
  readonly outages: readonly Outages[]
  readonly log: Logger
}

function openBackground(needs: Needs, product: ProductMetrics): Background {
  const { stores } = needs
  const courier = product.watchCourier(openCourier(needs))
  const databases = stores.databases.map((database) => workedDatabase(needs, database))
  return { databases, courier, meter: createUsageMeter({ usage: stores.usage, now: stores.clock.now }) }
}

/** An outage of one of several databases is noted in that database, one of the whole service in all. */
function workedDatabase({ health, config, log: logOfAll }: Needs, database: OneDatabase): WorkedDatabase {
  const { stores, checks } = database
  const whole = createOutages({ ...stores, now: stores.clock.now })
  health.listen(whole.turn)
  if (checks.length === 0) return { ...database, queue: openQueue(stores, logOfAll), outages: [whole], log: logOfAll }
  const alone = createOutages({ ...stores, now: stores.clock.now })
  const { log, turn } = createOutageLog(
    logOfAll,
    config.storePatience,
    `the stores of the database ${database.name} answer again`,
  )
  health.listenTo(checks, (why, reason) => {
    alone.turn(why)
    turn(why, reason)
  })
  return { ...database, queue: openQueue(stores, log), outages: [whole, alone], log }
}

/** Sends jobs to the database of their organization. */
const jobsOf = ({ databases }: Background, { databaseOf }: Stores): Pick<JobQueue, 'send'> => ({
  async send(queue, ids, options) {
    const home = databases[databaseOf(ids.organization ?? '') ?? -1]
    if (home === undefined) throw new Refusal('degraded', 'try again later: the database is out of reach')
    return await home.queue.send(queue, ids, options)
  },
})

interface ServerParts {
  readonly provider: Provider
  readonly services: Services
  readonly admission: Admission
  /** The probes of this process. */
  readonly served: readonly Probe[]
  readonly newId: () => string
  readonly onAnswer: (answered: Answered) => void
  readonly tracing: Tracing | null
}

/** The server of the APIs, pages and documents of the process's roles. It listens when this resolves. */
function openServer(needs: Needs, parts: ServerParts): Promise<Server> {
  const { config, stores, health, log, front } = needs
  const { provider, services, admission, served, newId, onAnswer, tracing } = parts
  const accounts = stores.rateAccounts ?? front?.rateAccounts ?? null
  const spendRate = createKeyRates({ rate: config.keyRate, accounts, monotonicMs })
  return serve({
    uws: provider.uws,
    apis: apisOf(config),
    plain: plainEndpoints(needs, services, served),
    ...(config.roles.includes('links') ? { browserPage: browserPage(config, stores) } : {}),
    authenticate: createAuthenticate({ apiKeys: stores.apiKeys, spendRate, monotonicMs }),
    admission,
    degraded: health.degraded,
    services,
    log,
    newRequestId: newId,
    now: stores.clock.now,
    onAnswer,
    ...(tracing === null ? {} : { traced: tracing.within }),
    host: config.host,
    port: config.port,
    exclusivePort: front === null,
    answerDeadlineMs: ANSWER_MS * config.storePatience,
  })
}

const apisOf = ({ roles }: Config) => APIS.filter(({ scope }) => roles.includes(scope))

const plainEndpoints = ({ config, stores }: Needs, services: Services, served: readonly Probe[]): PlainEndpoint[] => [
  ...served.filter(({ path }) => config.metricsAt === null || path !== '/metrics'),
  ...(config.roles.includes('links') ? pages(config, services, stores) : []),
  ...(config.roles.includes('dashboard') ? consolePages(config) : []),
  ...documents(
    apisOf(config).filter(({ routes }) => routes.length > 0),
    config,
    stores,
  ),
]

/** A start without a warm-up only makes the first verifies slower, so a store that does not answer now does not prevent it. */
const warm = ({ config, scoring, stores, log }: Needs, newId: () => string): Promise<unknown> =>
  warmUp({ config, scoring, stores, newId, now: stores.clock.now }).catch((error: unknown) =>
    log.warn({ err: error }, 'the warm-up stopped: the first verifies will be slow'),
  )

const openCourier = ({ config, stores }: Needs): Courier =>
  createCourier({
    hosts: config.alertHosts,
    closedPorts: stores.ports,
    ca: config.alertCaFile === null ? null : readFileSync(config.alertCaFile, 'utf8'),
    deadlineMs: SEND_WITHIN_MS,
    fullRefPatterns: config.targets.fullRefPatterns,
  })

/** While a process sees organizations, it reports them to the other processes of the machine once in this time. */
const REPORT_SEEN_MS = 200

/** The admission. While requests are in progress, a timer calls `watch` and measures the delay of the event loop. */
function openAdmission(
  { requestsAtOnce, queueMs }: Config,
  { databases, databaseOf }: Stores,
  { onRefused, onHeld, onLoopDelay }: Metrics,
  front: Front | null,
) {
  let watching: NodeJS.Timeout | undefined
  let reportedAt = Number.NEGATIVE_INFINITY
  const admission = createAdmission({
    atOnce: requestsAtOnce,
    waitMs: queueMs,
    databaseOf: databases.length > 1 ? databaseOf : undefined,
    onRefused,
    onHeld,
    onRest: (ms) => setTimeout(() => admission.resume(performance.now()), ms + 1).unref(),
    onWork: () => {
      let watchedAt = performance.now()
      watching = setInterval(() => {
        const at = performance.now()
        onLoopDelay(Math.max(0, at - watchedAt - WATCH_MS))
        watchedAt = at
        const working = admission.watch(at)
        if (!working) clearInterval(watching)
        if (front === null || (working && at - reportedAt < REPORT_SEEN_MS)) return
        reportedAt = at
        const seen = admission.seen()
        if (seen.length > 0) front.organizationsSeen(seen)
      }, WATCH_MS)
    },
  })
  front?.onOrganizationsSeen((organizations) => admission.noteElsewhere(organizations, performance.now()))
  return { admission, stopWatching: () => clearInterval(watching) }
}

/** The probes of this process, which also answer the supervisor's readiness and metrics checks. */
function openProbes({ config, stores, health, stopping, front }: Needs, metrics: Metrics): Probe[] {
  const unready = () => {
    if (stopping()) return 'stopping'
    return config.readyNeedsStores ? health.degraded() : stores.clock.skewedHere()
  }
  front?.readiness(unready)
  const partly = () => {
    const missing = stores.checks.filter(({ name, group }) => group !== undefined && health.lost(name) !== null)
    return missing.length === 0 ? null : `${missing.map(({ name }) => name).join(' and ')} out of reach`
  }
  return probes(unready, front?.metrics(metrics) ?? metrics.text, partly)
}

function addGauges(
  { stores, scoring, health, front, storeMetrics }: Needs,
  { gauge, add }: Metrics,
  server: Server,
  admission: Admission,
): void {
  gauge('keystride_http_requests_in_flight', 'Requests begun and not yet answered', server.inFlight)
  gauge('keystride_http_requests_waiting', 'Requests that wait for others to end', admission.waiting)
  gauge('keystride_scoring_memory_bytes', 'Memory of a scoring kernel, fixed', scoring.memoryBytes, 'max')
  const degraded = () => (health.degraded() === null ? 0 : 1)
  gauge('keystride_degraded', '1 while a store is unreachable, else 0', degraded, 'max')
  add([reachableStores(stores, health)])
  const skewS = () => stores.clock.skewMs() / 1000
  gauge('keystride_clock_skew_seconds', "Largest skew between a clock and the database's", skewS, 'max')
  add(storeMetrics.metrics)
  // The supervisor of several processes has the metrics of all.
  if (front === null) add(createProcessMetrics(1, () => 1).metrics)
}

const reachableStores = ({ checks }: Stores, health: Health): Metric =>
  new Gauge({
    name: 'keystride_store_reachable',
    help: '1 while a store answers, else 0',
    labelNames: ['store'],
    aggregator: 'min',
    registers: [],
    collect() {
      for (const { name } of checks) this.set({ store: name }, health.lost(name) === null ? 1 : 0)
    },
  })

/**
 * Begins the periodic work: usage and outages of this process, and with the role `jobs` all other work. Returns the function that
 * stops it.
 */
function beginBackground(
  { config, scoring, log }: Needs,
  { databases, courier, meter }: Background,
  product: ProductMetrics,
): () => Promise<void> {
  const jobs: Job[] = [flushUsage(meter, log)]
  for (const database of databases) {
    const { stores, queue, outages, log } = database
    jobs.push(...outages.map((one) => noteOutages(one, log)))
    if (!config.roles.includes('jobs')) continue
    jobs.push(...startJobs(stores, log), ...startAlerting({ ...stores, courier, now: stores.clock.now, log }))
    jobs.push(product.readState(database, log))
    registerWorkers(queue, database, scoring)
  }
  return () => stopJobs(jobs, meter, log)
}

const monotonicMs = () => performance.now()
