import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { table } from '../../src/cli/table.js'
import type { Generators, Measured } from '../ratio/generators.js'
import { type SignIns, signInsFor } from '../ratio/sign-ins.js'
import { type Deployment, partsOf, type Running } from '../shared/deployment.js'
import { fillHistories } from '../shared/histories.js'
import { median } from '../shared/spread.js'
import { A_SECOND, CONNECTIONS, costOf, meterOf, type Used } from './costs.js'

/** PostgreSQL's `shared_buffers` for sign-ins, MiB: the database is to be at least four times as large, as one of years is. */
export const SIGN_IN_BUFFERS_MIB = 128
const TIMES_BUFFERS = 4
const ATTEMPTS = 48
/** A connection that is idle reports its counts after this time at the latest (PGSTAT_IDLE_INTERVAL of PostgreSQL is 10 s). */
const REPORTED_MS = 11_000
const [MIB, SCANNED, SESSIONS_MAX] = [2 ** 20, 1000, 5000]

/** Blocks of 8 kB that PostgreSQL found in its buffers (`hit`) or read into them. */
const BLOCKS = [
  ...(['heap_read', 'heap_hit', 'idx_read', 'idx_hit'] as const),
  ...(['toast_read', 'toast_hit', 'tidx_read', 'tidx_hit'] as const),
] as const
type Blocks = Readonly<Record<(typeof BLOCKS)[number], number>>

interface Needs {
  /** A deployment for this measurement alone, with `SIGN_IN_BUFFERS_MIB`. */
  readonly deployment: Deployment
  readonly service: Running
  readonly fronts: number
  readonly generators: Generators
  readonly options: { readonly rounds: number; readonly seconds: number }
  readonly people: number
  readonly say: (line: string) => void
}

/**
 * Measures whole sign-ins of people with a history, in random order, with the caches as shipped: nearly everybody is read from
 * the stores.
 */
export async function measureSignIns(needs: Needs) {
  const { deployment, service, people, say } = needs
  const { databaseUrl, redisUrl } = deployment
  if (redisUrl === null) throw new Error('sign-ins need a Redis: put redis-server on the PATH')
  const histories = await fillHistories(deployment, { port: service.port, people, attempts: ATTEMPTS, first: 0, say })
  const [sql, redis] = [postgres(databaseUrl, { max: 1, fetch_types: false }), new Redis(redisUrl)]
  try {
    const [{ bytes: databaseBytes = 0 } = {}] = await sql<{ bytes: number }[]>`
      select pg_database_size(current_database())::float8 as bytes`
    if (databaseBytes < TIMES_BUFFERS * SIGN_IN_BUFFERS_MIB * MIB)
      say(`the database of ${Math.round(databaseBytes / MIB)} MiB is less than four times the buffers`)
    const draw = signInsFor(histories)({ first: 0, people })
    const { rounds, counted, signIns } = await measureRounds(needs, { redis, sql, draw })
    const each = (total: number) => Number((total / signIns).toPrecision(4))
    const { blocks, wal } = counted
    return {
      cost: costOf(rounds.map(({ used }) => used)),
      per_s: median(rounds.map(({ per_s }) => per_s)),
      p50_ms: median(rounds.map(({ p50_ms }) => p50_ms)),
      p99_ms: median(rounds.map(({ p99_ms }) => p99_ms)),
      sign_ins: signIns,
      blocks: Object.fromEntries(BLOCKS.map((name) => [name, each(sumOf(blocks, name))])),
      blocks_by_table: Object.fromEntries(
        [...blocks].map(([name, of]) => [name, Object.fromEntries(BLOCKS.map((block) => [block, each(of[block])]))]),
      ),
      wal_bytes: each(wal),
      redis_session_bytes: await sessionBytes(redis),
      shared_buffers_mib: SIGN_IN_BUFFERS_MIB,
      database_mib: Math.round(databaseBytes / MIB),
      people,
    }
  } finally {
    redis.disconnect()
    await sql.end()
  }
}

interface Measuring {
  readonly redis: Redis
  readonly sql: postgres.Sql
  readonly draw: SignIns
}

/** Rounds of a closed loop. The first one compiles code and is not counted. */
async function measureRounds({ deployment, service, fronts, generators, options, say }: Needs, measuring: Measuring) {
  const { redis, sql, draw } = measuring
  const meter = meterOf(deployment, redis)
  const rounds: (Pick<Measured, 'per_s' | 'p50_ms' | 'p99_ms'> & { readonly used: Used })[] = []
  const path = '/core/users/{userRef}'
  const how = { port: service.port, parts: partsOf(deployment, [service]), rate: null, warmUpS: 0 }
  let signIns = 0
  let before = await countersOf(sql)
  for (let round = -1; round < options.rounds; round++) {
    const units = draw(A_SECOND * options.seconds)
    await generators.prepare({ kind: 'prepare-sign-ins', units, apikey: deployment.apikey, path })
    let found: Measured | null = null
    const { used, count } = await meter(service, async () => {
      found = await generators.go({ ...how, connections: CONNECTIONS * fronts, seconds: options.seconds })
      return found.answers
    })
    const { per_s, p50_ms, p99_ms, statuses } = found ?? NOTHING
    if ((statuses[200] ?? 0) < 0.99 * count || count === 0)
      throw new Error(`sign-ins: answers were not 200 but ${JSON.stringify(statuses)}`)
    if (round < 0) {
      before = await countersOf(sql)
      continue
    }
    rounds.push({ per_s, p50_ms, p99_ms, used })
    signIns += count
    say(`round ${round + 1} of ${options.rounds}: ${per_s} sign-ins a second, p99 ${p99_ms} ms`)
  }
  return { rounds, counted: since(before, await countersOf(sql)), signIns }
}

const NOTHING = { per_s: 0, p50_ms: 0, p99_ms: 0, statuses: {} as Measured['statuses'] }

interface Counters {
  /** By table; partitions count as their table. */
  readonly blocks: ReadonlyMap<string, Blocks>
  /** Bytes of the write-ahead log. */
  readonly wal: number
}

/** The counters of the server, once idle connections have reported theirs. */
async function countersOf(sql: postgres.Sql): Promise<Counters> {
  await delay(REPORTED_MS)
  const sums = BLOCKS.map((block) => `coalesce(sum(${block.replace('_', '_blks_')}), 0)::float8 as ${block}`)
  const rows = await sql.unsafe<(Blocks & { readonly name: string })[]>(`
    select regexp_replace(relname, '^authentication_.*', 'authentication') as name, ${sums.join()}
    from pg_statio_user_tables where schemaname = 'keystride' group by 1`)
  const [lsn] = await sql<{ wal: number }[]>`select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as wal`
  return { blocks: new Map(rows.map(({ name, ...blocks }) => [name, blocks])), wal: lsn?.wal ?? 0 }
}

/** The counts in between, without tables that nobody used. */
function since(before: Counters, after: Counters): Counters {
  const blocks = [...after.blocks].map(([name, of]): [string, Blocks] => {
    const earlier = before.blocks.get(name)
    const used = BLOCKS.map((block) => [block, of[block] - (earlier?.[block] ?? 0)])
    // Sound: one entry a block.
    return [name, Object.fromEntries(used) as Blocks]
  })
  return {
    blocks: new Map(blocks.filter(([, of]) => BLOCKS.some((block) => of[block] > 0))),
    wal: after.wal - before.wal,
  }
}

const sumOf = (blocks: Counters['blocks'], block: keyof Blocks): number =>
  [...blocks.values()].reduce((sum, of) => sum + of[block], 0)

/** Bytes in Redis for each live session: of all keys of the people, divided by their sessions. */
async function sessionBytes(redis: Redis): Promise<number> {
  let [bytes, sessions, cursor] = [0, 0, '0']
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', 'ks:{*:history-*', 'COUNT', SCANNED)
    const pipeline = redis.pipeline()
    for (const key of keys) pipeline.call('MEMORY', 'USAGE', key, 'SAMPLES', '0')
    for (const [, of] of (await pipeline.exec()) ?? []) bytes += Number(of)
    sessions += keys.filter((key) => key.includes('}:session:')).length
    cursor = next
  } while (cursor !== '0' && sessions < SESSIONS_MAX)
  return Math.round(bytes / sessions)
}

type SignInsMeasured = Awaited<ReturnType<typeof measureSignIns>>

/** The table of the blocks and bytes of a sign-in. */
export function signInTable(found: SignInsMeasured): string {
  const { blocks, wal_bytes, redis_session_bytes, shared_buffers_mib, database_mib, people, p50_ms, p99_ms } = found
  const of = (block: keyof Blocks) => String(blocks[block])
  return table(
    [
      `a sign-in of ${people} people, database ${database_mib} MiB, shared_buffers ${shared_buffers_mib} MiB`,
      'read',
      'hit',
    ],
    [
      ...(['heap', 'idx', 'toast', 'tidx'] as const).map((kind) => [
        `blocks of ${kind}`,
        of(`${kind}_read`),
        of(`${kind}_hit`),
      ]),
      ['bytes of the write-ahead log', String(wal_bytes), ''],
      ['bytes in Redis for a live session', String(redis_session_bytes), ''],
      ['p50 and p99 under load, ms', String(p50_ms), String(p99_ms)],
    ],
  )
}
