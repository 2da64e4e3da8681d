import type { CapacityCosts } from './costs.js'
import { linesOf, type PlanLine, shown } from './plan-lines.js'
import { BUSY_MAX, type CapacityTarget, CLUSTER_MIN, requestsOf, type Sizes, sized, writesIn } from './sizes.js'

/** The highest rate of sign-ins that a part of the planned deployment can serve. */
interface Limit {
  readonly part: string
  readonly signInsPerS: number
  readonly because: string
}

export interface CapacityPlan {
  readonly lines: readonly PlanLine[]
  /** The lowest limit first. */
  readonly limits: readonly Limit[]
  readonly advice: readonly string[]
  /** Settings of the planned deployment, one a line. */
  readonly configuration: readonly string[]
}

/** Most attempts that share one commit (`storage/postgres/attempt/group-commit.ts`). */
const BATCH_MAX = 64
/** PostgreSQL's default without the connections reserved for administration. */
const CONNECTIONS_MAX = 97
/** Connections for other clients: the command line, a backup, monitoring, an overlapping deployment. */
const ADMINISTRATION = 20

/** `message` says why there is no plan. */
type Planned = { readonly ok: true; readonly plan: CapacityPlan } | { readonly ok: false; readonly message: string }

/** Sizes a deployment that meets the target at the end of its years, line by line, and finds its lowest limits. */
export function planCapacity(costs: CapacityCosts, target: CapacityTarget): Planned {
  const typical = sized(costs, target, 'typical')
  const [best, worst] = [sized(costs, target, 'low'), sized(costs, target, 'high')]
  for (const one of [typical, worst, best]) if (typeof one === 'string') return { ok: false, message: one }
  // Sound: the loop has returned any string.
  const [low, middle, high] = [best, typical, worst] as [Sizes, Sizes, Sizes]
  const limits = limitsOf(costs, target, middle)
  return {
    ok: true,
    plan: {
      lines: linesOf({ costs, target, middle }, low, high),
      limits,
      advice: adviceOf(target, middle, limits),
      configuration: configurationOf(target, middle),
    },
  }
}

function limitsOf(costs: CapacityCosts, target: CapacityTarget, m: Sizes): Limit[] {
  const postgresCores = Math.max(1, Math.ceil(m.postgresCores))
  const writes = writesIn(requestsOf(target))
  const limit = (part: string, signInsPerS: number, because: string): Limit => ({ part, signInsPerS, because })
  const limits = [
    limit(
      'processes, within the p99',
      (m.processes * m.busy * 1e6) / m.frontUs,
      `${m.processes} x ${shown(m.busy)} / ${shown(m.frontUs)} µs`,
    ),
    limit('processes, at full load', (m.processes * 1e6) / m.frontUs, `${m.processes} / ${shown(m.frontUs)} µs`),
    limit(
      `PostgreSQL on ${postgresCores} ${postgresCores === 1 ? 'core' : 'cores'}${m.databases === 1 ? '' : ` of ${m.databases} databases`}`,
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

function adviceOf(target: CapacityTarget, m: Sizes, limits: readonly Limit[]): string[] {
  const [first] = limits
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
      ? [`One Redis is too busy: use Redis Cluster with ${m.redisMasters} masters, each with a replica.`]
      : []),
    ...(m.postgresCores > target.cores
      ? [
          `PostgreSQL needs ${shown(m.postgresCores)} cores, more than the ${target.cores} of a machine: place the organizations over ${m.databases} databases (DATABASE_URLS), or use a larger machine (--cores).`,
          `One organization is in one database: at most ${shown((target.cores * BUSY_MAX * 1e6) / m.postgresUs)} sign-ins a second may be of the same one.`,
        ]
      : []),
  ]
}

/** Settings of the serving machines and of the stores. */
function configurationOf(target: CapacityTarget, m: Sizes): string[] {
  return [
    `# each of ${m.machines.processes} serving machines`,
    `PROCESSES=${Math.ceil(m.processes / m.machines.processes)}`,
    `DATABASE_POOL=${target.pool}`,
    ...(m.databases === 1
      ? []
      : [
          `DATABASE_URLS="${Array.from({ length: m.databases - 1 }, (_, i) => `d${i + 2}=postgres://<login>@<database-${i + 2}>/keystride`).join(' ')}"`,
        ]),
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
