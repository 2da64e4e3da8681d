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

/** The parts of a running soak. */
interface Run {
  readonly on: SoakDeployment
  readonly plan: SoakPlan
  readonly people: People
  readonly heard: ReturnType<typeof createAnswerLog>
  readonly load: Awaited<ReturnType<typeof steadyLoad>>
  readonly rushes: Span[]
  perSecond: number
}

interface Watches {
  readonly status: ReturnType<typeof watchStatus>
  readonly growth: ReturnType<typeof watchGrowth>
}

/** Enrolls people, then runs sign-ins at a steady rate through one fault after the other. */
export async function soak(on: SoakDeployment, plan: SoakPlan): Promise<Soaked> {
  const { seed, faults, everyMs, warmUpMs, lanes, signers, say } = plan
  const people = createPeople({ apikey: on.apikey, seed, signers, beset: 2 })
  const heard = createAnswerLog()
  const load = await steadyLoad({ ports: on.ports, lanes, asker: people.choose }, heard.note)
  const running: { stop(): Promise<void> }[] = [load]
  const stopAll = async () => {
    for (const one of running.splice(0)) await one.stop()
  }
  const run: Run = { on, plan, people, heard, load, rushes: [], perSecond: plan.perSecond }
  try {
    await load.saturate(ENROLLED_WITHIN_S, people.ready)
    if (!people.ready()) throw new Error('the people were not enrolled in time')
    if (plan.perSecond === 0) await load.saturate(COMPILED_S)
    await findRate(run)
    say(`${faults} faults, seed ${seed}`)

    const status = watchStatus(on)
    const stores = await watchStores(on)
    const growth = watchGrowth(on)
    running.push(status, stores, growth)
    const filesAtStart = warmUpMs === 0 ? await filesInRush(run) : null
    const begun = heard.begin()
    load.rate(run.perSecond)
    const injected = await injectFaults(run, { status, growth }, begun, filesAtStart)
    await delay(Math.max(RECOVERY_MS, begun + faults * everyMs - performance.now()))
    const ended = performance.now()
    const answers = heard.answers()
    const files = await filesAtEnd(run, injected.filesBefore)
    await stopAll()
    const { troubles, forgotten, rows } = injected
    return {
      ...{ begun, ended, perSecond: run.perSecond, answers, failures: heard.failures, tookMs: heard.tookMs },
      ...{ troubles, rushes: run.rushes, forgotten },
      ...{ storesLate: stores.late, diskLate: stores.diskLate, linesLate: stores.stalls },
      ...{ grown: growth.seen, files, people, rows },
    }
  } finally {
    await stopAll()
  }
}

/** Measures the capacity and sets the rate to a share of it, unless the plan sets the rate. */
async function findRate(run: Run): Promise<void> {
  const { plan, load, rushes } = run
  if (plan.perSecond > 0) return
  const from = performance.now()
  load.rate(0)
  run.perSecond = SHARE_OF_CAPACITY * (await load.saturate(CAPACITY_S))
  load.rate(run.perSecond)
  rushes.push({ from, to: performance.now() + RECOVERY_MS })
  plan.say(`${run.perSecond.toFixed(0)} requests a second`)
}

/** The open files of the lasting process while every pool of connections and threads is full. */
async function filesInRush({ on, people, load, rushes }: Run): Promise<OpenFiles> {
  const from = performance.now()
  await load.rush(RUSH, people.beginner)
  await load.rush(RUSH, people.coder)
  rushes.push({ from, to: performance.now() + RECOVERY_MS })
  return openFiles(on.services[1].process.pid, on.server.port)
}

/** Open files after the warm-up (`before`, null without one) and at the end. */
async function filesAtEnd(run: Run, before: OpenFiles | null): Promise<Soaked['files']> {
  let after = await filesInRush(run)
  const first = before ?? after
  // Sockets of disconnected clients and replaced connections may remain for a moment.
  for (let tries = 0; tries < 5 && haveGrown(first, after); tries++) {
    await delay(LINGERING_MS)
    after = await filesInRush(run)
  }
  return [first, after]
}

/** Injects all faults of the plan; measures the rate and the open files again after the warm-up. */
async function injectFaults(run: Run, watches: Watches, begun: number, filesAtStart: OpenFiles | null) {
  const { on, plan, people, heard } = run
  const { faults, everyMs, warmUpMs, say } = plan
  const random = randomFrom(plan.seed)
  const troubles: Trouble[] = []
  const rows: Figures[] = []
  const forgotten: Span[] = []
  let filesBefore = filesAtStart
  let lookedAt = 0
  for (const [n, fault] of plannedFaults(soakFaults(on, random, people.choose), plan, random).entries()) {
    await delay(Math.max(RECOVERY_MS, begun + (n + 0.5) * everyMs - performance.now()))
    if (filesBefore === null && performance.now() - begun >= warmUpMs) {
      // Restarted processes and grown tables have less capacity than fresh ones.
      await findRate(run)
      filesBefore = await filesInRush(run)
    }
    const { trouble, back, row } = await injectOne(run, watches, fault)
    troubles.push(trouble)
    if (fault.forgets) forgotten.push({ from: trouble.from, to: back })
    const { seen } = watches.growth
    row['least RSS since'] = `${Math.min(...seen.slice(lookedAt).map(({ rssMiB }) => rssMiB)).toFixed(1)} MiB`
    lookedAt = seen.length
    rows.push(row)
    say(`${n + 1}/${faults} ${Object.values(row).join(', ')}; ${heard.answers()} answers`)
  }
  return { troubles, rows, forgotten, filesBefore }
}

/** Injects one fault and waits until every service is OK. `back`: when everything that it affected was back. */
async function injectOne({ plan, heard }: Run, { status }: Watches, fault: SoakFault) {
  const before = heard.failures.length
  status.slowest()
  const from = performance.now()
  await fault.happen()
  const back = performance.now()
  const other = await status.allOk(back)
  const ok = performance.now()
  const slowest = status.slowest()
  // As in all time figures: a loaded machine delays each turn of the event loop, and a recovery takes a few.
  const promised = back + RECOVERY_MS + 2 * slowest
  const trouble: Trouble = { fault, from, to: plan.lenient ? Math.max(promised, ok) : promised }
  const row: Figures = {
    fault: fault.name,
    took: inMs(back - from),
    'OK after': inMs(ok - back),
    'until then': other,
    'refused or broken': String(heard.failures.length - before),
    'slowest /status': inMs(slowest),
  }
  return { trouble, back, row }
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
