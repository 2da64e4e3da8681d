import './process/navigator.js'
import { setTimeout as delay } from 'node:timers/promises'
import { ExpectedFault } from './base/expected-fault.js'
import { DEMO_ORGANIZATION } from './domain/organization.js'
import { requireKeys } from './flows/organization/encryption-keys.js'
import { type Health, watchHealth } from './flows/process/health.js'
import { httpServerOf, loadProvider, NODE_COST, type Provider } from './http/provider.js'
import { type Apart, serveApart } from './http/serve-apart.js'
import { createStoreMetrics } from './metrics/store-metrics.js'
import { type Config, ConfigError, readConfig } from './process/config.js'
import { connectSupervisor, type Front } from './process/front.js'
import { commandAt, demoFile, greeting, greetingFields } from './process/greeting.js'
import { boundHeapGrowth } from './process/heap.js'
import { isJson, type Logger, processLog } from './process/log.js'
import { createOutageLog, type OutageLog } from './process/outage-log.js'
import { superviseFronts } from './process/supervise.js'
import { unknownVariables } from './process/unknown-variables.js'
import { version } from './process/version.js'
import { TOUCH_ERRORS } from './scoring/touch-screens.js'
import type { SsoServer } from './sso/server.js'
import { beginDemoMonth, isDemoMonthDue, scheduleDemoMonth } from './wiring/demo-month.js'
import { probes } from './wiring/endpoints.js'
import { firstOrganization } from './wiring/first-organization.js'
import { administration, openStores } from './wiring/open-stores.js'
import { serveAll } from './wiring/serve-all.js'
import { startScoring } from './wiring/start-scoring.js'
import type { Stores } from './wiring/stores.js'

/** Deadline of the stop, after `stopLeadMs`: the process ends within 8 s, regardless of the work in progress. */
const STOP_WITHIN_MS = 8_000

/** Starts the service and runs it until SIGTERM or SIGINT. Ends the process with status 1 if it cannot start. */
export async function start(env: NodeJS.ProcessEnv): Promise<void> {
  stopWithLauncher(env)
  boundHeapGrowth()
  const config = readConfigOrExit(env)
  const log = processLog(config.logLevel, config.logFormat, env)
  const front = connectSupervisor(env)
  if (front === null) for (const line of [...unknownVariables(env), ...touchWarning(config)]) log.warn(line)
  const supervises = config.processes > 1 && front === null
  // A supervisor stops its serving processes at once; each of them waits `stopLeadMs`.
  const stopping = supervises ? stopOnSignal(log, 0, config.stopLeadMs) : stopOnSignal(log, config.stopLeadMs, 0)
  try {
    if (config.roles.every((role) => role === 'sso')) await serveSsoAlone(config, log, stopping)
    else if (supervises) await runFronts(config, log, stopping)
    else await serveHere(config, log, stopping, front)
  } catch (error) {
    if (error instanceof ExpectedFault) log.fatal(error.message)
    else log.fatal({ err: error }, error instanceof Error ? error.message : 'cannot start')
    await stopping.stop(1)
  }
}

/**
 * Under npm, stops when the parent process changes. npm and npx run a command in a shell that dies of a signal without passing
 * it on: the service would keep running unnoticed.
 */
function stopWithLauncher(env: NodeJS.ProcessEnv): void {
  const launcher = process.ppid
  if (env.npm_lifecycle_event === undefined) return
  const watch = setInterval(() => {
    if (process.ppid === launcher) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 250)
  watch.unref()
}

type Stopping = ReturnType<typeof stopOnSignal>

/** Supervises several serving processes, and keeps the stores that they share, such as the embedded PostgreSQL, open. */
async function runFronts(config: Config, log: Logger, stopping: Stopping): Promise<void> {
  const stores = await openStores(config, log, {
    redis: config.roles.includes('sso'),
    schema: config.migrate ? 'migrate' : 'at-least',
  })
  stopping.onStop(() => stores.close())
  // Checked here too: otherwise each serving process would report the same problem.
  await requireKeysOf(stores)
  const apikey = await createDemo(config, stores)
  const { processes, host, port, metricsAt } = config
  const provider = loadProvider(config.httpServer)
  warnOfServer(config, log, provider)
  const [file, ...args] = process.argv.slice(1)
  if (file === undefined) throw new Error('cannot start the serving processes: argv names no file')
  let apart: Apart | null = null
  let sso: SsoServer | null = null
  const fronts = await superviseFronts({
    file,
    args,
    processes,
    host,
    port,
    log: (message, facts) => log.error(facts, message),
    // A signal may come while the fronts start.
    onStop: (stop) =>
      stopping.onStop(async () => {
        await stopTogether(stop, async () => await sso?.close(), config.stopLeadMs)
        await apart?.close()
      }),
  })
  if (metricsAt !== null) {
    const unready = () => (stopping.asked() ? 'stopping' : fronts.unready())
    apart = await serveApart(probes(unready, fronts.metricsText), metricsAt)
  }
  if (config.roles.includes('sso'))
    sso = await serveSsoHere({ config, stores, outages: createOutageLog(log, config.storePatience), stopping })
  const greeted = await greet(config, stores, { port: fronts.port, provider, apikey })
  log.info({ port: fronts.port, processes, version: version(), http: httpServerOf(provider), ...greeted }, 'serving')
  const month = beginDemoMonth({ config, stores, log }, null)
  if (month !== null) stopping.onStop(() => month.stop())
}

/**
 * Stops the fronts, which serve for `leadMs` more, and single sign-on, which calls the fronts: after `leadMs`, or as soon as the
 * fronts have exited early after a second SIGINT. Without a lead, single sign-on stops first.
 */
async function stopTogether(fronts: () => Promise<void>, sso: () => Promise<void>, leadMs: number): Promise<void> {
  if (leadMs === 0) return await sso().finally(fronts)
  const stopped = fronts()
  await Promise.race([stopped, delay(leadMs)])
  await Promise.all([stopped, sso()])
}

async function serveHere(config: Config, log: Logger, stopping: Stopping, front: Front | null): Promise<void> {
  front?.onOrphaned(() => void stopping.stop(0))
  const storeMetrics = createStoreMetrics()
  // Both are slow, and independent of each other.
  const [scoring, stores] = await Promise.all([
    startScoring(config, log).then((started) => {
      stopping.onStop(() => started.close())
      return started
    }),
    openStores(config, log, {
      redis: true,
      supervised: front !== null,
      observer: storeMetrics,
      // The supervisor has migrated.
      schema: config.migrate && front === null ? 'migrate' : 'at-least',
    }).then((opened) => {
      stopping.onStop(() => opened.close())
      return opened
    }),
  ])
  await requireKeysOf(stores)
  const apikey = front === null ? await createDemo(config, stores) : null
  const outages = createOutageLog(log, config.storePatience)
  const health = watchStores(stores, outages, stopping)
  const needs = { config, stores, scoring, health, stopping: stopping.asked, log: outages.log, front, storeMetrics }
  const server = await serveAll(needs)
  stopping.onStop(() => server.close())
  if (front === null && config.roles.includes('sso')) {
    const sso = await serveSsoHere({ config, stores, outages, stopping, health })
    stopping.onStop(() => sso.close())
  }
  const { port, provider } = server
  if (front === null) warnOfServer(config, log, provider)
  const greeted = front === null ? await greet(config, stores, { port, provider, apikey }) : {}
  front?.serving()
  log.info({ port, version: version(), http: httpServerOf(provider), ...greeted }, 'serving')
  const month = front === null ? beginDemoMonth({ config, stores, log }, scoring) : null
  if (month !== null) stopping.onStop(() => month.stop())
}

/** Single sign-on in a process of its own. */
async function serveSsoAlone(config: Config, log: Logger, stopping: Stopping): Promise<void> {
  const stores = await openStores(config, log, { redis: true, schema: config.migrate ? 'migrate' : 'at-least' })
  stopping.onStop(() => stores.close())
  await requireKeysOf(stores)
  const outages = createOutageLog(log, config.storePatience)
  const sso = await serveSsoHere({ config, stores, outages, stopping })
  stopping.onStop(() => sso.close())
}

interface SsoNeeds {
  readonly config: Config
  readonly stores: Stores
  readonly outages: OutageLog
  readonly stopping: Stopping
  /** The stores are watched anew unless this is given. */
  readonly health?: Health
}

/** Single sign-on in this process; the caller closes it. Its modules are loaded only here. */
async function serveSsoHere({
  config,
  stores,
  outages,
  stopping,
  health = watchStores(stores, outages, stopping),
}: SsoNeeds): Promise<SsoServer> {
  const { startSso } = await import('./wiring/serve-sso.js').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new ExpectedFault(
      'single sign-on needs the optional packages of Keystride: install it without --omit=optional',
    )
  })
  return await startSso({
    config,
    stores,
    degraded: health.degraded,
    stopping: stopping.asked,
    log: outages.log,
  })
}

/** A database that is away is not asked: its encryption keys show when an organization is used. */
async function requireKeysOf({ databases }: Stores): Promise<void> {
  for (const { stores, away } of databases) if (away === null) await requireKeys(stores)
}

function watchStores({ checks, clock }: Stores, outages: OutageLog, stopping: Stopping): Health {
  const health = watchHealth(checks, outages.turn, clock.skewed)
  stopping.onStop(async () => health.stop())
  return health
}

function readConfigOrExit(env: NodeJS.ProcessEnv): Config {
  try {
    return readConfig(env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const line of unknownVariables(env)) process.stderr.write(`keystride: warning: ${line}\n`)
    process.stderr.write(`keystride: ${error.message}\n`)
    process.exit(1)
  }
}

/**
 * Runs the registered steps, latest first, `leadMs` after the first signal. A later SIGINT runs them at once; other later
 * signals have no effect. The steps may take `moreMs` longer than those of a single process.
 */
function stopOnSignal(log: Logger, leadMs: number, moreMs: number) {
  const steps: (() => Promise<void>)[] = []
  let asked = false
  let ended: Promise<void> | undefined
  const stop = (status: number): Promise<void> => {
    ended ??= (async () => {
      const late = setTimeout(() => process.exit(status || 1), STOP_WITHIN_MS + moreMs)
      for (const step of steps.reverse()) {
        await step().catch((error: unknown) => log.error({ err: error }, 'a part did not stop cleanly'))
      }
      clearTimeout(late)
      process.exit(status)
    })()
    return ended
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      log.info({ signal }, 'stopping')
      // Fronts may get SIGTERM twice: from the operator and from their supervisor.
      if (asked && signal === 'SIGINT') void stop(0)
      else setTimeout(() => void stop(0), leadMs)
      asked = true
    })
  }
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, event)
      void stop(1)
    })
  }
  return {
    stop,
    /** True after a signal: no new requests should be sent here. */
    asked: () => asked,
    onStop: (step: () => Promise<void>) => {
      steps.push(step)
    },
  }
}

/**
 * Creates a demo organization at the first start on the embedded PostgreSQL, and returns its key; else null. It runs before the service
 * answers, because a script that waits for an answer reads the key at once.
 */
async function createDemo(config: Config, stores: Stores): Promise<string | null> {
  if (!stores.embedded) return null
  const { publicUrl, dataFolder } = config
  const content = (apikey: string) =>
    `${JSON.stringify({ apikey, core: `${publicUrl}/core`, links: `${publicUrl}/auth`, dashboard: `${publicUrl}/dashboard` }, null, 2)}\n`
  const options = { name: DEMO_ORGANIZATION, label: 'demo', file: demoFile(config), content }
  const demo = await firstOrganization(administration(stores), options)
  if (demo !== null && config.demoMonth) scheduleDemoMonth(dataFolder)
  return demo?.apikey ?? null
}

/** Warns that patterns are scored that the model does not know. */
const touchWarning = ({ touchScreens }: Config): string[] =>
  touchScreens === 'accept' ? [`TOUCH_SCREENS=accept: ${TOUCH_ERRORS}`] : []

/** Warns of the slower HTTP server in a log of JSON lines; the greeting has the same warning as text. */
function warnOfServer({ logFormat }: Config, log: Logger, { whyNot }: Provider): void {
  if (whyNot !== null && isJson(logFormat)) log.warn({ why: whyNot }, NODE_COST)
}

/** Greets the operator: prints the addresses as text, or returns them as fields where every line is JSON. */
async function greet(
  config: Config,
  stores: Stores,
  served: { readonly port: number; readonly provider: Provider; readonly apikey: string | null },
): Promise<object> {
  // If the list fails, the greeting lacks a hint and the start goes on.
  const organizations = await administration(stores)
    .list()
    .then(
      (all) => all.length,
      () => 1,
    )
  if (isJson(config.logFormat)) return greetingFields({ config, organizations })
  const command = commandAt(process.argv[1] ?? '')
  const month = stores.embedded && config.demoMonth && isDemoMonthDue(config.dataFolder)
  process.stdout.write(`${greeting({ ...served, config, organizations, command, month })}\n`)
  return {}
}
