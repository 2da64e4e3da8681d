import { REPLAY_MEMORY_DAYS } from '../domain/replay.js'
import type { CapacityCosts, Range, RequestCost } from './costs.js'
import {
  BLOAT,
  BUSY_MAX,
  CACHE_MAX_MIB,
  type CapacityTarget,
  CLUSTER_MIN,
  KINDS,
  MIB,
  POOLER_US,
  PROXY_US,
  requestsOf,
  SESSION_S,
  type Sizes,
  sized,
} from './sizes.js'

/** One quantity of a plan and how it comes about. */
interface PlanLine {
  readonly name: string
  readonly unit: string
  /** With the measured costs at their best, middle and worst. */
  readonly value: Range
  /** The arithmetic of `typical`, in numbers. */
  readonly because: string
}

/** The highest rate of sign-ins that a part of the planned deployment takes. */
interface Limit {
  readonly part: string
  readonly signInsPerS: number
  readonly because: string
}

export interface CapacityPlan {
  readonly lines: readonly PlanLine[]
  /** What breaks first stands first. */
  readonly limits: readonly Limit[]
  readonly advice: readonly string[]
  /** Settings of the planned deployment, a line each. */
  readonly configuration: readonly string[]
}

/** Attempts that share one commit at the most (`storage/postgres/group-commit.ts`). */
const BATCH_MAX = 64
/** PostgreSQL's own default, less those it keeps for administration. */
const CONNECTIONS_MAX = 97
/** Connections beside those of the processes: the command line, a backup, monitoring, and a deployment that overlaps. */
const ADMINISTRATION = 20

/** `message` says why there is no plan. */
type Planned = { readonly ok: true; readonly plan: CapacityPlan } | { readonly ok: false; readonly message: string }

/** Sizes of a deployment that keeps the target at the end of its years, line by line, and what would break first. */
export function planCapacity(costs: CapacityCosts, target: CapacityTarget): Planned {
  const typical = sized(costs, target, 'typical')
  const [best, worst] = [sized(costs, target, 'low'), sized(costs, target, 'high')]
  for (const one of [typical, worst, best]) if (typeof one === 'string') return { ok: false, message: one }
  // Sound: none is a string any more.
  const [low, middle, high] = [best, typical, worst] as [Sizes, Sizes, Sizes]
  const limits = limitsOf(costs, target, middle)
  return {
    ok: true,
    plan: {
      lines: linesOf(costs, target, low, middle, high),
      limits,
      advice: adviceOf(costs, target, middle, limits),
      configuration: configurationOf(target, middle),
    },
  }
}

const shown = (value: number): string =>
  value === 0
    ? '0'
    : Math.abs(value) >= 1000
      ? Math.round(value).toLocaleString('en')
      : String(Number(value.toPrecision(3)))

function linesOf(costs: CapacityCosts, target: CapacityTarget, low: Sizes, middle: Sizes, high: Sizes): PlanLine[] {
  const line = (name: string, unit: string, of: (sizes: Sizes) => number, because: string): PlanLine => {
    const values = [of(low), of(middle), of(high)]
    return { name, unit, because, value: { low: Math.min(...values), typical: of(middle), high: Math.max(...values) } }
  }
  const requests = requestsOf(target)
  const verifies = requests.verify_first + requests.verify
  const sum = (part: (cost: RequestCost) => number) =>
    KINDS.map((kind) => `${shown(requests[kind])} ${kind} x ${shown(part(costs.requests[kind]))}`).join(' + ')
  const m = middle
  const kept = (count: string, days: number) =>
    `${shown(target.people * m.grown)} people x ${shown(target.signInsPerDay)} a day x ${count} x ${shown(days)} days`
  return [
    line(
      'peak',
      'sign-ins/s',
      (s) => s.peak,
      `${shown(target.peakPerS)} x ${shown(1 + target.growthPerYear)} ^ ${target.years} years`,
    ),
    line(
      'front, a sign-in',
      'µs',
      (s) => s.frontUs,
      sum(({ front_us }) => front_us.typical),
    ),
    line(
      'PostgreSQL, a sign-in',
      'µs',
      (s) => s.postgresUs,
      sum(({ postgres_us }) => postgres_us.typical),
    ),
    line(
      'Redis, a sign-in',
      'µs',
      (s) => s.redisUs,
      sum(({ redis_us }) => redis_us.typical),
    ),
    line(
      'a front may be busy',
      'share',
      (s) => s.busy,
      `99 of 100 wait ${shown(target.p99Ms - costs.unloaded_p99_ms.typical)} ms at the most behind requests with ${shown(m.residualMs)} ms left (M/G/1), ${BUSY_MAX} at the most`,
    ),
    line(
      'processes',
      'processes, a core each',
      (s) => s.processes,
      `${shown(m.peak)}/s x ${shown(m.frontUs)} µs / ${shown(m.busy)}, rounded up, + ${target.spare} spare`,
    ),
    line(
      'memory of the processes',
      'GiB',
      (s) => s.frontsGib,
      `${m.processes} x (${shown(costs.bytes.process / MIB)} MiB + PROFILE_CACHE_MB ${shown(m.cacheMib)})`,
    ),
    line(
      'PROFILE_CACHE_MB',
      'MiB a process',
      (s) => s.cacheMib,
      `${shown(m.cachedProfiles)} people that a process meets in five minutes at the peak x ${shown(costs.bytes.cached_profile)} bytes, ${shown(CACHE_MAX_MIB)} MiB at the most`,
    ),
    line(
      'cores of PostgreSQL',
      'cores',
      (s) => s.postgresCores,
      `${shown(m.peak)}/s x ${shown(m.postgresUs)} µs / ${BUSY_MAX}`,
    ),
    line(
      'account creations',
      'a second',
      (s) => s.creations,
      `${shown(m.peak)}/s x ${shown(target.newcomers)} newcomers, ${shown((costs.requests.create.front_us.typical + costs.requests.create.postgres_us.typical) / 1000)} ms of front and PostgreSQL each`,
    ),
    line(
      'cores of the proxy',
      'cores',
      (s) => s.proxyCores,
      `${shown(m.requestsPerS)} requests/s x ${shown(PROXY_US)} µs / ${BUSY_MAX}`,
    ),
    line(
      'cores of PgBouncer',
      'cores, where there is one',
      (s) => s.poolerCores,
      `${shown(m.requestsPerS)} requests/s x ${shown(POOLER_US)} µs / ${BUSY_MAX}; a process of it is one thread`,
    ),
    line(
      'commits',
      'a second (IOPS of the log)',
      (s) => s.commits,
      `the lesser of ${shown(m.peak * (verifies + requests.code + requests.enroll))} writes/s and ${m.processes} processes / ${shown(costs.commit_ms.typical)} ms: writes that wait share the next one`,
    ),
    line(
      'write-ahead log',
      'MiB/s',
      (s) => s.walMibPerS,
      `${shown(m.peak * (verifies + requests.code + requests.enroll))} writes/s x ${shown(costs.bytes.wal)} bytes`,
    ),
    line('connections to PostgreSQL', 'connections', (s) => s.connections, `${m.processes} processes x ${target.pool}`),
    line(
      'attempts kept',
      'rows',
      (s) => s.attemptsKept,
      kept(`${shown(verifies + requests.code)} attempts`, target.retentionDays),
    ),
    line(
      'replay marks kept',
      'rows',
      (s) => s.marksKept,
      kept(`${shown(verifies)} verifies`, Math.min(target.retentionDays, REPLAY_MEMORY_DAYS)),
    ),
    line(
      'storage of PostgreSQL',
      'GiB',
      (s) => s.storageGib,
      `${BLOAT} x (people x ${shown(costs.bytes.person)} + attempts x ${shown(costs.bytes.attempt)} + marks x ${shown(costs.bytes.replay_mark)} bytes)`,
    ),
    line(
      'Redis commands',
      'a second',
      (s) => s.redisCommands,
      `${shown(m.peak)}/s x (${sum(({ redis_commands }) => redis_commands)})`,
    ),
    line(
      'memory of Redis',
      'MiB',
      (s) => s.redisMib,
      `${shown(m.peak)}/s x ${SESSION_S} s a session lives x ${shown(costs.bytes.session)} bytes`,
    ),
    line(
      'masters of Redis',
      'processes, a core each',
      (s) => s.redisMasters,
      `${shown(m.peak)}/s x ${shown(m.redisUs)} µs / ${BUSY_MAX}, rounded up; more than one is Redis Cluster, of three or more`,
    ),
    line(
      'machines',
      `machines of ${target.cores} cores`,
      (s) => s.machines.processes + s.machines.proxies + s.machines.postgres + s.machines.redis,
      `${m.machines.processes} for the processes + ${m.machines.proxies} proxies + ${m.machines.postgres} of PostgreSQL${m.machines.postgres > 1 ? ' (one a standby)' : ''} + ${m.machines.redis} of Redis`,
    ),
  ]
}

function limitsOf(costs: CapacityCosts, target: CapacityTarget, m: Sizes): Limit[] {
  const requests = requestsOf(target)
  const verifies = requests.verify_first + requests.verify
  const postgresCores = Math.max(1, Math.ceil(m.postgresCores))
  const writes = verifies + requests.code + requests.enroll
  const limit = (part: string, signInsPerS: number, because: string): Limit => ({ part, signInsPerS, because })
  const limits = [
    limit(
      'processes, to keep the p99',
      (m.processes * m.busy * 1e6) / m.frontUs,
      `${m.processes} x ${shown(m.busy)} / ${shown(m.frontUs)} µs`,
    ),
    limit('processes, to keep up at all', (m.processes * 1e6) / m.frontUs, `${m.processes} / ${shown(m.frontUs)} µs`),
    limit(
      `PostgreSQL on ${postgresCores} ${postgresCores === 1 ? 'core' : 'cores'}`,
      (postgresCores * 1e6) / m.postgresUs,
      `${postgresCores} / ${shown(m.postgresUs)} µs`,
    ),
    limit(
      m.redisMasters === 1 ? 'one Redis, one thread' : `${m.redisMasters} masters of Redis`,
      (m.redisMasters * 1e6) / m.redisUs,
      `${m.redisMasters} / ${shown(m.redisUs)} µs`,
    ),
    limit(
      'commits',
      (m.processes * BATCH_MAX * 1000) / costs.commit_ms.typical / writes,
      `${m.processes} processes x ${BATCH_MAX} attempts a commit / ${shown(costs.commit_ms.typical)} ms / ${shown(writes)} writes`,
    ),
  ]
  return limits.filter(({ signInsPerS }) => Number.isFinite(signInsPerS)).sort((a, b) => a.signInsPerS - b.signInsPerS)
}

function adviceOf(costs: CapacityCosts, target: CapacityTarget, m: Sizes, limits: readonly Limit[]): string[] {
  const [first] = limits
  const held = Math.floor((m.cacheMib * MIB) / costs.bytes.cached_profile)
  return [
    ...(first === undefined
      ? []
      : [
          `Breaks first: ${first.part}, at ${shown(first.signInsPerS)} sign-ins a second (${shown(first.signInsPerS / m.peak)} times the peak).`,
        ]),
    ...(m.connections > CONNECTIONS_MAX
      ? [
          `${m.connections} connections are more than the ${CONNECTIONS_MAX} of PostgreSQL's default: raise max_connections, lower DATABASE_POOL, or put PgBouncer in front.`,
        ]
      : []),
    ...(m.processes - target.spare < 2 && target.spare === 0
      ? ['One process: an update or a crash stops sign-ins for a moment.']
      : []),
    ...(m.redisMasters > 1
      ? [`One Redis is too busy: take Redis Cluster of ${m.redisMasters} masters, each with a replica.`]
      : []),
    ...(m.postgresCores > target.cores
      ? [
          `PostgreSQL wants ${shown(m.postgresCores)} cores, more than the ${target.cores} of a machine: it needs a larger one (--cores), or organizations on several.`,
        ]
      : []),
    ...(held < m.cachedProfiles
      ? [
          `The cache of a process holds ${shown(held)} of the ${shown(m.cachedProfiles)} people that it meets in five minutes: plan with a smaller --remembered.`,
        ]
      : []),
  ]
}

/** For the machines that serve, and what goes with it in the stores. */
function configurationOf(target: CapacityTarget, m: Sizes): string[] {
  return [
    `# each of ${m.machines.processes} machines that serve`,
    `PROCESSES=${Math.ceil(m.processes / m.machines.processes)}`,
    `PROFILE_CACHE_MB=${m.cacheMib}`,
    `DATABASE_POOL=${target.pool}`,
    m.redisMasters === 1
      ? 'REDIS_URL=redis://<host>:6379'
      : `REDIS_URL=${Array.from({ length: CLUSTER_MIN }, (_, i) => `redis://<master-${i + 1}>:6379`).join(',')}`,
    '# postgresql.conf',
    `max_connections = ${Math.max(100, m.connections + ADMINISTRATION)}`,
    '# redis.conf',
    `maxmemory ${Math.ceil((2 * m.redisMib) / m.redisMasters)}mb`,
    'maxmemory-policy noeviction',
  ]
}
