import { type LaneState, REST, type Waiter } from './lanes.js'

/**
 * Fair shares between organizations by start-time fair queueing. The cost of a request is the time for which it holds its slot,
 * which includes its scoring, database and processor time. It is charged when the request, or its slice, ends. While several
 * organizations are present, the expected time of an organization's requests in progress is bounded, and requests beyond the bound
 * wait. The organization that has spent least begins next. An organization that was idle starts at the level of the others, and
 * accumulates no credit. An organization that is alone has no bound.
 */

/** An organization counts as present this long after a request: about as long as people take between two requests of a sign-in. */
const PRESENT_MS = 10_000
/**
 * Bound on the expected time of the requests in progress of one organization, or of all with waiting requests together, ms: one or
 * two verifies, six bootstraps, or one read of the dashboard. A request of another organization waits for at most that work. With
 * this bound and the rests, p50 and p99 of a verify were 1.7 and 2.1 times those on a quiet service under a flood of verifies, and
 * 1.5 and 2.8 times under reads of 500 sign-ins. With 16 ms, p99 was 3.4 times as long; with 8 ms, the flooder had 0.84 of its verifies.
 */
const SHARE_MS = 12
/**
 * The bound grows by `SHARE_MS` per this time since the latest request of another organization. If such requests are rare, their
 * waits matter less than throughput.
 */
const GROWTH_MS = 1000
/** Maximum number of organizations with a state (1 MB); beyond it, idle ones are dropped. */
const KEPT_MAX = 1000
/** Weight of a request in the average duration of its lane, and of its organization's requests of the lane. */
const NEW_WEIGHT = 1 / 16

/** One organization of those that share the process. Lists by lane have the lane's priority as index. */
export interface Sharer {
  /** Empty for requests without a key, whose organization is unknown. Only their lane bounds them. */
  readonly id: string
  /** Number of the organization's requests in progress. */
  atOnce: number
  readonly atOnceOf: number[]
  /** Moving average of the duration of the organization's requests, ms. */
  readonly tookMs: number[]
  /** Time for which the organization's requests have held slots, ms. */
  spentMs: number
  /** No request of the organization begins earlier. */
  restsUntil: number
  /** No request of the organization in a lane with a longer rest begins earlier. */
  longRestsUntil: number
  waiting: number
  readonly queues: readonly Waiter[][]
  /** Index of the organization's database, as it was when the organization had no request in progress; null if unknown. */
  database: number | null
}

/** Several databases, none of which may take every slot of the process by being slow. */
interface Databases {
  readonly of: (organization: string) => number | null
  /** Largest number of requests in progress whose organizations are in one database. */
  readonly atOnceMax: number
  /** Requests in progress by database. */
  readonly atOnce: number[]
}

/** The organizations that share one process. */
export interface Sharers {
  readonly lanes: readonly LaneState[]
  /** Null with one database. */
  readonly databases: Databases | null
  readonly all: Map<string, Sharer>
  /** The organizations with waiting requests. */
  backlogged: readonly Sharer[]
  /** Largest `spentMs` of an organization when one of its requests began, ms. */
  levelMs: number
  /** The latest organization seen, its time, and the time of the latest other one. */
  latest: string
  latestAt: number
  otherAt: number
  /** At most two organizations seen since `takeSeen`; two show other processes that several are present. */
  seen: string[]
}

interface Next {
  readonly sharer: Sharer
  readonly lane: LaneState
}

export const createSharers = (lanes: readonly LaneState[], databases: Databases | null = null): Sharers => ({
  lanes,
  databases,
  all: new Map(),
  backlogged: [],
  levelMs: 0,
  latest: '',
  latestAt: Number.NEGATIVE_INFINITY,
  otherAt: Number.NEGATIVE_INFINITY,
  seen: [],
})

/** The organization's state. */
export function sharerOf(sharers: Sharers, id: string): Sharer {
  const { all, lanes, levelMs } = sharers
  const known = all.get(id)
  if (known !== undefined) return known
  if (all.size >= KEPT_MAX)
    for (const [other, { atOnce, waiting }] of all) if (atOnce === 0 && waiting === 0) all.delete(other)
  const atOnceOf = lanes.map(() => 0)
  const queues = lanes.map((): Waiter[] => [])
  const made: Sharer = {
    id,
    atOnce: 0,
    atOnceOf,
    tookMs: [],
    spentMs: levelMs,
    restsUntil: 0,
    longRestsUntil: 0,
    waiting: 0,
    queues,
    database: null,
  }
  all.set(id, made)
  return made
}

/** Notes the arrival of an organization's request; returns the organization's state. */
export function arrived(sharers: Sharers, id: string, now: number): Sharer {
  note(sharers, id, now)
  if (id !== '' && sharers.seen.length < 2 && sharers.seen[0] !== id) sharers.seen.push(id)
  const sharer = sharerOf(sharers, id)
  if (sharers.databases !== null && sharer.atOnce === 0) sharer.database = sharers.databases.of(id)
  return sharer
}

/** Notes that a process of the machine has seen the organization. */
export function note(sharers: Sharers, id: string, now: number): void {
  if (id === '') return
  if (id !== sharers.latest) {
    sharers.otherAt = sharers.latestAt
    sharers.latest = id
  }
  sharers.latestAt = now
}

/** Bound on the expected time of the organization's requests in progress, ms; infinite while it is alone. */
function boundOf({ latest, latestAt, otherAt }: Sharers, { id }: Sharer, now: number): number {
  const sinceMs = now - (id === latest ? otherAt : latestAt)
  return id === '' || sinceMs >= PRESENT_MS ? Number.POSITIVE_INFINITY : SHARE_MS * (1 + sinceMs / GROWTH_MS)
}

/** Whether others are present, so that the organization is held to its share. */
export const isBounded = (sharers: Sharers, sharer: Sharer, now: number): boolean =>
  boundOf(sharers, sharer, now) < Number.POSITIVE_INFINITY

/** Whether as many requests are in progress in the organization's database as may be. */
const isDatabaseFull = ({ databases }: Sharers, { database }: Sharer): boolean =>
  databases !== null && database !== null && (databases.atOnce[database] ?? 0) >= databases.atOnceMax

/** Whether the organization's share, and its database, permit a request to begin at once. */
export function hasRoom(sharers: Sharers, sharer: Sharer, lane: LaneState, now: number): boolean {
  if (isDatabaseFull(sharers, sharer)) return false
  const boundMs = boundOf(sharers, sharer, now)
  if (boundMs === Number.POSITIVE_INFINITY) return true
  if (sharer.waiting > 0 || rests(sharer, lane, now)) return false
  return isWithin(boundMs, sharer, lane, expectedMs(sharers, sharer))
}

/**
 * The waiting request that begins next: the most important one, in a lane that is `open`, of the organization that has spent
 * least. Null if none may begin.
 */
export function nextOf(sharers: Sharers, now: number, open: (lane: LaneState) => boolean): Next | null {
  const { lanes, backlogged } = sharers
  const workMs = backlogged.reduce((sum, sharer) => sum + expectedMs(sharers, sharer), 0)
  let next: Next | null = null
  let leastMs = Number.POSITIVE_INFINITY
  for (const sharer of backlogged) {
    const spentMs = sharer.spentMs + expectedMs(sharers, sharer)
    if (spentMs >= leastMs || isDatabaseFull(sharers, sharer)) continue
    const boundMs = boundOf(sharers, sharer, now)
    const isAlone = boundMs === Number.POSITIVE_INFINITY
    const waits = (lane: LaneState) => (sharer.queues[lane.priority]?.length ?? 0) > 0 && open(lane)
    const lane = lanes.find((one) => waits(one) && (isAlone || !rests(sharer, one, now)))
    if (lane === undefined || !isWithin(boundMs, sharer, lane, workMs)) continue
    next = { sharer, lane }
    leastMs = spentMs
  }
  return next
}

/** Notes that a request of the organization begins. */
export function began(sharers: Sharers, sharer: Sharer, { priority }: LaneState): void {
  if (sharer.atOnce === 0 && sharer.waiting === 0) sharer.spentMs = Math.max(sharer.spentMs, sharers.levelMs)
  sharers.levelMs = Math.max(sharers.levelMs, sharer.spentMs)
  sharer.atOnce += 1
  sharer.atOnceOf[priority] = (sharer.atOnceOf[priority] ?? 0) + 1
  countInDatabase(sharers, sharer, 1)
}

function countInDatabase({ databases }: Sharers, { database }: Sharer, change: 1 | -1): void {
  if (databases !== null && database !== null) databases.atOnce[database] = (databases.atOnce[database] ?? 0) + change
}

/** Ends a request, or a slice, after `tookMs`; null if it did no work. Returns the time for which its organization rests, ms. */
export function ended(sharers: Sharers, sharer: Sharer, lane: LaneState, work: Work): number {
  const { priority } = lane
  const { tookMs, now } = work
  sharer.atOnce -= 1
  sharer.atOnceOf[priority] = (sharer.atOnceOf[priority] ?? 1) - 1
  countInDatabase(sharers, sharer, -1)
  if (tookMs === null) return 0
  sharer.spentMs += tookMs
  const beforeMs = averageMs(sharer, lane)
  sharer.tookMs[priority] = beforeMs + (tookMs - beforeMs) * NEW_WEIGHT
  lane.tookMs += (tookMs - lane.tookMs) * NEW_WEIGHT
  if (lane.rest === REST && sharer.waiting === 0) return 0
  const restMs = (lane.rest * tookMs * SHARE_MS) / boundOf(sharers, sharer, now)
  if (lane.rest === REST) sharer.restsUntil = now + restMs
  else sharer.longRestsUntil = now + restMs
  return restMs
}

interface Work {
  readonly tookMs: number | null
  readonly now: number
}

/** Adds a waiting request. The next slice of a request is placed before all others of its lane. */
export function enqueue(sharers: Sharers, sharer: Sharer, lane: LaneState, waiter: Waiter): void {
  if (sharer.waiting === 0) sharers.backlogged = [...sharers.backlogged, sharer]
  sharer.waiting += 1
  lane.waiting += 1
  if (waiter.since === Number.POSITIVE_INFINITY) sharer.queues[lane.priority]?.unshift(waiter)
  else sharer.queues[lane.priority]?.push(waiter)
}

/** Removes and returns the waiting request at an index of the lane's queue. */
export function dequeue(sharers: Sharers, sharer: Sharer, lane: LaneState, index: number): Waiter | undefined {
  const [taken] = sharer.queues[lane.priority]?.splice(index, 1) ?? []
  if (taken === undefined) return undefined
  sharer.waiting -= 1
  lane.waiting -= 1
  if (sharer.waiting === 0) sharers.backlogged = sharers.backlogged.filter((one) => one !== sharer)
  return taken
}

/** The organizations seen since the last call. */
export function takeSeen(sharers: Sharers): string[] {
  const { seen } = sharers
  sharers.seen = []
  return seen
}

/** Whether the organization rests. A rest after long reads delays only other long reads. */
const rests = ({ restsUntil, longRestsUntil }: Sharer, { rest }: LaneState, now: number): boolean =>
  now < (rest === REST ? restsUntil : longRestsUntil)

/** Whether one more request, in addition to `workMs` in progress, stays within the bound. One request of an organization always does. */
const isWithin = (boundMs: number, sharer: Sharer, lane: LaneState, workMs: number): boolean =>
  sharer.atOnce === 0 || averageMs(sharer, lane) <= boundMs - workMs

/** Average duration of the organization's requests of a lane, or of all requests of the lane before the first. */
const averageMs = ({ tookMs }: Sharer, { priority, tookMs: ofLane }: LaneState): number => tookMs[priority] ?? ofLane

/** Expected time of the requests in progress. */
function expectedMs({ lanes }: Sharers, sharer: Sharer): number {
  if (sharer.atOnce === 0) return 0
  return lanes.reduce((sum, lane) => sum + (sharer.atOnceOf[lane.priority] ?? 0) * averageMs(sharer, lane), 0)
}
