import type { ChildProcess } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { ExpectedFault } from '../base/expected-fault.js'
import type { MetricsJson } from '../http/metrics.js'
import { createProcessMetrics } from '../http/process-metrics.js'
import { type RateAccounts, rateAccountsHere } from '../storage/rate-account.js'
import type { FromFront, FrontState, ToFront } from './front.js'
import { createFrontMetrics, type FrontMetrics } from './front-metrics.js'
import { ALLOCATOR, HEAP_FLAGS } from './heap.js'
import { createQuestions, type Questions } from './questions.js'

interface SuperviseOptions {
  /** The file that a front runs: the one that started this process. */
  readonly file: string
  /** Arguments of `file`: an installed package runs the command line with `serve`. */
  readonly args: readonly string[]
  readonly processes: number
  readonly host: string
  readonly port: number
  readonly log: (message: string, facts: Record<string, unknown>) => void
  /** Called before the first front starts. `stop` stops all fronts, also those that start, and waits until they have exited. */
  readonly onStop: (stop: () => Promise<void>) => void
}

/** The facts of a front that serves; its process is the key. */
interface Served {
  readonly index: number
  readonly version: string
  readonly begun: number
  readonly restarts: number
}

interface Fronts {
  /** The port that all fronts share. */
  readonly port: number
  /** Metrics of all fronts as one text. */
  metricsText(): Promise<string>
  /** The reason why no front should be sent a request; null if one is ready. */
  unready(): Promise<string | null>
}

/** Delay before a front is restarted, by its number of consecutive exits. The delay grows, so that a failing front does not restart in a loop. */
const RESTART_MS = [0, 100, 500, 2000, 5000]
/** A front that has served this long did not fail at its start. */
const SETTLED_MS = 30_000
const METRICS_MS = 1000
const READY_MS = 1000
/** A front that misses this many checks in a row hangs: its share of the connections would get no answer. */
const MISSED_MAX = 5
const HERE_MS = 2000
const FORGET_MS = 150

/**
 * Runs `processes` fronts on one port, each a whole service, and restarts those that exit or hang, also while others still
 * start. They share only the stores. The first start of each front must succeed; a front writes the reason of a failure to its standard error.
 */
export async function superviseFronts(options: SuperviseOptions): Promise<Fronts> {
  const { processes, host, port, log } = options
  const fronts = new Set<ChildProcess>()
  const served = new Map<ChildProcess, Served>()
  const launched: number[] = []
  const rates = rateAccountsHere(() => performance.now())
  const own = createProcessMetrics(processes, () => served.size)
  const metrics = createFrontMetrics(metricsOf, own.json)
  let stopping = false
  const servedOn = await freePort(host, port)

  /** Starts a front and restarts it after each exit, and after a failed fork. Rejects if it does not come to serve. */
  async function launch(index: number, exits: number): Promise<void> {
    const begun = performance.now()
    const restarts = launched[index] ?? 0
    launched[index] = restarts + 1
    if (restarts > 0) own.restarted()
    let hasServed = restarts > 0
    const startAgain = (message: string, facts: object): void => {
      // A failed first start stops all fronts: see below.
      if (stopping || !hasServed) return
      const again = performance.now() - begun > SETTLED_MS ? 0 : exits + 1
      const waitMs = RESTART_MS[Math.min(again, RESTART_MS.length - 1)] ?? 0
      log(message, { front: index, ...facts, waitMs })
      setTimeout(() => {
        // A front that fails at its start writes the reason to standard error; its exit causes the next try.
        if (!stopping) launch(index, again).catch(() => {})
      }, waitMs)
    }
    const child = await forkFront(options, index, servedOn, fronts).catch((error: Error) => {
      startAgain('a process of the service could not be started: trying again', { why: error.message })
      throw new ExpectedFault(`cannot start a process of the service: ${error.message}`)
    })
    child.on('message', (message: FromFront) => {
      if (message.kind === 'serving') {
        hasServed = true
        served.set(child, { index, version: message.version, begun, restarts })
      }
      void answerFront({ fronts, served, rates, metrics }, child, message)
    })
    child.once('exit', (status, signal) => {
      fronts.delete(child)
      served.delete(child)
      metrics.exited(child)
      startAgain('a process of the service exited: restarting it', { pid: child.pid, status, signal })
    })
    const serving = servingOf(child)
    void killIfHung(child, serving, index, log)
    return serving
  }

  async function stop(): Promise<void> {
    stopping = true
    const gone = [...fronts].map((child) => once(child, 'exit').catch(() => {}))
    for (const child of fronts) child.kill('SIGTERM')
    await Promise.all(gone)
  }

  options.onStop(stop)
  try {
    await Promise.all(Array.from({ length: processes }, (_, i) => launch(i, 0)))
    return { port: servedOn, metricsText: () => metrics.text(fronts), unready: () => unready(fronts) }
  } catch (error) {
    // The fronts were stopped while they started: the caller of `stop` ends the process.
    if (stopping) return await new Promise<never>(() => {})
    await stop()
    throw error
  }
}

/**
 * Adds a new front to `fronts`. The fronts are the workers of a cluster, so that fronts with `node:http` share the port. Each accepts
 * connections itself (`SCHED_NONE`), so it serves while this process hangs. Rejects with the error of the system if that has no process, file
 * descriptor or memory left.
 */
async function forkFront(
  { file, args }: SuperviseOptions,
  index: number,
  port: number,
  fronts: Set<ChildProcess>,
): Promise<ChildProcess> {
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ exec: file, args: [...args], execArgv: [...process.execArgv, ...HEAP_FLAGS] })
  const env = { ...ALLOCATOR, ...process.env, PORT: String(port), KEYSTRIDE_FRONT: String(index) }
  const worker = cluster.fork(env)
  // The listeners of the child process report a failed fork. Without this listener, the error would end this process.
  worker.on('error', () => {})
  const child = worker.process
  fronts.add(child)
  // A child that could not be spawned has the event `error` and no `exit`.
  await once(child, 'spawn').catch((error: unknown) => {
    fronts.delete(child)
    throw error
  })
  return child
}

/** Resolves when the front serves, rejects if it exits before. */
function servingOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on('message', (message: FromFront) => {
      if (message.kind === 'serving') resolve()
    })
    child.once('exit', () =>
      reject(new ExpectedFault('a process of the service did not start: its line above has the reason')),
    )
  })
}

/** Kills a front that hangs once it serves; its exit restarts it. Counts missed checks, not time, because this process may have been frozen, too. */
async function killIfHung(
  child: ChildProcess,
  serving: Promise<void>,
  index: number,
  log: SuperviseOptions['log'],
): Promise<void> {
  await serving.catch(() => {})
  let missed = 0
  while (child.connected) {
    const [answer] = await Promise.all([
      answerOf(child, 'here', (id) => ({ kind: 'are-you-here', id }), HERE_MS),
      delay(HERE_MS, undefined, { ref: false }),
    ])
    missed = answer === null ? missed + 1 : 0
    if (missed < MISSED_MAX || !child.connected) continue
    log('a process of the service hangs: killing it', { front: index, pid: child.pid })
    child.kill('SIGKILL')
    return
  }
}

async function metricsOf(child: ChildProcess): Promise<MetricsJson | null> {
  const found = await answerOf(child, 'metrics', (id) => ({ kind: 'give-metrics', id }), METRICS_MS)
  return found === null ? null : found.metrics
}

async function unready(fronts: ReadonlySet<ChildProcess>): Promise<string | null> {
  const asking = [...fronts].map((child) =>
    answerOf(child, 'readiness', (id) => ({ kind: 'are-you-ready', id }), READY_MS),
  )
  const whys = (await Promise.all(asking)).map((found) => (found === null ? 'no process answers' : found.why))
  return whys.includes(null) ? null : (whys[0] ?? 'no process serves')
}

/** Makes all other fronts forget what `message` names. */
async function forgetElsewhere(
  fronts: ReadonlySet<ChildProcess>,
  changer: ChildProcess,
  message: (id: number) => ToFront,
): Promise<void> {
  const others = [...fronts].filter((child) => child !== changer)
  await Promise.all(others.map((child) => answerOf(child, 'forgotten', message, FORGET_MS)))
}

/** The fronts that serve, in their order. */
const statesOf = (served: ReadonlyMap<ChildProcess, Served>): FrontState[] =>
  [...served.values()]
    .map(({ index, version, begun, restarts }) => {
      const uptimeS = (performance.now() - begun) / 1000
      return { index, version, uptimeS, restarts }
    })
    .sort((a, b) => a.index - b.index)

interface Supervised {
  readonly fronts: ReadonlySet<ChildProcess>
  readonly served: ReadonlyMap<ChildProcess, Served>
  readonly rates: RateAccounts
  readonly metrics: FrontMetrics<ChildProcess>
}

/** Answers a front's request. */
async function answerFront(
  { fronts, served, rates, metrics }: Supervised,
  child: ChildProcess,
  message: FromFront,
): Promise<void> {
  // Without a callback, the error of a message to a front that has just exited would end this process.
  const answer = (to: ToFront) => child.connected && child.send(to, () => {})
  if (message.kind === 'ask-metrics') answer({ kind: 'metrics-text', id: message.id, text: await metrics.text(fronts) })
  if (message.kind === 'ask-processes') answer({ kind: 'processes', id: message.id, processes: statesOf(served) })
  if (message.kind === 'spend-rate') {
    const { id, keyId, spentMs } = message
    answer({ kind: 'rate-spent', id, aheadMs: await rates.spend('', keyId, spentMs) })
  }
  if (message.kind === 'organizations-seen') {
    const { organizations } = message
    for (const other of fronts)
      if (other !== child && other.connected)
        other.send({ kind: 'organizations-elsewhere', id: 0, organizations } satisfies ToFront, () => {})
  }
  if (message.kind === 'settings-changed') {
    const { organizationId } = message
    await forgetElsewhere(fronts, child, (id) => ({ kind: 'forget-settings', id, organizationId }))
    answer({ kind: 'all-forgot', id: message.id })
  }
  if (message.kind === 'person-erased') {
    const { person } = message
    await forgetElsewhere(fronts, child, (id) => ({ kind: 'forget-person', id, person }))
    answer({ kind: 'all-forgot', id: message.id })
  }
}

/** The questions to each front. */
const questions = new WeakMap<ChildProcess, Questions<FromFront>>()

function questionsTo(child: ChildProcess): Questions<FromFront> {
  const known = questions.get(child)
  if (known !== undefined) return known
  const created = createQuestions<FromFront>()
  child.on('message', created.hear)
  questions.set(child, created)
  return created
}

/** Sends a message and resolves with the front's answer; null if none comes in time, or the front has exited. */
const answerOf = <K extends FromFront['kind']>(
  child: ChildProcess,
  kind: K,
  message: (id: number) => ToFront,
  withinMs: number,
): Promise<Extract<FromFront, { kind: K }> | null> =>
  questionsTo(child).ask(
    kind,
    (id, failed) => {
      if (child.connected) child.send(message(id), (error) => error !== null && failed())
      else failed()
    },
    withinMs,
  )

/** Throws if another process has the port. Fronts share theirs, so they might share it with that process without an error. */
async function freePort(host: string, port: number): Promise<number> {
  const probe = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject)
      probe.listen({ host, port, exclusive: true }, resolve)
    })
  } catch {
    throw new ExpectedFault(
      `PORT: cannot listen on ${host}:${port}: another process has it, or HOST is not an address of this machine`,
    )
  }
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  return typeof address === 'object' && address !== null ? address.port : port
}
