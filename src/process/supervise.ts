import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { ExpectedFault } from '../domain/expected-fault.js'
import { metricsTogether } from '../http/metrics.js'
import { rateAccountsHere } from '../storage/rate-account.js'
import type { FromFront, ToFront } from './front.js'
import { ALLOCATOR, HEAP_FLAGS } from './heap.js'

interface SuperviseOptions {
  /** What a front runs: the file that started this process. */
  readonly file: string
  /** What it was given: an installed package runs the command line with `serve`. */
  readonly args: readonly string[]
  readonly processes: number
  readonly host: string
  readonly port: number
  readonly log: (message: string, facts: Record<string, unknown>) => void
}

interface Fronts {
  /** Where all of them serve. */
  readonly port: number
  /** Metrics of all fronts as one text. */
  metricsText(): Promise<string>
  /** Why none of them should be sent a request; null where one should. */
  unready(): Promise<string | null>
  /** Asks all to stop and waits until they are gone. */
  stop(): Promise<void>
}

/** How long until a front that died is started again: at once at first, then ever later, so that none spins. */
const RESTART_MS = [0, 100, 500, 2000, 5000]
/** A front that has served this long did not die of its start. */
const SETTLED_MS = 30_000
const METRICS_MS = 1000
const READY_MS = 1000
/** A front that has not answered so many times in a row hangs: its share of the connections waits for nothing. */
const UNHEARD_MAX = 5
const HERE_MS = 2000
const FORGET_MS = 150

/**
 * Runs `processes` fronts on one port, each a whole service, and starts again those that die or hang. They share
 * nothing but the stores. The first start of each must succeed; the reason is on its standard error.
 */
export async function superviseFronts({ file, args, processes, host, port, log }: SuperviseOptions): Promise<Fronts> {
  const fronts = new Set<ChildProcess>()
  const rates = rateAccountsHere(() => performance.now())
  let stopping = false
  let up = false
  const servedOn = await freePort(host, port)

  function launch(index: number, deaths: number): Promise<void> {
    const env = { ...ALLOCATOR, ...process.env, PORT: String(servedOn), KEYSTRIDE_FRONT: String(index) }
    const child = fork(file, args, { env, execArgv: [...process.execArgv, ...HEAP_FLAGS] })
    const begun = performance.now()
    fronts.add(child)
    child.on('message', (message: FromFront) => void hear(child, message))
    const serving = new Promise<void>((resolve, reject) => {
      child.on('message', (message: FromFront) => {
        if (message.kind === 'serving') resolve()
      })
      child.once('exit', () =>
        reject(new ExpectedFault('a process of the service did not start: its own line above says why')),
      )
    })
    serving.then(
      () => watch(child, index),
      () => {},
    )
    child.once('exit', (status, signal) => {
      fronts.delete(child)
      if (stopping || !up) return
      const again = performance.now() - begun > SETTLED_MS ? 0 : deaths + 1
      const waitMs = RESTART_MS[Math.min(again, RESTART_MS.length - 1)] ?? 0
      log('a process of the service died: starting it again', { front: index, pid: child.pid, status, signal, waitMs })
      setTimeout(() => {
        // Its own standard error says why it does not start; the next try comes from its exit.
        if (!stopping) launch(index, again).catch(() => {})
      }, waitMs)
    })
    return serving
  }

  /** Kills a front that hangs, which is then started again. Counts turns, not time: this process may have been frozen too. */
  async function watch(child: ChildProcess, index: number): Promise<void> {
    let unheard = 0
    while (child.connected) {
      const [answer] = await Promise.all([
        answerOf(child, 'here', (id) => ({ kind: 'are-you-here', id }), HERE_MS),
        delay(HERE_MS, undefined, { ref: false }),
      ])
      unheard = answer === null ? unheard + 1 : 0
      if (unheard < UNHEARD_MAX || !child.connected) continue
      log('a process of the service hangs: killing it', { front: index, pid: child.pid })
      child.kill('SIGKILL')
      return
    }
  }

  /** Metrics of all fronts as one text: which of them a scrape reaches is chance. */
  async function metricsText(): Promise<string> {
    const asking = [...fronts].map((child) =>
      answerOf(child, 'metrics', (id) => ({ kind: 'give-metrics', id }), METRICS_MS),
    )
    return metricsTogether((await Promise.all(asking)).flatMap((found) => (found === null ? [] : [found.metrics])))
  }

  async function unready(): Promise<string | null> {
    const asking = [...fronts].map((child) =>
      answerOf(child, 'readiness', (id) => ({ kind: 'are-you-ready', id }), READY_MS),
    )
    const whys = (await Promise.all(asking)).map((found) => (found === null ? 'no process answers' : found.why))
    return whys.includes(null) ? null : (whys[0] ?? 'no process serves')
  }

  async function forgetElsewhere(changer: ChildProcess, organizationId: string): Promise<void> {
    const others = [...fronts].filter((child) => child !== changer)
    await Promise.all(
      others.map((child) =>
        answerOf(child, 'forgotten', (id) => ({ kind: 'forget-settings', id, organizationId }), FORGET_MS),
      ),
    )
  }

  async function hear(child: ChildProcess, message: FromFront): Promise<void> {
    const answer = (to: ToFront) => child.connected && child.send(to)
    if (message.kind === 'ask-metrics') answer({ kind: 'metrics-text', id: message.id, text: await metricsText() })
    if (message.kind === 'spend-rate') {
      const { id, keyId, spentMs } = message
      answer({ kind: 'rate-spent', id, aheadMs: await rates.spend('', keyId, spentMs) })
    }
    if (message.kind === 'settings-changed') {
      await forgetElsewhere(child, message.organizationId)
      answer({ kind: 'all-forgot', id: message.id })
    }
  }

  const stop = async (): Promise<void> => {
    stopping = true
    const gone = [...fronts].map((child) => once(child, 'exit'))
    for (const child of fronts) child.kill('SIGTERM')
    await Promise.all(gone)
  }

  try {
    await Promise.all(Array.from({ length: processes }, (_, i) => launch(i, 0)))
    up = true
    return { port: servedOn, metricsText, unready, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

let asked = 0

/** What a front answers to a message of that id; null where it is too busy, or gone. */
function answerOf<K extends FromFront['kind']>(
  child: ChildProcess,
  kind: K,
  message: (id: number) => ToFront,
  withinMs: number,
): Promise<Extract<FromFront, { kind: K }> | null> {
  const id = asked++
  return new Promise((resolve) => {
    const done = (found: Extract<FromFront, { kind: K }> | null): void => {
      clearTimeout(late)
      child.off('message', hear)
      resolve(found)
    }
    const hear = (answer: FromFront): void => {
      // Sound: a message of this kind is what is looked for.
      if (answer.kind === kind && 'id' in answer && answer.id === id) done(answer as Extract<FromFront, { kind: K }>)
    }
    const late = setTimeout(() => done(null), withinMs)
    child.on('message', hear)
    if (child.connected) child.send(message(id))
    else done(null)
  })
}

/** Fronts share their port with whoever asks for it: that somebody else has it already must be found out before. */
async function freePort(host: string, port: number): Promise<number> {
  const probe = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject)
      probe.listen({ host, port, exclusive: true }, resolve)
    })
  } catch {
    throw new ExpectedFault(
      `PORT: cannot listen on ${host}:${port}: another process has it, or HOST is no address of this machine`,
    )
  }
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  return typeof address === 'object' && address !== null ? address.port : port
}
