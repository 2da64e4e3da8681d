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
import { steadyLoad, type Told } from './steady-load.js'

interface SoakPlan {
  readonly seed: number
  readonly faults: number
  readonly everyMs: number
  /** What grows is looked at from then on. */
  readonly warmUpMs: number
  /** Connections. */
  readonly lanes: number
  /** Who sign in. */
  readonly signers: number
  /** Requests a second; 0: such a share of the capacity, which is measured first and after the warm-up. */
  readonly perSecond: number
  /** What a busy machine adds to a recovery is not held against the service. */
  readonly lenient: boolean
  /** Says how far it is. */
  readonly say: (line: string) => void
}

/** While a fault hurts, and until all has to be well again. */
export interface Trouble extends Span {
  readonly fault: SoakFault
}

/** What was seen; times as performance.now() counts. */
export interface Soaked {
  readonly begun: number
  readonly ended: number
  readonly perSecond: number
  readonly answers: number
  /** Answers of status 500 and above, and those that did not come. */
  readonly failures: readonly Told[]
  /** ms from when each verify of typing was due, by whole seconds since the beginning. */
  readonly tookMs: readonly (readonly number[])[]
  readonly troubles: readonly Trouble[]
  /** When the soak itself made a queue. */
  readonly rushes: readonly Span[]
  /** When Redis went, and came back empty. */
  readonly forgotten: readonly Span[]
  /** When the stores answered late to others, too. */
  readonly storesLate: readonly Span[]
  /** When their disk did, to somebody who is no store. */
  readonly diskLate: readonly Span[]
  /** When the lines of the mortal service stood still by themselves. */
  readonly linesLate: readonly Span[]
  readonly grown: readonly Grown[]
  /** Files of the lasting process, once it was warm and at the end. */
  readonly files: readonly [before: OpenFiles, after: OpenFiles]
  readonly people: People
  /** A row a fault. */
  readonly rows: readonly Figures[]
}

/** What is promised of every store, and of the service itself, once it is there again. */
export const RECOVERY_MS = 2000
const SHARE_OF_CAPACITY = 0.7
const CAPACITY_S = 20
/** Until its code is compiled. */
const COMPILED_S = 20
const ENROLLED_WITHIN_S = 120
/** More at once than any pool of connections is wide. */
const RUSH = 96
const LINGERING_MS = 3000
export const FILES_MAX = 5
/** What a process is configured to hold at the most. */
export const POOL = 10

/** Enrolls people, and lets them sign in at a steady rate through one fault after the other. */
export async function soak(on: SoakDeployment, plan: SoakPlan): Promise<Soaked> {
  const { seed, faults, everyMs, warmUpMs, lanes, signers, say } = plan
  const random = randomFrom(seed)
  const people = createPeople({ apikey: on.apikey, seed, signers, beset: 2 })
  const heard = books()
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
    /** Asks for as much as it can do, and from then on for a share of it. */
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
      // Every pool of connections and of threads is as full as it gets, at the load that there is.
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
        // Restarted processes and grown tables do less than fresh ones.
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
      // As in every figure of time here: what a busy machine adds to one turn, a few times.
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
    // Sockets of clients that went away, and connections that were replaced, may linger for a moment.
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

/** A pool of connections may be less full at one time than at another, never fuller than it is wide. */
export const haveGrown = (before: OpenFiles, after: OpenFiles): boolean =>
  Math.abs(after.others - before.others) > FILES_MAX || after.toDatabase > POOL

/** What of the answers is kept: those of hours are millions. */
function books() {
  const failures: Told[] = []
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
    note(told: Told): void {
      answers += 1
      if (told.status === 0 || told.status >= 500) failures.push(told)
      // A security code waits for a hash, which is slow by design.
      if (told.what !== 'verify') return
      const second = Math.max(0, Math.floor((told.dueAt - begun) / 1000))
      const took = tookMs[second] ?? []
      tookMs[second] = took
      took.push(told.at - told.dueAt)
    },
  }
}

/** All kinds in each round. What is measured of the first third after the warm-up and of the last meets the same ones. */
function plannedFaults<T>(kinds: readonly T[], { faults, warmUpMs, everyMs }: SoakPlan, random: () => number): T[] {
  const order = inSeededOrder(kinds, random)
  const planned = Array.from({ length: faults }, () => order.next().value)
  const warm = Math.ceil(warmUpMs / everyMs)
  const third = Math.floor((faults - warm) / 3)
  return warm === 0 ? planned : [...planned.slice(0, faults - third), ...planned.slice(warm, warm + third)]
}

const inMs = (ms: number) => `${Math.round(ms)} ms`
