import { setTimeout as delay } from 'node:timers/promises'
import { randomFrom } from '../../src/typist/made-up-person.js'
import type { Figures } from './fault.js'
import { inSeededOrder, type SoakDeployment, type SoakFault, soakFaults } from './soak-faults.js'
import { createPeople, type People } from './soak-people.js'
import {
  type Grown,
  type OpenFiles,
  openFiles,
  type Span,
  watchGrowth,
  watchStatus,
  watchStores,
} from './soak-watch.js'
import { type Outcome, steadyLoad } from './steady-load.js'

interface SoakPlan {
  readonly seed: number
  readonly faults: number
  readonly everyMs: number
  /** Start of the measurement of growth, ms. */
  readonly warmUpMs: number
  /** Number of connections. */
  readonly lanes: number
  /** Number of clients that sign in. */
  readonly signers: number
  /** Requests a second. 0: 70 % of the capacity, which is measured at the start and after the warm-up. */
  readonly perSecond: number
  /** Whether a slow recovery is excused as the delay by a loaded machine. */
  readonly lenient: boolean
  /** Reports the progress. */
  readonly say: (line: string) => void
}

/** Duration of a fault, until everything must have recovered. */
export interface Trouble extends Span {
  readonly fault: SoakFault
}

/** The results; times as performance.now(). */
export interface Soaked {
  readonly begun: number
  readonly ended: number
  readonly perSecond: number
  readonly answers: number
  /** Answers with status 500 and above, and missing answers. */
  readonly failures: readonly Outcome[]
  /** Response times of verifies of typing from when they were due, ms, by second since the start. */
  readonly tookMs: readonly (readonly number[])[]
  readonly troubles: readonly Trouble[]
  /** Periods with a queue that the soak itself caused. */
  readonly rushes: readonly Span[]
  /** Periods from a loss of Redis to its empty return. */
  readonly forgotten: readonly Span[]
  /** Periods in which the stores were late for this process too. */
  readonly storesLate: readonly Span[]
  /** Periods in which the disk of the stores was late for this process. */
  readonly diskLate: readonly Span[]
  /** Periods in which the proxies of the mortal process stood still by themselves. */
  readonly linesLate: readonly Span[]
  readonly grown: readonly Grown[]
  /** Open files of the lasting process after the warm-up and at the end. */
  readonly files: readonly [before: OpenFiles, after: OpenFiles]
  readonly people: People
  /** One row for each fault. */
  readonly rows: readonly Figures[]
}

/** Promised recovery of the service after a store or the service is back, ms. */
export const RECOVERY_MS = 2000
const SHARE_OF_CAPACITY = 0.7
const CAPACITY_S = 20
/** Time until the code is compiled, s. */
const COMPILED_S = 20
const ENROLLED_WITHIN_S = 120
/** More concurrent requests than the size of any connection pool. */
const RUSH = 96
const LINGERING_MS = 3000
export const FILES_MAX = 5
/** Connections of a process, by its configuration. */
export const POOL = 10

/** Enrolls people, then runs sign-ins at a steady rate through one fault after the other. */
export async function soak(on: SoakDeployment, plan: SoakPlan): Promise<Soaked> {
  const { seed, faults, everyMs, warmUpMs, lanes, signers, say } = plan
  const random = randomFrom(seed)
  const people = createPeople({ apikey: on.apikey, seed, signers, beset: 2 })
  const heard = createAnswerLog()
  const load = await steadyLoad({ ports: on.ports, lanes, asker: people.choose }, heard.note)
  const running: { stop(): Promise<void> }[] = [load]
  const stopAll = async () => {
    for (const one of running.splice(0)) await one.stop()
  }
  try {
    await load.saturate(ENROLLED_WITHIN_S, people.ready)
    if (!people.ready()) throw new Error('the people were not enrolled in time')
    const rushes: Span[] = []
    let perSecond = plan.perSecond
    /** Measures the capacity and sets the rate to a share of it. */
    const findRate = async () => {
      if (plan.perSecond > 0) return
      const from = performance.now()
      load.rate(0)
      perSecond = SHARE_OF_CAPACITY * (await load.saturate(CAPACITY_S))
      load.rate(perSecond)
      rushes.push({ from, to: performance.now() + RECOVERY_MS })
      say(`${perSecond.toFixed(0)} requests a second`)
    }
    if (plan.perSecond === 0) await load.saturate(COMPILED_S)
    await findRate()
    say(`${faults} faults, seed ${seed}`)
    const files = async () => {
      const from = performance.now()
      // Fills every pool of connections and threads to its maximum under this load.
      await load.rush(RUSH, people.beginner)
      await load.rush(RUSH, people.coder)
      rushes.push({ from, to: performance.now() + RECOVERY_MS })
      return openFiles(on.services[1].process.pid, on.server.port)
    }

    const status = watchStatus(on)
    const stores = await watchStores(on)
    const growth = watchGrowth(on)
    running.push(status, stores, growth)
    let filesBefore = warmUpMs === 0 ? await files() : null
    const begun = heard.begin()
    load.rate(perSecond)
    const troubles: Trouble[] = []
    const rows: Figures[] = []
    const forgotten: Span[] = []
    const planned = plannedFaults(soakFaults(on, random, people.choose), plan, random)
    let lookedAt = 0
    for (const [n, fault] of planned.entries()) {
      await delay(Math.max(RECOVERY_MS, begun + (n + 0.5) * everyMs - performance.now()))
      if (filesBefore === null && performance.now() - begun >= warmUpMs) {
        // Restarted processes and grown tables have less capacity than fresh ones.
        await findRate()
        filesBefore = await files()
      }
      const before = heard.failures.length
      status.slowest()
      const from = performance.now()
      await fault.happen()
      const back = performance.now()
      await status.allOk(back)
      const ok = performance.now()
      const slowest = status.slowest()
      // As in all time figures: a loaded machine delays each turn of the event loop, and a recovery takes a few.
      const promised = back + RECOVERY_MS + 2 * slowest
      troubles.push({ fault, from, to: plan.lenient ? Math.max(promised, ok) : promised })
      if (fault.forgets) forgotten.push({ from, to: back })
      const row = {
        fault: fault.name,
        took: inMs(back - from),
        'OK after': inMs(ok - back),
        'refused or broken': String(heard.failures.length - before),
        'slowest /status': inMs(slowest),
        'least RSS since': `${Math.min(...growth.seen.slice(lookedAt).map(({ rssMiB }) => rssMiB)).toFixed(1)} MiB`,
      }
      lookedAt = growth.seen.length
      rows.push(row)
      say(`${n + 1}/${faults} ${Object.values(row).join(', ')}; ${heard.answers()} answers`)
    }
    await delay(Math.max(RECOVERY_MS, begun + faults * everyMs - performance.now()))
    const ended = performance.now()
    const answers = heard.answers()
    let after = await files()
    const before = filesBefore ?? after
    // Sockets of disconnected clients and replaced connections may remain for a moment.
    for (let tries = 0; tries < 5 && haveGrown(before, after); tries++) {
      await delay(LINGERING_MS)
      after = await files()
    }
    await stopAll()
    return {
      ...{ begun, ended, perSecond, answers, failures: heard.failures, tookMs: heard.tookMs },
      ...{
        troubles,
        rushes,
        forgotten,
        storesLate: stores.late,
        diskLate: stores.diskLate,
        linesLate: stores.stalls,
        grown: growth.seen,
        files: [before, after],
        people,
        rows,
      },
    }
  } finally {
    await stopAll()
  }
}

/** A connection pool varies below its size and never exceeds it, so its connections are not compared. */
export const haveGrown = (before: OpenFiles, after: OpenFiles): boolean =>
  Math.abs(after.others - before.others) > FILES_MAX || after.toDatabase > POOL

/** Keeps failures and response times only: hours have millions of answers. */
function createAnswerLog() {
  const failures: Outcome[] = []
  const tookMs: number[][] = []
  let [answers, begun] = [0, 0]
  return {
    failures,
    tookMs,
    answers: () => answers,
    begin(): number {
      ;[failures.length, tookMs.length, answers, begun] = [0, 0, 0, performance.now()]
      return begun
    },
    note(outcome: Outcome): void {
      answers += 1
      if (outcome.status === 0 || outcome.status >= 500) failures.push(outcome)
      // A security code waits for a hash, which is slow by design.
      if (outcome.what !== 'verify') return
      const second = Math.max(0, Math.floor((outcome.dueAt - begun) / 1000))
      const took = tookMs[second] ?? []
      tookMs[second] = took
      took.push(outcome.at - outcome.dueAt)
    },
  }
}

/**
 * Each round has all kinds of fault. The first third after the warm-up and the last third have the same faults, so that
 * their figures compare.
 */
function plannedFaults<T>(kinds: readonly T[], { faults, warmUpMs, everyMs }: SoakPlan, random: () => number): T[] {
  const order = inSeededOrder(kinds, random)
  const planned = Array.from({ length: faults }, () => order.next().value)
  const warm = Math.ceil(warmUpMs / everyMs)
  const third = Math.floor((faults - warm) / 3)
  return warm === 0 ? planned : [...planned.slice(0, faults - third), ...planned.slice(warm, warm + third)]
}

const inMs = (ms: number) => `${Math.round(ms)} ms`
