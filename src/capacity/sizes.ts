import { REPLAY_MEMORY_DAYS } from '../domain/replay.js'
import type { CapacityCosts, Range, RequestCost } from './costs.js'

/** Requirements of a deployment. Shares are 0 to 1. */
export interface CapacityTarget {
  readonly people: number
  /** Sign-ins a second at the busiest time. */
  readonly peakPerS: number
  /** 99th percentile of a verify at the peak, ms. */
  readonly p99Ms: number
  readonly retentionDays: number
  /** Growth of people and sign-ins in a year, as a share. */
  readonly growthPerYear: number
  readonly years: number
  /** Per person, averaged over the year. */
  readonly signInsPerDay: number
  /** Share of sign-ins with a second typing attempt. */
  readonly retypes: number
  /** Share of sign-ins whose typing was challenged and is followed by a security code. */
  readonly codes: number
  /** Share of sign-ins by a new person, who first enrolls five patterns. */
  readonly newcomers: number
  /** Processes in addition to those needed, so that one can fail or be updated. */
  readonly spare: number
  /** Connections to PostgreSQL of each process. */
  readonly pool: number
  /** Cores of each machine. */
  readonly cores: number
}

/** Maximum planned utilisation of processes and stores, which leaves room for pauses and the load of a failed process. Our choice. */
export const BUSY_MAX = 0.7
/** Lifetime of a session, s. */
export const SESSION_S = 900
/**
 * Mean time that a session carries its person, s: 0.95 x 15 s until the attempt + 0.05 x 900 s of sign-ins without one. Our choice,
 * no measurement behind it.
 */
export const CARRIED_S = 60
/** Patterns of an enrollment. */
const ENROLLS = 5
/**
 * Processor time of a reverse proxy and of PgBouncer, µs a request: nginx 1.22 without TLS, half of the requests with a body of
 * 19 kB, and PgBouncer 1.18 in transaction mode under bootstraps that keep their session in PostgreSQL. Each had 500 requests over
 * 16 connections, on a busy machine. TLS is not included.
 */
export const [PROXY_US, POOLER_US] = [200, 460]
/** Masters of the smallest Redis Cluster. */
export const CLUSTER_MIN = 3
/** Factor for dead rows, free pages and a month that is dropped as a whole. Our choice, no measurement behind it. */
export const BLOAT = 1.3
export const [GIB, MIB] = [2 ** 30, 2 ** 20]

type At = keyof Range

/**
 * Requests of one sign-in: the number of each kind, from the target's shares. `signin` is a bootstrap and a verify. A second typing
 * usually reaches another process than the first, which reads the person again, because the session no longer carries them. So no
 * cache is planned.
 */
export function requestsOf({ retypes, codes, newcomers }: Pick<CapacityTarget, 'retypes' | 'codes' | 'newcomers'>) {
  return {
    signin: 1,
    verify: retypes,
    code: codes,
    bootstrap: newcomers,
    create: newcomers,
    enroll: ENROLLS * newcomers,
  }
}
type Requests = ReturnType<typeof requestsOf>
type RequestKind = keyof Requests
/** Request kinds with a cost. */
export const KINDS: readonly RequestKind[] = ['signin', 'verify', 'code', 'bootstrap', 'create', 'enroll']
/** Typing patterns that are judged. */
export const verifiesIn = ({ signin, verify }: Requests): number => signin + verify
/** Requests that are committed to PostgreSQL. */
export const writesIn = (requests: Requests): number => verifiesIn(requests) + requests.code + requests.enroll

/** Processor time of one sign-in in a part, µs. */
function signInUs(costs: CapacityCosts, requests: Requests, part: 'front_us' | 'postgres_us' | 'redis_us', at: At) {
  return KINDS.reduce((sum, kind) => sum + requests[kind] * costs.requests[kind][part][at], 0)
}

/**
 * Highest rate of sign-ins per second of this cost if all parts share the cores of one machine and the load generator uses
 * `generatorUs` of them for each sign-in: all cores are busy and nothing waits.
 */
export function sharedMachineRate(
  { front_us, postgres_us, redis_us }: RequestCost,
  cores: number,
  generatorUs: number,
): Range {
  const rate = (at: At) => (1e6 * cores) / (front_us[at] + postgres_us[at] + redis_us[at] + generatorUs)
  return { low: rate('high'), typical: rate('typical'), high: rate('low') }
}

/**
 * Mean remaining time, ms, of the request that an arriving request finds in service: E(S^2) / 2 E(S). Times of a kind are
 * exponential (Kleinrock 1975, 5.7), so it is the sum of squares over the sum. A sign-in is two requests: its verify takes what the
 * bootstrap leaves.
 */
function residualMs(costs: CapacityCosts, requests: Requests, at: At): number {
  const ms = (kind: RequestKind) => costs.requests[kind].front_us[at] / 1000
  const bootstrapMs = Math.min(ms('bootstrap'), ms('signin'))
  const times = [
    [requests.signin, bootstrapMs],
    [requests.signin, ms('signin') - bootstrapMs],
    ...KINDS.filter((kind) => kind !== 'signin').map((kind) => [requests[kind], ms(kind)] as const),
  ] as const
  const sum = times.reduce((all, [n, ms]) => all + n * ms, 0)
  return sum === 0 ? 0 : times.reduce((all, [n, ms]) => all + n * ms * ms, 0) / sum
}

/**
 * Maximum utilisation of a process that keeps its 99th percentile within `p99Ms`: a verify takes `unloadedMs` alone and waits
 * for earlier requests, of which the one in service has `serviceMs` left. Waiting in M/G/1 with an exponential tail:
 * P(wait > t) = busy * exp(-(1 - busy) t / service). Null if `p99Ms` leaves no time to wait.
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

/** Number of machines by role. */
interface Machines {
  readonly processes: number
  readonly proxies: number
  readonly postgres: number
  readonly redis: number
}

/** The sizes that follow from one set of costs. */
export interface Sizes {
  readonly grown: number
  readonly peak: number
  readonly frontUs: number
  readonly postgresUs: number
  readonly redisUs: number
  /** Mean remaining time of the request in service, ms. */
  readonly residualMs: number
  readonly busy: number
  readonly processes: number
  readonly requestsPerS: number
  readonly creations: number
  readonly proxyCores: number
  readonly poolerCores: number
  readonly postgresCores: number
  /** Databases, each on a machine of its own. */
  readonly databases: number
  readonly commits: number
  readonly blocksRead: number
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

/** Computes the sizes. A string says why there are none. */
export function sized(costs: CapacityCosts, target: CapacityTarget, at: At): Sizes | string {
  const requests = requestsOf(target)
  const part = (name: 'front_us' | 'postgres_us' | 'redis_us') => signInUs(costs, requests, name, at)
  const grown = (1 + target.growthPerYear) ** target.years
  const peak = target.peakPerS * grown
  const [frontUs, postgresUs, redisUs] = [part('front_us'), part('postgres_us'), part('redis_us')]
  // All columns use the typical value: the spread of this figure comes from the bench and is not a cost.
  const unloadedMs = costs.unloaded_p99_ms.typical
  const residual = residualMs(costs, requests, at)
  const busy = busyAllowed(residual, unloadedMs, target.p99Ms)
  if (busy === null)
    return `a p99 of ${target.p99Ms} ms cannot be promised: sequential verifies on the measured machine have a p99 of ${unloadedMs} ms`
  const processes = Math.ceil((peak * frontUs) / 1e6 / busy - 1e-9) + target.spare
  const verifies = verifiesIn(requests)
  const writes = peak * writesIn(requests)
  const people = target.people * grown
  const attemptsKept = people * target.signInsPerDay * (verifies + requests.code) * target.retentionDays
  const marksKept = people * target.signInsPerDay * verifies * Math.min(target.retentionDays, REPLAY_MEMORY_DAYS)
  const sessions = peak * SESSION_S
  // A sign-in is two requests.
  const requestsPerS = peak * KINDS.reduce((sum, kind) => sum + requests[kind], requests.signin)
  const coresFor = (us: number) => (requestsPerS * us) / 1e6 / BUSY_MAX
  const [proxyCores, poolerCores] = [coresFor(PROXY_US), coresFor(POOLER_US)]
  const postgresCores = (peak * postgresUs) / 1e6 / BUSY_MAX
  const databases = Math.max(1, Math.ceil(postgresCores / target.cores))
  const redisMasters = mastersFor((peak * redisUs) / 1e6 / BUSY_MAX)
  const { person, comparison_set, attempt, replay_mark } = costs.bytes
  const stored = people * (person + comparison_set) + attemptsKept * attempt + marksKept * replay_mark
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
    databases,
    // Writes that arrive during a commit share the next one.
    commits: Math.min(writes, (processes * 1000) / costs.commit_ms[at]),
    blocksRead: peak * costs.blocks_read,
    frontsGib: (processes * costs.bytes.process) / GIB,
    redisCommands: peak * KINDS.reduce((sum, kind) => sum + requests[kind] * costs.requests[kind].redis_commands, 0),
    sessions,
    redisMib: (sessions * costs.bytes.session + peak * CARRIED_S * costs.bytes.carried) / MIB,
    redisMasters,
    machines: machinesFor(target, { processes, proxyCores, databases, redisMasters }),
    attemptsKept,
    marksKept,
    storageGib: (BLOAT * stored) / GIB,
    walMibPerS: (writes * costs.bytes.wal) / MIB,
    connections: processes * target.pool,
  }
}

const mastersFor = (cores: number): number => (cores <= 1 ? 1 : Math.max(CLUSTER_MIN, Math.ceil(cores)))

/** With a spare process every part exists twice: a proxy, a standby of each PostgreSQL, a replica of each Redis. */
function machinesFor(
  { cores, spare }: CapacityTarget,
  {
    processes,
    proxyCores,
    databases,
    redisMasters,
  }: Pick<Sizes, 'processes' | 'proxyCores' | 'databases' | 'redisMasters'>,
): Machines {
  const twice = spare > 0 ? 2 : 1
  return {
    processes: Math.max(Math.min(processes, twice), Math.ceil(processes / cores)),
    proxies: Math.max(twice, Math.ceil(proxyCores / cores)),
    postgres: twice * databases,
    // A Redis is one thread and needs one core; a replica is never on its master's machine.
    redis: Math.max(twice, Math.ceil((twice * redisMasters) / cores)),
  }
}
