import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { table } from '../../src/cli/table.js'
import type { Generators, Measured } from '../ratio/generators.js'
import { coreCall } from '../ratio/people.js'
import { type SignIns, signInsFor } from '../ratio/sign-ins.js'
import { type Deployment, partsOf, type Running } from '../shared/deployment.js'
import { fillHistories } from '../shared/histories.js'
import { residentBytes } from '../shared/machine.js'
import { median } from '../shared/spread.js'
import { A_SECOND, CONNECTIONS, costOf, meterOf, type Used } from './costs.js'

/** PostgreSQL's `shared_buffers` for sign-ins, MiB: the database is to be at least four times as large, as one of years is. */
export const SIGN_IN_BUFFERS_MIB = 128
const TIMES_BUFFERS = 4
const ATTEMPTS = 48
/** A connection that is idle reports its counts after this time at the latest (PGSTAT_IDLE_INTERVAL of PostgreSQL is 10 s). */
const REPORTED_MS = 11_000
const [MIB, SCANNED] = [2 ** 20, 1000]
/** Sign-ins without a verify; field of a session in Redis that has the carried person. */
const [UNFINISHED, CARRIED] = [200, 'r']

/** Blocks of 8 kB that PostgreSQL found in its buffers (`hit`) or read into them. */
const BLOCKS = [
  ...(['heap_read', 'heap_hit', 'idx_read', 'idx_hit'] as const),
  ...(['toast_read', 'toast_hit', 'tidx_read', 'tidx_hit'] as const),
] as const
const isRead = (name: (typeof BLOCKS)[number]): boolean => name.endsWith('_read')
type Blocks = Readonly<Record<(typeof BLOCKS)[number], number>>

interface Needs {
  /** A deployment for this measurement alone, with `SIGN_IN_BUFFERS_MIB`. */
  readonly deployment: Deployment
  readonly service: Running
  readonly fronts: number
  readonly generators: Generators
  readonly options: { readonly rounds: number; readonly seconds: number }
  readonly people: number
  /** Draws sign-ins of these people. */
  readonly draw: SignIns
  readonly say: (line: string) => void
}

/** Creates people with as many earlier sign-ins as a comparison set knows, and draws their sign-ins. */
export async function peopleOf(needs: Pick<Needs, 'deployment' | 'service' | 'people' | 'say'>): Promise<SignIns> {
  const { deployment, service, people, say } = needs
  const filling = { port: service.port, people, attempts: ATTEMPTS, first: 0, say }
  return signInsFor(await fillHistories(deployment, filling))({ first: 0, people })
}

/**
 * Measures whole sign-ins of people with a history, in random order, with the caches as shipped: each session carries its person,
 * so that hardly anybody is cached.
 */
export async function measureSignIns(needs: Needs) {
  const { deployment, service, people, draw, say } = needs
  const { databaseUrl, redisUrl } = deployment
  if (redisUrl === null) throw new Error('sign-ins need a Redis: put redis-server on the PATH')
  const [sql, redis] = [postgres(databaseUrl, { max: 1, fetch_types: false }), new Redis(redisUrl)]
  try {
    const [{ bytes: databaseBytes = 0, sets = 0 } = {}] = await sql<{ bytes: number; sets: number }[]>`
      select pg_database_size(current_database())::float8 as bytes,
        pg_total_relation_size('keystride.comparison_set')::float8 as sets`
    if (databaseBytes < TIMES_BUFFERS * SIGN_IN_BUFFERS_MIB * MIB)
      say(`the database of ${Math.round(databaseBytes / MIB)} MiB is less than four times the buffers`)
    const { rounds, counted, signIns } = await measureRounds(needs, { redis, sql })
    const call = coreCall({ port: service.port, apikey: deployment.apikey })
    const inRedis = await sessionBytes(redis, async () => {
      for (const { userRef } of draw(1)) await (await call('GET', `/users/${userRef}`)).arrayBuffer()
    })
    const each = (total: number) => Number((total / signIns).toPrecision(4))
    const { blocks, wal } = counted
    return {
      cost: costOf(rounds.map(({ used }) => used)),
      per_s: median(rounds.map(({ per_s }) => per_s)),
      p50_ms: median(rounds.map(({ p50_ms }) => p50_ms)),
      p99_ms: median(rounds.map(({ p99_ms }) => p99_ms)),
      sign_ins: signIns,
      blocks: Object.fromEntries(BLOCKS.map((name) => [name, each(sumOf(blocks, name))])),
      blocks_read: each(BLOCKS.filter(isRead).reduce((sum, name) => sum + sumOf(blocks, name), 0)),
      blocks_by_table: Object.fromEntries(
        [...blocks].map(([name, of]) => [name, Object.fromEntries(BLOCKS.map((block) => [block, each(of[block])]))]),
      ),
      wal_bytes: each(wal),
      redis_session_bytes: inRedis.session,
      redis_carried_bytes: inRedis.carried,
      comparison_set_bytes: Math.round(sets / people),
      process_bytes: residentBytes(service.pid)?.largest ?? 0,
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
}

/** Rounds of a closed loop. The first one compiles code and is not counted. */
async function measureRounds(needs: Needs, { redis, sql }: Measuring) {
  const { deployment, service, fronts, options, draw, say } = needs
  const meter = meterOf(deployment, redis)
  const rounds: (Measured & { readonly used: Used })[] = []
  let before = await countersOf(sql)
  for (let round = -1; round < options.rounds; round++) {
    const send = await preparedSignIns(needs, draw, CONNECTIONS * fronts)
    const found: Measured[] = []
    const { used } = await meter(service, async () => {
      const measured = await send()
      found.push(measured)
      return measured.answers
    })
    if (round < 0) {
      before = await countersOf(sql)
      continue
    }
    for (const measured of found) {
      rounds.push({ ...measured, used })
      const { per_s, p99_ms } = measured
      say(`round ${round + 1} of ${options.rounds}: ${per_s} sign-ins a second, p99 ${p99_ms} ms`)
    }
  }
  const signIns = rounds.reduce((sum, { answers }) => sum + answers, 0)
  return { rounds, counted: since(before, await countersOf(sql)), signIns }
}

/**
 * Creates the requests of sign-ins. The result sends them in a closed loop of `atOnce`, and throws if more than 1 % are not
 * answered 200.
 */
export async function preparedSignIns(
  { deployment, service, generators, options }: Pick<Needs, 'deployment' | 'service' | 'generators' | 'options'>,
  draw: SignIns,
  atOnce: number,
): Promise<() => Promise<Measured>> {
  const { seconds } = options
  const to = { apikey: deployment.apikey, path: '/core/users/{userRef}' }
  await generators.prepare({ kind: 'prepare-sign-ins', units: draw(A_SECOND * seconds), ...to })
  const how = { port: service.port, parts: partsOf(deployment, [service]), rate: null, warmUpS: 0 }
  return async () => {
    const measured = await generators.go({ ...how, connections: atOnce, seconds })
    const { answers, statuses } = measured
    if ((statuses[200] ?? 0) < 0.99 * answers || answers === 0)
      throw new Error(`sign-ins: answers were not 200 but ${JSON.stringify(statuses)}`)
    return measured
  }
}

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

/**
 * Bytes in Redis of a live session: the mean of those without a person, and its share of the people's other keys; and bytes that a
 * carried person adds. `begin` begins a sign-in without a verify.
 */
async function sessionBytes(redis: Redis, begin: () => Promise<void>): Promise<{ session: number; carried: number }> {
  for (let i = 0; i < UNFINISHED; i++) await begin()
  const [plain, carrying] = [
    { bytes: 0, n: 0 },
    { bytes: 0, n: 0 },
  ]
  let [others, cursor] = [0, '0']
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', 'ks:{*:history-*', 'COUNT', SCANNED)
    for (const key of keys) {
      const bytes = Number(await redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0'))
      if (!key.includes('}:session:')) others += bytes
      else {
        const kind = (await redis.hexists(key, CARRIED)) === 1 ? carrying : plain
        kind.bytes += bytes
        kind.n += 1
      }
    }
    cursor = next
  } while (cursor !== '0')
  const alone = plain.bytes / plain.n
  return {
    session: Math.round(alone + others / (plain.n + carrying.n)),
    carried: Math.round(carrying.bytes / carrying.n - alone),
  }
}

export type SignInsMeasured = Awaited<ReturnType<typeof measureSignIns>>

/** The table of the blocks and bytes of a sign-in. */
export function signInTable(found: SignInsMeasured): string {
  const { blocks, wal_bytes, redis_session_bytes, redis_carried_bytes, comparison_set_bytes } = found
  const { process_bytes, p50_ms, p99_ms, shared_buffers_mib, database_mib, people } = found
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
      ['bytes in Redis for the person that it carries', String(redis_carried_bytes), ''],
      ['bytes in PostgreSQL for a comparison set', String(comparison_set_bytes), ''],
      ['MiB of a process', String(Math.round(process_bytes / MIB)), ''],
      ['p50 and p99 under load, ms', String(p50_ms), String(p99_ms)],
    ],
  )
}
