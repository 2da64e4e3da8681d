import { REPLAY_MEMORY_DAYS } from '../domain/replay.js'
import type { CapacityCosts, Range } from './costs.js'

/** What a deployment is to do. Shares are 0 to 1. */
export interface CapacityTarget {
  readonly people: number
  /** Sign-ins a second at the busiest time. */
  readonly peakPerS: number
  /** A verify at the peak, 99 of 100. */
  readonly p99Ms: number
  readonly retentionDays: number
  /** More people and sign-ins after a year, as a share. */
  readonly growthPerYear: number
  readonly years: number
  /** Of each person, over the year. */
  readonly signInsPerDay: number
  /** Sign-ins in which typing is tried again. */
  readonly retypes: number
  /** First tries of somebody whom the process that gets them still remembers. */
  readonly remembered: number
  /** Sign-ins by a security code, and by somebody new with five patterns. */
  readonly codes: number
  readonly newcomers: number
  /** Processes more than are needed, so that one may die or be updated. */
  readonly spare: number
  /** Connections to PostgreSQL of each process. */
  readonly pool: number
  /** Cores of each machine. */
  readonly cores: number
}

/** Processes and stores are planned to be busy for this share of the time at the most: hiccups and a lost neighbour fit in. Our choice. */
export const BUSY_MAX = 0.7
/** A session lives this long (decisions, Sessions). */
export const SESSION_S = 900
/** Patterns of an enrollment. */
const ENROLLS = 5
/** Whoever types again does so within this time; to remember everybody until tomorrow costs more memory than it saves. Our choice. */
const CACHED_S = 300
/** MiB of cached people a process may hold: each is garbage for the collector in the end, and a start begins with none. Our choice. */
export const CACHE_MAX_MIB = 1024
/**
 * Processor of a reverse proxy and of PgBouncer, µs a request: nginx 1.22 without TLS, half of the requests with a body of 19 kB,
 * and PgBouncer 1.18 in transaction mode under bootstraps that keep their session in PostgreSQL; 500 each at 16 connections, on
 * a busy machine. TLS comes on top.
 */
export const [PROXY_US, POOLER_US] = [200, 460]
/** Masters of the smallest Redis Cluster. */
export const CLUSTER_MIN = 3
/** Room for dead rows, free pages and a month that is dropped whole. Our choice, no measurement behind it. */
export const BLOAT = 1.3
/** Bytes. */
export const [GIB, MIB] = [2 ** 30, 2 ** 20]

type At = keyof Range

/** The requests of one sign-in: how many of each, by the target's shares. */
export function requestsOf(target: Pick<CapacityTarget, 'retypes' | 'remembered' | 'codes' | 'newcomers'>) {
  const { retypes, remembered, codes, newcomers } = target
  return {
    bootstrap: 1 + newcomers,
    create: newcomers,
    verify_first: 1 - remembered,
    verify: remembered + retypes,
    code: codes,
    enroll: ENROLLS * newcomers,
  } as const
}
type Requests = ReturnType<typeof requestsOf>
type Kind = keyof Requests
/** Requests that cost something. */
export const KINDS: readonly Kind[] = ['bootstrap', 'create', 'verify_first', 'verify', 'code', 'enroll']

/** Processor of one sign-in in a part, µs. */
function signInUs(costs: CapacityCosts, requests: Requests, part: 'front_us' | 'postgres_us' | 'redis_us', at: At) {
  return KINDS.reduce((sum, kind) => sum + requests[kind] * costs.requests[kind][part][at], 0)
}

/**
 * The most sign-ins a second where everything shares the cores of one machine, and what makes the load uses `generatorUs`
 * of them for each: all cores busy, nothing waited for.
 */
export function sharedMachineRate(costs: CapacityCosts, requests: Requests, cores: number, generatorUs = 0): Range {
  const rate = (at: At) => {
    const all = (['front_us', 'postgres_us', 'redis_us'] as const).map((part) => signInUs(costs, requests, part, at))
    return (1e6 * cores) / (all.reduce((sum, us) => sum + us, 0) + generatorUs)
  }
  return { low: rate('high'), typical: rate('typical'), high: rate('low') }
}

/**
 * Milliseconds that are left, on average, of the request that another one finds under way: E(S^2) / 2 E(S) with times of a
 * kind that are exponential (Kleinrock 1975, 5.7), so the sum of squares over the sum. Long requests weigh by their length.
 */
function residualMs(costs: CapacityCosts, requests: Requests, at: At): number {
  const times = KINDS.map((kind) => [requests[kind], costs.requests[kind].front_us[at] / 1000] as const)
  const sum = times.reduce((all, [n, ms]) => all + n * ms, 0)
  return sum === 0 ? 0 : times.reduce((all, [n, ms]) => all + n * ms * ms, 0) / sum
}

/**
 * How busy a process may be for its 99th percentile to stay within `p99Ms`: a verify takes `unloadedMs` alone and waits
 * for the requests before it, of which the one under way has `serviceMs` left. Waiting in M/G/1, its tail taken for
 * exponential: P(wait > t) = busy * exp(-(1 - busy) t / service). Null where the promise leaves no time to wait.
 */
export function busyAllowed(serviceMs: number, unloadedMs: number, p99Ms: number): number | null {
  const waitMs = p99Ms - unloadedMs
  if (waitMs <= 0) return null
  const isKept = (busy: number) => busy * Math.exp((-(1 - busy) * waitMs) / serviceMs) <= 0.01
  let [low, high] = [0, BUSY_MAX]
  if (isKept(high)) return high
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2
    if (isKept(middle)) low = middle
    else high = middle
  }
  return low
}

/** Machines by what runs on them. */
interface Machines {
  readonly processes: number
  readonly proxies: number
  readonly postgres: number
  readonly redis: number
}

/** What one set of costs leads to. */
export interface Sizes {
  readonly grown: number
  readonly peak: number
  readonly frontUs: number
  readonly postgresUs: number
  readonly redisUs: number
  /** Of the request that a verify finds under way, ms. */
  readonly residualMs: number
  readonly busy: number
  readonly processes: number
  readonly requestsPerS: number
  readonly creations: number
  readonly proxyCores: number
  readonly poolerCores: number
  readonly postgresCores: number
  readonly commits: number
  readonly cachedProfiles: number
  readonly cacheMib: number
  readonly frontsGib: number
  readonly redisCommands: number
  readonly sessions: number
  readonly redisMib: number
  readonly redisMasters: number
  readonly machines: Machines
  readonly attemptsKept: number
  readonly marksKept: number
  readonly storageGib: number
  readonly walMibPerS: number
  readonly connections: number
}

/** A string says why there is none. */
export function sized(costs: CapacityCosts, target: CapacityTarget, at: At): Sizes | string {
  const requests = requestsOf(target)
  const part = (name: 'front_us' | 'postgres_us' | 'redis_us') => signInUs(costs, requests, name, at)
  const grown = (1 + target.growthPerYear) ** target.years
  const peak = target.peakPerS * grown
  const [frontUs, postgresUs, redisUs] = [part('front_us'), part('postgres_us'), part('redis_us')]
  // One meaning for every column: the spread of this one is the bench's, not a cost.
  const unloadedMs = costs.unloaded_p99_ms.typical
  const residual = residualMs(costs, requests, at)
  const busy = busyAllowed(residual, unloadedMs, target.p99Ms)
  if (busy === null)
    return `a p99 of ${target.p99Ms} ms cannot be promised: on the measured machine verifies asked one after the other have ${unloadedMs} ms`
  const processes = Math.ceil((peak * frontUs) / 1e6 / busy - 1e-9) + target.spare
  const verifies = requests.verify_first + requests.verify
  const writes = peak * (verifies + requests.code + requests.enroll)
  const people = target.people * grown
  const attemptsKept = people * target.signInsPerDay * (verifies + requests.code) * target.retentionDays
  const marksKept = people * target.signInsPerDay * verifies * Math.min(target.retentionDays, REPLAY_MEMORY_DAYS)
  // Each process meets its share of the peak.
  const cachedProfiles = Math.min(people, (peak * CACHED_S) / Math.max(1, processes - target.spare))
  const cacheMib = Math.min(CACHE_MAX_MIB, Math.max(1, Math.ceil((cachedProfiles * costs.bytes.cached_profile) / MIB)))
  const sessions = peak * SESSION_S
  const requestsPerS = peak * KINDS.reduce((sum, kind) => sum + requests[kind], 0)
  const coresFor = (us: number) => (requestsPerS * us) / 1e6 / BUSY_MAX
  const [proxyCores, poolerCores] = [coresFor(PROXY_US), coresFor(POOLER_US)]
  const postgresCores = (peak * postgresUs) / 1e6 / BUSY_MAX
  const redisMasters = mastersFor((peak * redisUs) / 1e6 / BUSY_MAX)
  const stored = people * costs.bytes.person + attemptsKept * costs.bytes.attempt + marksKept * costs.bytes.replay_mark
  return {
    grown,
    peak,
    frontUs,
    postgresUs,
    redisUs,
    residualMs: residual,
    busy,
    processes,
    requestsPerS,
    creations: peak * requests.create,
    proxyCores,
    poolerCores,
    postgresCores,
    // What arrives during a commit shares the next one.
    commits: Math.min(writes, (processes * 1000) / costs.commit_ms[at]),
    cachedProfiles,
    cacheMib,
    frontsGib: (processes * (costs.bytes.process + cacheMib * MIB)) / GIB,
    redisCommands: peak * KINDS.reduce((sum, kind) => sum + requests[kind] * costs.requests[kind].redis_commands, 0),
    sessions,
    redisMib: (sessions * costs.bytes.session) / MIB,
    redisMasters,
    machines: machinesFor(target, { processes, proxyCores, redisMasters }),
    attemptsKept,
    marksKept,
    storageGib: (BLOAT * stored) / GIB,
    walMibPerS: (writes * costs.bytes.wal) / MIB,
    connections: processes * target.pool,
  }
}

const mastersFor = (cores: number): number => (cores <= 1 ? 1 : Math.max(CLUSTER_MIN, Math.ceil(cores)))

/** With a process to spare every part is there twice: a proxy, a standby of PostgreSQL, a replica of each Redis. */
function machinesFor(
  { cores, spare }: CapacityTarget,
  { processes, proxyCores, redisMasters }: Pick<Sizes, 'processes' | 'proxyCores' | 'redisMasters'>,
): Machines {
  const twice = spare > 0 ? 2 : 1
  return {
    processes: Math.max(Math.min(processes, twice), Math.ceil(processes / cores)),
    proxies: Math.max(twice, Math.ceil(proxyCores / cores)),
    postgres: twice,
    // A Redis is one thread, so a core each; a replica never beside its master.
    redis: Math.max(twice, Math.ceil((twice * redisMasters) / cores)),
  }
}
