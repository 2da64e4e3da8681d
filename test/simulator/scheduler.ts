import { Refusal } from '../../src/domain/refusal.js'
import type { Journal } from './journal.js'
import type { Immediate } from './stores/tables.js'

interface Call {
  readonly process: number
  readonly name: string
  readonly args: readonly unknown[]
  readonly work: () => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

type Fate = 'answered' | 'refused' | 'timed out' | 'timed out, done' | 'timed out, late' | 'lost' | 'lost, done'

export interface Random {
  /** In [0, 1). */
  next(): number
  /** A whole number below `n`. */
  below(n: number): number
  chance(share: number): boolean
  pick<T>(items: readonly T[]): T
}

export const randomOn = (next: () => number): Random => ({
  next,
  below: (n) => Math.floor(next() * n),
  chance: (share) => next() < share,
  pick: (items) => items[Math.floor(next() * items.length)] as (typeof items)[number], // Sound: the list is not empty.
})

/** Most steps between the timeout of a call and its late execution. */
const LATE_MAX = 60
/** Longest answer of a store, ms; each step advances the simulated clock by less than this. */
const STEP_MS_MAX = 20

const timedOut = () => new Refusal('degraded', 'try again later: the store does not answer', 1)

/** Decides the fate of a store call at each await. */
export function createScheduler(random: Random, journal: Pick<Journal, 'log'>) {
  let now = 1_800_000_000_000
  let calls: Call[] = []
  const late: { readonly due: number; readonly call: Call }[] = []
  let step = 0

  const tell = ({ process, name, args }: Call, fate: Fate | 'done late') =>
    journal.log(step, now, { process, what: name, fate, args })
  /** Executes the call without an answer to its caller. */
  const alone = (call: Call) => {
    try {
      call.work()
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
    }
  }
  const take = (at: number): Call => {
    const call = calls[at] as Call // Sound: callers draw an index below calls.length.
    calls[at] = calls.at(-1) as Call
    calls.pop()
    return call
  }
  const answer = (call: Call) => {
    try {
      const value = call.work()
      tell(call, 'answered')
      call.resolve(value)
    } catch (error) {
      tell(call, 'refused')
      call.reject(error)
    }
  }
  const giveUp = (call: Call) => {
    const way = random.below(3)
    tell(call, way === 0 ? 'timed out' : way === 1 ? 'timed out, done' : 'timed out, late')
    if (way === 1) alone(call)
    if (way === 2) late.push({ due: step + 1 + random.below(LATE_MAX), call })
    call.reject(timedOut())
  }

  return {
    now: () => now,
    step: () => step,
    begin() {
      step++
      now += random.below(STEP_MS_MAX)
    },
    leap(ms: number) {
      now += ms
    },
    waiting: () => calls.length,
    /** The methods of a store as one process calls them. */
    through<Store extends object>(process: number, name: string, store: Immediate<Store>): Store {
      const methods = Object.entries(store).map(([method, work]) => [
        method,
        typeof work !== 'function'
          ? work
          : (...args: unknown[]) =>
              new Promise((resolve, reject) => {
                calls.push({ process, name: `${name}.${method}`, args, work: () => work(...args), resolve, reject })
              }),
      ])
      // Sound: each method has the same name and arguments and answers later.
      return Object.fromEntries(methods) as Store
    },
    /** Executes a call whose timeout has passed and whose late step is due; false if none. */
    lateOne(): boolean {
      const at = late.findIndex(({ due }) => due <= step)
      const [one] = at < 0 ? [] : late.splice(at, 1)
      if (one === undefined) return false
      tell(one.call, 'done late')
      alone(one.call)
      return true
    },
    /** Answers one waiting call, or lets it time out. */
    deliver(timeOut: number) {
      const call = take(random.below(calls.length))
      if (random.chance(timeOut)) giveUp(call)
      else answer(call)
    },
    /** Drops the calls of a dead process; half of them are executed without an answer. */
    lose(process: number) {
      const its = calls.filter((call) => call.process === process)
      calls = calls.filter((call) => call.process !== process)
      while (its.length > 0) {
        const [call] = its.splice(random.below(its.length), 1)
        if (call === undefined) break
        const done = random.chance(0.5)
        tell(call, done ? 'lost, done' : 'lost')
        if (done) alone(call)
      }
    },
  }
}
export type Scheduler = ReturnType<typeof createScheduler>
