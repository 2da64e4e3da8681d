import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import type { CoreServices } from './api/core/core-route.js'
import { coreRoutes } from './api/core/table.js'
import type { DashboardServices } from './api/dashboard/dashboard-route.js'
import { dashboardRoutes } from './api/dashboard/table.js'
import type { LinkServices } from './api/links/link-route.js'
import { fileEndpoints, linkPageEndpoint } from './api/links/pages.js'
import { linkRoutes } from './api/links/table.js'
import { tryEndpoints } from './api/links/try-it.js'
import type { Config } from './config.js'
import { DEMO_ORGANIZATION } from './domain/organization.js'
import { createAccountFlows } from './flows/accounts.js'
import { createAlertFlows, type Reach } from './flows/alerts.js'
import { createAuthenticate } from './flows/authenticate.js'
import { createBootstrap } from './flows/bootstrap.js'
import type { Courier } from './flows/courier.js'
import { createEnroll } from './flows/enroll.js'
import { createExportFlows } from './flows/exports.js'
import type { Health } from './flows/health.js'
import { createInspect } from './flows/inspect.js'
import { createKeyRates } from './flows/key-rates.js'
import { createKnownPeople } from './flows/known-people.js'
import { createLegacyLink } from './flows/legacy-link.js'
import { createLegacyVerify } from './flows/legacy-verify.js'
import { createLinkPage } from './flows/link-page.js'
import { createChangeLanguage } from './flows/organization-language.js'
import { createOutages } from './flows/outages.js'
import { createPendingActionFlows } from './flows/pending-action.js'
import { createPolicyFlows } from './flows/policies.js'
import { createPreferLanguage } from './flows/preferred-language.js'
import { createProfileLinkFlows } from './flows/profile-links.js'
import { createProfileFlows } from './flows/profiles.js'
import { createSecurityCodeFlows } from './flows/security-code.js'
import { createSeries } from './flows/series.js'
import { createSettings, type SettingsMemory } from './flows/settings.js'
import { newToken } from './flows/tokens.js'
import { createTryIt } from './flows/try-it.js'
import { createTypingWordFlows } from './flows/typing-words.js'
import { createUsageMeter, type UsageMeter } from './flows/usage-meter.js'
import { createUserActions } from './flows/user-actions.js'
import { createVerify } from './flows/verify.js'
import { createVerifyCode } from './flows/verify-code.js'
import type { Front } from './front.js'
import { createAdmission, LOOK_MS } from './http/admission.js'
import { documentEndpoints } from './http/docs-page.js'
import { createMetrics } from './http/metrics.js'
import type { Api, PlainEndpoint } from './http/needs.js'
import { loadProvider } from './http/provider.js'
import { serve } from './http/server.js'
import { noteOutages, startAlerting } from './jobs/alerting.js'
import { createCourier } from './jobs/channels/courier.js'
import { every, type Job } from './jobs/every.js'
import { createExporter } from './jobs/export-log.js'
import { createJobQueue, type JobQueue } from './jobs/queue.js'
import { createRetention } from './jobs/retention.js'
import type { Logger } from './log.js'
import { idsBy } from './new-id.js'
import type { Stores } from './open-stores.js'
import { modelFile, packageRoot, wasmFile, workerFile } from './scoring/artifacts.js'
import { createInlineScoring } from './scoring/inline.js'
import { createScoringPool } from './scoring/pool.js'
import { openScorer, type Scorer } from './scoring/scorer.js'
import type { Scoring } from './scoring/scoring.js'
import { traceOf } from './scoring/trace.js'
import { version } from './version.js'

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

export interface Serving {
  readonly port: number
  /** Which uWebSockets.js serves. */
  readonly uws: string
  close(): Promise<void>
}

/** What the handlers of all APIs are given. */
type Services = CoreServices & DashboardServices & LinkServices

/** The three APIs. Where one has no rows yet, its base path answers a missing key and an unknown path like the others. */
const APIS: readonly Api<Services>[] = [
  { basePath: '/core', scope: 'core', title: 'Keystride core API', routes: coreRoutes },
  { basePath: '/auth', scope: 'links', title: 'Keystride profile-link API', routes: linkRoutes },
  { basePath: '/dashboard', scope: 'dashboard', title: 'Keystride dashboard API', routes: dashboardRoutes },
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
      looking = setInterval(() => {
        if (!admission.look(performance.now())) clearInterval(looking)
      }, LOOK_MS)
    },
  })
  const spendRate = createKeyRates({
    rate: config.keyRate,
    accounts: stores.rateAccounts ?? front?.rateAccounts ?? null,
    monotonicMs,
  })
  const apis = APIS.filter(({ scope }) => config.roles.includes(scope))
  const server = await serve({
    uws: provider.uws,
    apis,
    plain: [
      ...probes(health, stopping, front?.metrics(metrics) ?? metrics.text),
      ...(config.roles.includes('links') ? pages(services, stores) : []),
      ...apis.filter(({ routes }) => routes.length > 0).flatMap((api) => documents(api, config)),
    ],
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
      clearInterval(looking)
      await Promise.all(jobs.map((job) => job.stop()))
      await meter.flush().catch((error: unknown) => log.warn({ err: error }, 'the last requests were not counted'))
    },
  }
}

const openQueue = ({ jobQueue }: Stores, log: Logger): JobQueue =>
  createJobQueue({
    jobQueue,
    onFailed: (error, facts) => log.error({ err: error, ...facts }, 'a job failed'),
    onLost: (error) => log.error({ err: error }, 'no job is taken or planned: the queue is out of reach'),
  })

/** How soon an export is taken up again whose process died, or whose job was lost: this and 30 s. */
const FIND_EXPORTS_EVERY_S = 60
/** Each round looks through some small tables as a whole. */
const RETENTION_EVERY_S = 6 * 3600

function workOn(queue: JobQueue, stores: Stores): void {
  const writeExport = createExporter(stores)
  queue.work('export-log', ({ organization = '', archive = '' }, signal) => writeExport(organization, archive, signal))
  queue.work('find-exports', async (_, signal) => {
    for (const { organizationId, id } of await stores.exports.abandoned())
      await queue.send('export-log', { organization: organizationId, archive: id })
    while (!signal.aborted && (await stores.exports.forget(stores.clock.now()))) {
      // More is left.
    }
  })
  queue.schedule('find-exports', FIND_EXPORTS_EVERY_S)
  const retain = createRetention({ ...stores, now: stores.clock.now })
  queue.work('retention', (_, signal) => retain(signal))
  queue.schedule('retention', RETENTION_EVERY_S)
}

/** An hour is due ten minutes after its end: nobody waits for it, the figures are exact without. */
const COUNT_EVERY_MS = 60_000

/** A process that dies loses what it counted since the last time. */
const ADD_EVERY_MS = 2000
const DAILY_EVERY_MS = 10 * 60_000

/** Every process adds up what it counted itself. */
const adding = (meter: UsageMeter, log: Logger): Job =>
  every({
    async work() {
      await meter.flush()
      return false
    },
    everyMs: ADD_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'requests were not counted yet'),
  })

const startJobs = ({ statistics, usage }: Stores, log: Logger): Job[] => [
  every({
    work: () => statistics.countAttempts(),
    everyMs: COUNT_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'attempts were not counted: the next minute tries again'),
  }),
  every({
    async work() {
      await usage.appendCheckpoints()
      return false
    },
    everyMs: DAILY_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'the checkpoint of the day was not made yet'),
  }),
]

/** Scoring threads with the shipped kernel and model. One that cannot load stops the start, not a customer's attempt. */
export async function startScoring(config: Config, log: Logger): Promise<Scoring> {
  if (config.scoring === 'inline') return createInlineScoring({ wasmFile: wasmFile(), modelFile: modelFile() })
  const scoring = createScoringPool({
    workerFile: workerFile(),
    wasmFile: wasmFile(),
    modelFile: modelFile(),
    workers: config.scoringWorkers ?? Math.max(1, Math.floor(cpus().length / config.processes) - 1),
    log: (message) => log.warn(message),
  })
  try {
    await scoring.score({ body: new Uint8Array(), references: [], replayKey: new Uint8Array(32) })
    return scoring
  } catch (error) {
    await scoring.close()
    throw error
  }
}

/** The hosted pages and what they load; the page to try things on where the database is our own. */
function pages(services: Services, stores: Stores): PlainEndpoint[] {
  const own = [linkPageEndpoint(services), ...fileEndpoints(browserModules())]
  if (!stores.embedded) return own
  const scorer = openedOnce()
  let demo: Promise<string | null> | null = null
  const tryIt = createTryIt({
    ...services,
    profiles: stores.profiles,
    vault: stores.vault,
    newToken,
    explain: (probe, references) => traceOf(scorer(), { probe, references }).explanation,
    async demoOrganizationId() {
      demo ??= stores.organizations.list().then((all) => all.find(({ name }) => name === DEMO_ORGANIZATION)?.id ?? null)
      const id = await demo
      if (id === null) demo = null
      return id
    },
  })
  return [...own, ...tryEndpoints(tryIt, services.linksUrl)]
}

/** What pages run, as it was built. */
const built = (path: string) => readFileSync(join(packageRoot(), 'build', path), 'utf8')

const browserModules = (): Record<`${string}.js`, string> => ({
  'recorder.js': built('recorder/recorder.js'),
  'typing.js': built('web/typing.js'),
  'link.js': built('web/link.js'),
  'try.js': built('web/try.js'),
})

const monotonicMs = () => performance.now()

function servicesOf(
  config: Config,
  stores: Stores,
  scoring: Scoring,
  health: Health,
  front: Front | null,
  jobs: JobQueue,
  courier: Courier,
  newId: () => string,
): Services {
  const { now } = stores.clock
  const needs = {
    ...stores,
    scoring,
    people: createKnownPeople(config.profileCacheBytes),
    ...settingsOfAll(stores, front),
    jobs,
    newId,
    newToken,
    now,
    randomSeed: () => randomInt(2 ** 32),
    randomDigits: (count: number) => Array.from({ length: count }, () => randomInt(10)).join(''),
    replay: config.replay,
    targets: config.targets,
    adaptation: config.adaptation,
    contextIndicators: config.contextIndicators,
    courier,
    reach: { hosts: config.alertHosts, closedPorts: stores.ports },
  }
  const securityCodes = createSecurityCodeFlows(needs)
  const accounts = createAccountFlows({ ...needs, securityCodes })
  const enroll = createEnroll(needs)
  const verify = createVerify(needs)
  const verifyCode = createVerifyCode(needs)
  return {
    ...dashboardServices(needs),
    bootstrap: createBootstrap(needs),
    accounts,
    profiles: createProfileFlows(needs),
    enroll,
    verify,
    settingsOf: needs.settingsOf,
    organizations: stores.organizations,
    verifyCode,
    securityCodes,
    changeLanguage: createChangeLanguage(needs),
    typingWords: createTypingWordFlows(needs),
    preferLanguage: createPreferLanguage(needs),
    legacyVerify: createLegacyVerify({ ...needs, create: accounts.create, enroll, verify, verifyCode }),
    legacyLink: createLegacyLink({ ...needs, enroll }),
    pendingActions: createPendingActionFlows(needs),
    profileLinks: createProfileLinkFlows({ ...needs, createAccount: accounts.create }),
    linkPage: createLinkPage(needs),
    linksUrl: `${config.publicUrl}/auth`,
    degraded: health.degraded,
    version: version(),
  }
}

/** Settings as this process remembers them; whoever changes one is answered when the other processes know. */
function settingsOfAll(stores: Stores, front: Front | null): SettingsMemory {
  const memory = createSettings({ ...stores, monotonicMs })
  front?.onSettingsChanged((organizationId) => void memory.forgetSettings(organizationId))
  return {
    settingsOf: memory.settingsOf,
    async forgetSettings(organizationId) {
      await memory.forgetSettings(organizationId)
      await front?.settingsChanged(organizationId)
    },
  }
}

/** A kernel of the main thread's own, for traces: opened with the first one. */
function openedOnce(): () => Scorer {
  let scorer: Scorer | undefined
  return () => {
    scorer ??= openScorer(wasmFile(), modelFile())
    return scorer
  }
}

function dashboardServices(
  needs: Stores &
    Pick<DashboardServices, 'targets' | 'contextIndicators' | 'now'> & {
      readonly jobs: JobQueue
      readonly newId: () => string
      readonly courier: Courier
      readonly reach: Reach
      readonly forgetSettings: (organizationId: string) => Promise<void>
    },
): DashboardServices {
  const { directory, attemptLog, statistics, targets, contextIndicators, now } = needs
  return {
    directory,
    rosters: needs.accounts,
    references: needs.profiles,
    attemptLog,
    statistics,
    usage: needs.usage,
    targets,
    contextIndicators,
    now,
    policies: createPolicyFlows(needs),
    alerts: createAlertFlows(needs),
    notifications: needs.notifications,
    series: createSeries(needs),
    exports: createExportFlows(needs),
    userActions: createUserActions({
      ...needs,
      profileFlows: createProfileFlows(needs),
      pendingActionFlows: createPendingActionFlows(needs),
    }),
    inspect: createInspect({ ...needs, scorer: openedOnce() }),
  }
}

const documents = (api: Api<Services>, config: Config): PlainEndpoint[] =>
  documentEndpoints(api, { version: version(), baseUrl: `${config.publicUrl}${api.basePath}` }, built('web/docs.js'))

function probes(health: Health, stopping: () => boolean, metricsText: () => Promise<string>): PlainEndpoint[] {
  const text = (status: number, body: string) => ({ status, contentType: 'text/plain; charset=utf-8', body })
  return [
    { method: 'get', path: '/livez', handle: () => text(200, 'live\n') },
    {
      method: 'get',
      path: '/readyz',
      handle() {
        const why = stopping() ? 'stopping' : health.degraded()
        return why === null ? text(200, 'ready\n') : text(503, `${why}\n`)
      },
    },
    {
      method: 'get',
      path: '/metrics',
      handle: async () => ({
        status: 200,
        contentType: 'text/plain; version=0.0.4; charset=utf-8',
        body: await metricsText(),
      }),
    },
  ]
}
