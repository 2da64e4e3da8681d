import { seededRandom } from '../../src/calibration/random.js'
import { createClients } from './client-calls.js'
import type { Invariant, Violation } from './invariants.js'
import { createJournal, type Journal } from './journal.js'
import type { Request } from './request.js'
import { createScheduler, type Random, randomOn, type Scheduler } from './scheduler.js'
import { openWorld, type Planted, type World } from './world.js'

/** Probability of each fault in a step. */
interface Faults {
  /** A process dies and loses its caches; some of its calls have been executed. */
  readonly crash: number
  /** A store call times out: it is not executed, is executed, or is executed late. */
  readonly timeOut: number
  /** The session store loses its data. */
  readonly flush: number
}

export interface Settings {
  readonly seed: number
  readonly steps: number
  readonly planted?: Planted
  /** The only invariant that is checked; all if absent. */
  readonly only?: Invariant
}

export interface Outcome {
  readonly seed: number
  readonly steps: number
  readonly violation: Violation | null
  /** The latest events, oldest first; empty without a violation. */
  readonly last: readonly string[]
  /** Number of calls answered by kind, refusals by kind, faults and states. */
  readonly counts: ReadonlyMap<string, number>
}

const PROCESSES = 2
/** Number of steps between two changes of mood, and between two audits. */
const MOOD_STEPS = 400

/**
 * Plays one seed until an invariant is violated or the steps are over. A step is one decision of the scheduler: a
 * store's answer, a fault or a new call. The same settings give the same run on every machine.
 */
export async function simulate({ seed, steps, planted, only }: Settings): Promise<Outcome> {
  const random = randomOn(seededRandom(seed))
  const weather = weatherOf(random)
  const journal = createJournal()
  const scheduler = createScheduler(random, journal)
  let violation: Violation | null = null
  const violated = (found: Violation) => {
    if (only === undefined || found.invariant === only) violation ??= found
  }
  const world = openWorld({ random, scheduler, journal, planted, inDatabase: weather.inDatabase, violated })
  const service = serve({ random, scheduler, journal, world, violated, ...weather })
  await inTurns(() => {
    world.oracle.onStep()
    if (scheduler.step() >= steps || violation !== null) return false
    scheduler.begin()
    if (scheduler.step() % MOOD_STEPS === 1) {
      service.turn()
      world.oracle.audit()
    }
    service.act()
    return true
  })
  if (violation === null) world.oracle.audit()
  const last = violation === null ? [] : journal.last()
  return { seed, steps: scheduler.step(), violation, last, counts: journal.counts }
}

interface Weather {
  readonly faults: Faults
  /** Most concurrent calls. */
  readonly atOnce: number
  readonly inDatabase: boolean
}

function weatherOf(random: Random): Weather {
  // One seed in four meets no fault, and so reaches deeper states.
  const level = random.pick([0, 0.5, 1, 3])
  return {
    atOnce: 1 + random.below(8),
    faults: { crash: 0.002 * level, timeOut: 0.02 * level, flush: 0.001 * level },
    inDatabase: random.chance(0.3),
  }
}

interface Parts extends Weather {
  readonly random: Random
  readonly scheduler: Scheduler
  readonly journal: Journal
  readonly world: World
  readonly violated: (violation: Violation) => void
}

/** The processes, their concurrent calls and the faults that hit them. */
function serve({ random, scheduler, journal, world, violated, faults, atOnce, inDatabase }: Parts) {
  const { oracle, tables, codeOf } = world
  const processes = Array.from({ length: PROCESSES }, (_, process) => world.start(process))
  const clients = createClients({ random, scheduler, tables, codeOf })
  const underWay = new Set<Request>()
  const tell = (process: number, what: string, fate = '', ...args: unknown[]) =>
    journal.log(scheduler.step(), scheduler.now(), { process, what, fate, args })

  function answered(request: Request, answer: { sessionToken?: string; action?: string }): void {
    journal.count(request.kind)
    tell(request.process, request.kind, 'answer', answer)
    if (answer.action === 'refused') clients.usedUp(request)
    if (answer.sessionToken !== undefined) oracle.given(answer.sessionToken, request)
    oracle.answered(request, answer)
  }
  function refused(request: Request, error: unknown): void {
    const { kind = 'bug', message } = error as { kind?: string; message?: string }
    journal.count(kind)
    tell(request.process, request.kind, 'no', message)
    clients.missed(request, kind)
    oracle.refused(request, error)
  }
  function begin(): void {
    const pauseMs = clients.pause()
    if (pauseMs > 0) {
      scheduler.leap(pauseMs)
      return
    }
    const request = clients.next(PROCESSES)
    const flows = processes[request?.process ?? 0]
    if (request === null || flows === undefined) return
    underWay.add(request)
    oracle.began(request)
    tell(request.process, request.kind, 'begins', request.who, request.token, request.code)
    request
      .run(flows)
      .then(
        (answer) => answered(request, answer),
        (error: unknown) => refused(request, error),
      )
      .catch((error: unknown) =>
        violated({ invariant: 'bug', found: `the simulation itself failed: ${(error as Error).stack}` }),
      )
      .finally(() => underWay.delete(request))
  }
  /** Drops the calls of a process. */
  function lose(process: number): void {
    scheduler.lose(process)
    for (const request of underWay) if (request.process === process) underWay.delete(request)
  }
  function crash(process: number): void {
    tell(process, 'the process dies')
    lose(process)
    processes[process] = world.start(process)
  }
  /** The death of the database also drops all concurrent calls: nothing is judged while it is down. */
  function flush(): void {
    tell(-1, inDatabase ? 'the database dies' : 'the sessions are flushed')
    if (inDatabase) for (let process = 0; process < PROCESSES; process++) lose(process)
    world.loseSessions()
    oracle.sessionsLost()
  }

  return {
    /** Changes the mood. */
    turn: clients.turn,
    act(): void {
      if (scheduler.lateOne()) return
      const roll = random.next()
      const room = underWay.size < atOnce
      if (roll < faults.crash) crash(random.below(PROCESSES))
      else if (roll < faults.crash + faults.flush) flush()
      else if (room && (scheduler.waiting() === 0 || random.chance(0.2))) begin()
      else if (scheduler.waiting() > 0) scheduler.deliver(faults.timeOut)
    },
  }
}

/** Steps between two turns of the event loop, which let other work run. */
const STEPS_A_TURN = 500

/**
 * Takes steps until `step` returns false. Each step begins when everything that the step before started waits for a
 * store: `nextTick` within a microtask runs when no microtask is left. That costs a tenth of a turn of the event loop.
 */
function inTurns(step: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let taken = 0
    const take = () => {
      try {
        if (!step()) return resolve()
      } catch (error) {
        return reject(error)
      }
      if (++taken % STEPS_A_TURN === 0) setImmediate(take)
      else void Promise.resolve().then(() => process.nextTick(take))
    }
    take()
  })
}
