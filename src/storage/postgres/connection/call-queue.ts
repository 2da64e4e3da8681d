import { startBeats } from '../../../base/beats.js'
import { createUnorderedList, type Listed, type UnorderedList } from '../../../base/unordered-list.js'
import { degraded } from './errors.js'
import { createSilenceDetector, SILENCE_MS, type SilenceDetector } from './silence-detector.js'

const BEAT_MS = 25
/** A call is refused after this if it waits for a lock or in a queue while others are served; a statement may take 1 s of it. */
const PATIENCE_MS = 1200
/** A connection that works on one call for this long counts as dead: it exceeds the time-outs of two statements. */
const STUCK_MS = 2400
/** Calls that may wait per connection; more are refused at once. No measurement behind it. */
const WAITING_PER_CONNECTION = 64

/** One call to the database, as its work sees it. */
export interface DatabaseCall {
  /** Whether the caller has been refused; nothing more of the call may then be sent or committed. */
  expired(): boolean
  /** Waits for one exchange with the server, which shows that the server answers. */
  exchange<T>(answer: PromiseLike<T>): Promise<T>
}

export interface CallOptions {
  /** A probe only tests whether the server answers. It never waits for a connection and is never refused at once. */
  readonly probe?: boolean
  /** Milliseconds the call may take; 1,200 by default. */
  readonly patienceMs?: number
  /** A read that may take long. Slow calls together take at most a third of the connections. */
  readonly slow?: boolean
}

/** Admits calls to a pool of connections, queues them, and refuses them while the database is silent. `P` is a pool. */
export interface CallQueue<P> {
  /**
   * Runs `work` on the pool. Rejects as `work` does, or with `Refusal('degraded')` if the call is refused at once, waits too
   * long, or the database falls silent; `work` then continues unobserved until it sees that its call has expired.
   */
  run<T>(work: (pool: P, call: DatabaseCall) => Promise<T>, options?: CallOptions): Promise<T>
  /** Replaces a broken pool for all calls that begin from now on. */
  replace(broken: P): void
  current(): P
  stop(): void
}

interface Needs<P> {
  /** Number of concurrent calls without probes; a pool needs one more connection. */
  readonly width: number
  readonly open: () => P
  /** Ends a replaced pool. */
  readonly retire: (pool: P) => void
  /** Sends a probe through `run` and handles its failure. */
  readonly probe: () => void
  /** Called with the time that a call waited for a connection, ms. */
  readonly waited?: (ms: number) => void
  /** STORE_PATIENCE, by which all limits are multiplied. */
  readonly patience?: number
}

interface Pool<P> {
  readonly value: P
  free: number
  /** Connections that slow calls may take. */
  freeForSlow: number
}

interface QueuedCall<P> extends DatabaseCall, Listed {
  readonly probe: boolean
  readonly slow: boolean
  readonly askedAt: number
  readonly patienceMs: number
  /** When the call began to wait (`performance.now()`), more exact than `askedAt`; 0 if it did not wait. */
  waitsSince: number
  /** Null while the call waits. */
  pool: Pool<P> | null
  startedAt: number
  refused: boolean
  readonly work: (pool: P, call: DatabaseCall) => Promise<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

interface QueueState<P> {
  readonly needs: Needs<P>
  readonly beats: ReturnType<typeof startBeats>
  /** Unfinished calls. */
  readonly calls: UnorderedList<QueuedCall<P>>
  readonly silence: SilenceDetector
  pool: Pool<P>
  waiting: QueuedCall<P>[]
}

export function createCallQueue<P>(needs: Needs<P>): CallQueue<P> {
  const state: QueueState<P> = {
    needs,
    beats: startBeats(BEAT_MS, needs.patience ?? 1, () => check(state)),
    calls: createUnorderedList(),
    pool: openPool(needs),
    waiting: [],
    silence: createSilenceDetector(needs.probe),
  }
  return {
    run: (work, options) => run(state, work, options),
    replace: (broken) => replace(state, broken),
    current: () => state.pool.value,
    stop: state.beats.stop,
  }
}

const openPool = <P>({ width, open }: Needs<P>): Pool<P> => ({
  value: open(),
  free: width,
  freeForSlow: Math.max(1, Math.floor(width / 3)),
})

/** Whether a connection is free for the call. A refused call takes none. */
const mayBegin = <P>({ pool }: QueueState<P>, { slow, refused }: QueuedCall<P>): boolean =>
  refused || (pool.free > 0 && (!slow || pool.freeForSlow > 0))

function run<P, T>(
  state: QueueState<P>,
  work: (pool: P, call: DatabaseCall) => Promise<T>,
  { probe = false, patienceMs = PATIENCE_MS, slow = false }: CallOptions = {},
): Promise<T> {
  if (!probe && state.silence.silent()) return Promise.reject(degraded('the database does not answer'))
  if (!probe && state.waiting.length >= state.needs.width * WAITING_PER_CONNECTION)
    return Promise.reject(degraded('too many calls wait for the database'))
  return new Promise<T>((resolve, reject) => {
    const call: QueuedCall<P> = {
      listIndex: -1,
      probe,
      slow,
      askedAt: state.beats.now(),
      patienceMs,
      waitsSince: 0,
      pool: null,
      startedAt: 0,
      refused: false,
      work,
      // Sound: the result is of this `work`.
      resolve: resolve as (result: unknown) => void,
      reject,
      expired: () => call.refused,
      async exchange(answer) {
        const sentAt = state.beats.now()
        const got = await answer
        state.silence.answered(sentAt, state.beats.now(), probe)
        return got
      },
    }
    state.beats.wake()
    state.calls.add(call)
    if (probe || mayBegin(state, call)) begin(state, call, state.pool)
    else {
      call.waitsSince = performance.now()
      state.waiting.push(call)
    }
  })
}

function begin<P>(state: QueueState<P>, call: QueuedCall<P>, pool: Pool<P>): void {
  call.startedAt = state.beats.now()
  call.pool = pool
  take(pool, call, 1)
  call.work(pool.value, call).then(
    (result) => {
      end(state, call, pool)
      call.resolve(result)
    },
    (error: unknown) => {
      end(state, call, pool)
      call.reject(error)
    },
  )
}

/** Takes `n` connections for the call, or gives one back (-1). A probe has a connection of its own. */
function take<P>(pool: Pool<P>, { probe, slow }: QueuedCall<P>, n: 1 | -1): void {
  if (probe) return
  pool.free -= n
  if (slow) pool.freeForSlow -= n
}

function end<P>(state: QueueState<P>, call: QueuedCall<P>, pool: Pool<P>): void {
  state.calls.delete(call)
  take(pool, call, -1)
  beginWaiting(state)
  if (state.calls.items.length === 0) state.beats.rest()
}

function beginWaiting<P>(state: QueueState<P>): void {
  for (;;) {
    const next = state.waiting.findIndex((call) => mayBegin(state, call))
    const [call] = next === -1 ? [] : state.waiting.splice(next, 1)
    if (call === undefined) return
    if (call.refused) continue
    state.needs.waited?.(performance.now() - call.waitsSince)
    begin(state, call, state.pool)
  }
}

function refuse<P>(state: QueueState<P>, call: QueuedCall<P>, why: string): void {
  call.refused = true
  if (call.pool === null) state.calls.delete(call)
  call.reject(degraded(why))
}

function replace<P>(state: QueueState<P>, broken: P): void {
  if (broken !== state.pool.value) return
  state.pool = openPool(state.needs)
  state.needs.retire(broken)
  beginWaiting(state)
}

/** Called with each beat. Checks for silence, refuses late calls and replaces a stuck pool. False if no call is left. */
function check<P>(state: QueueState<P>): boolean {
  const now = state.beats.now()
  const running = state.calls.items.filter((call) => call.pool === state.pool)
  const longestMs = Math.max(0, ...running.map(({ startedAt }) => now - startedAt))
  state.silence.check({ now, longestMs, isProbed: running.some(({ probe, refused }) => probe && !refused) })
  refuseLate(state, now)
  if (running.some((call) => now - call.startedAt >= Math.max(STUCK_MS, 2 * call.patienceMs)))
    replace(state, state.pool.value)
  return state.calls.items.length > 0
}

function refuseLate<P>(state: QueueState<P>, now: number): void {
  for (const call of [...state.calls.items]) {
    const age = now - call.askedAt
    if (age < SILENCE_MS || call.refused) continue
    if (state.silence.silent()) refuse(state, call, 'the database does not answer')
    else if (age >= call.patienceMs) refuse(state, call, 'the database is too busy')
  }
  state.waiting = state.waiting.filter((call) => !call.refused)
}
