import { REPLAY_MEMORY_DAYS } from '../domain/replay.js'
import type { CapacityCosts, Range, RequestCost } from './costs.js'
import {
  BLOAT,
  BUSY_MAX,
  CARRIED_S,
  type CapacityTarget,
  KINDS,
  MIB,
  POOLER_US,
  PROXY_US,
  requestsOf,
  SESSION_S,
  type Sizes,
  verifiesIn,
  writesIn,
} from './sizes.js'

/** One quantity of a plan with its arithmetic. */
export interface PlanLine {
  readonly name: string
  readonly unit: string
  /** The values with the best, median and worst measured costs. */
  readonly value: Range
  /** The arithmetic of `typical`, in numbers. */
  readonly because: string
}

/** Inputs of the lines; `middle` are the sizes with typical costs. */
interface Basis {
  readonly costs: CapacityCosts
  readonly target: CapacityTarget
  readonly middle: Sizes
}
type Line = readonly [name: string, unit: string, of: (sizes: Sizes) => number, because: string]

/** Three significant digits; from 1,000 on a whole number. */
export const shown = (value: number): string =>
  value === 0
    ? '0'
    : Math.abs(value) >= 1000
      ? Math.round(value).toLocaleString('en')
      : String(Number(value.toPrecision(3)))

/** All quantities of a plan. `low` and `high` are the sizes with the best and the worst costs. */
export function linesOf(basis: Basis, low: Sizes, high: Sizes): PlanLine[] {
  const groups = [signInLines, processLines, loadLines, diskLines, storageLines, redisLines, machineLines]
  return groups
    .flatMap((group) => group(basis))
    .map(([name, unit, of, because]) => {
      const values = [of(low), of(basis.middle), of(high)]
      const value = { low: Math.min(...values), typical: of(basis.middle), high: Math.max(...values) }
      return { name, unit, because, value }
    })
}

const sumOf = ({ costs, target }: Basis, part: (cost: RequestCost) => number): string => {
  const requests = requestsOf(target)
  return KINDS.map((kind) => `${shown(requests[kind])} ${kind} x ${shown(part(costs.requests[kind]))}`).join(' + ')
}

function signInLines(basis: Basis): Line[] {
  const { peakPerS, growthPerYear, years } = basis.target
  const peak = `${shown(peakPerS)} x ${shown(1 + growthPerYear)} ^ ${years} years`
  const us = (part: 'front_us' | 'postgres_us' | 'redis_us') => sumOf(basis, (cost) => cost[part].typical)
  return [
    ['peak', 'sign-ins/s', (s) => s.peak, peak],
    ['front, a sign-in', 'µs', (s) => s.frontUs, us('front_us')],
    ['PostgreSQL, a sign-in', 'µs', (s) => s.postgresUs, us('postgres_us')],
    ['Redis, a sign-in', 'µs', (s) => s.redisUs, us('redis_us')],
  ]
}

function processLines({ costs, target, middle: m }: Basis): Line[] {
  const waitMs = shown(target.p99Ms - costs.unloaded_p99_ms.typical)
  return [
    [
      'utilisation of a front',
      'share, maximum',
      (s) => s.busy,
      `p99 of waiting at most ${waitMs} ms for requests with ${shown(m.residualMs)} ms left (M/G/1); at most ${BUSY_MAX}`,
    ],
    [
      'processes',
      'processes, a core each',
      (s) => s.processes,
      `${shown(m.peak)}/s x ${shown(m.frontUs)} µs / ${shown(m.busy)}, rounded up, + ${target.spare} spare`,
    ],
    [
      'memory of the processes',
      'GiB',
      (s) => s.frontsGib,
      `${m.processes} x ${shown(costs.bytes.process / MIB)} MiB, with the caches as shipped: a session carries its person`,
    ],
  ]
}

function loadLines({ costs, target, middle: m }: Basis): Line[] {
  const { front_us, postgres_us } = costs.requests.create
  const createMs = shown((front_us.typical + postgres_us.typical) / 1000)
  return [
    [
      'cores of PostgreSQL',
      'cores',
      (s) => s.postgresCores,
      `${shown(m.peak)}/s x ${shown(m.postgresUs)} µs / ${BUSY_MAX}`,
    ],
    [
      'databases',
      'databases, a machine each',
      (s) => s.databases,
      `${shown(m.postgresCores)} cores / ${target.cores} of a machine, rounded up; each organization is in one of them`,
    ],
    [
      'account creations',
      'a second',
      (s) => s.creations,
      `${shown(m.peak)}/s x ${shown(target.newcomers)} newcomers, ${createMs} ms of front and PostgreSQL each`,
    ],
    [
      'cores of the proxy',
      'cores',
      (s) => s.proxyCores,
      `${shown(m.requestsPerS)} requests/s x ${shown(PROXY_US)} µs / ${BUSY_MAX}`,
    ],
    [
      'cores of PgBouncer',
      'cores, if used',
      (s) => s.poolerCores,
      `${shown(m.requestsPerS)} requests/s x ${shown(POOLER_US)} µs / ${BUSY_MAX}; one of its processes is one thread`,
    ],
  ]
}

function diskLines({ costs, target, middle: m }: Basis): Line[] {
  const writes = `${shown(m.peak * writesIn(requestsOf(target)))} writes/s`
  return [
    [
      'commits',
      'a second (IOPS of the log)',
      (s) => s.commits,
      `the lesser of ${writes} and ${m.processes} processes / ${shown(costs.commit_ms.typical)} ms: waiting writes share the next commit`,
    ],
    ['write-ahead log', 'MiB/s', (s) => s.walMibPerS, `${writes} x ${shown(costs.bytes.wal)} bytes of a sign-in`],
    [
      'reads of the disk',
      'a second (IOPS), at most',
      (s) => s.blocksRead,
      `${shown(m.peak)}/s x ${shown(costs.blocks_read)} blocks, if memory holds a quarter of the data or less`,
    ],
    [
      'connections to PostgreSQL',
      'connections of each database',
      (s) => s.connections,
      `${m.processes} processes x ${target.pool}`,
    ],
  ]
}

function storageLines({ costs, target, middle }: Basis): Line[] {
  const requests = requestsOf(target)
  const verifies = verifiesIn(requests)
  const { person, comparison_set, attempt, replay_mark } = costs.bytes
  const kept = (count: string, days: number) =>
    `${shown(target.people * middle.grown)} people x ${shown(target.signInsPerDay)} a day x ${count} x ${shown(days)} days`
  return [
    [
      'attempts kept',
      'rows',
      (s) => s.attemptsKept,
      kept(`${shown(verifies + requests.code)} attempts`, target.retentionDays),
    ],
    [
      'replay marks kept',
      'rows',
      (s) => s.marksKept,
      kept(`${shown(verifies)} verifies`, Math.min(target.retentionDays, REPLAY_MEMORY_DAYS)),
    ],
    [
      'storage of PostgreSQL',
      'GiB',
      (s) => s.storageGib,
      `${BLOAT} x (people x (${shown(person)} + comparison set ${shown(comparison_set)}) + attempts x ${shown(attempt)} + marks x ${shown(replay_mark)} bytes)`,
    ],
  ]
}

function redisLines(basis: Basis): Line[] {
  const { costs, middle: m } = basis
  return [
    [
      'Redis commands',
      'a second',
      (s) => s.redisCommands,
      `${shown(m.peak)}/s x (${sumOf(basis, ({ redis_commands }) => redis_commands)})`,
    ],
    [
      'memory of Redis',
      'MiB',
      (s) => s.redisMib,
      `${shown(m.peak)}/s x (${SESSION_S} s session lifetime x ${shown(costs.bytes.session)} + ${CARRIED_S} s x ${shown(costs.bytes.carried)} bytes of the person)`,
    ],
    [
      'masters of Redis',
      'processes, a core each',
      (s) => s.redisMasters,
      `${shown(m.peak)}/s x ${shown(m.redisUs)} µs / ${BUSY_MAX}, rounded up; more than one means Redis Cluster, with at least three`,
    ],
  ]
}

function machineLines({ target, middle }: Basis): Line[] {
  const { processes, proxies, postgres, redis } = middle.machines
  const standbys = postgres - middle.databases
  const standby = standbys === 0 ? '' : standbys === 1 ? ' (one a standby)' : ` (${standbys} of them standbys)`
  return [
    [
      'machines',
      `machines of ${target.cores} cores`,
      ({ machines }) => machines.processes + machines.proxies + machines.postgres + machines.redis,
      `${processes} for the processes + ${proxies} proxies + ${postgres} of PostgreSQL${standby} + ${redis} of Redis`,
    ],
  ]
}
