import { Redis } from 'ioredis'
import postgres from 'postgres'
import type { Range, RequestCost } from '../../src/capacity/costs.js'
import type { Generators } from '../ratio/generators.js'
import { enroll, userRef } from '../ratio/people.js'
import { mintIn, type unitsFor } from '../ratio/sessions.js'
import { type Deployment, partsOf, type Running } from '../shared/deployment.js'
import { usedBetween, usedSoFar } from '../shared/parts.js'
import { type Spread, spreadOf } from '../shared/spread.js'

interface Needs {
  readonly deployment: Deployment
  /** The processes of `forgetful` cache nearly nobody; both have the same number of fronts. */
  readonly service: Running
  readonly forgetful: Running
  readonly fronts: number
  readonly generators: Generators
  readonly units: ReturnType<typeof unitsFor>
  readonly options: {
    readonly rounds: number
    readonly seconds: number
    readonly people: number
    readonly presses: number
  }
  readonly say: (line: string) => void
}

/** Connections of the closed loops for each front: enough to keep it busy and to let attempts share commits. */
export const CONNECTIONS = 16
/** Verifies created per second of a loop; the rest is discarded. */
export const A_SECOND = 3000
const CODES = 20
const CREATED = 2000
const AT_ONCE = 16

/** Resources per request. */
export interface Used {
  readonly front_us: number
  readonly postgres_us: number
  readonly redis_us: number
  readonly redis_commands: number
}

/**
 * Enrolls the people, and measures the cost of each request of a sign-in in each part. With as many fronts as cores, all
 * cores are busy, as in a deployment that needs a plan: a core is faster while its neighbour is idle.
 */
export async function measureCosts(needs: Needs) {
  const { deployment, service, options, say } = needs
  const { redisUrl, databaseUrl, apikey, stores, organizationId, redisPid } = deployment
  if (redisUrl === null || redisPid === null)
    throw new Error('costs need a Redis of their own: unset REDIS_URL and put redis-server on the PATH')
  const redis = new Redis(redisUrl)
  const sql = postgres(databaseUrl, { max: 1, fetch_types: false })
  const meter = meterOf(deployment, redis)
  const sizes = () => sizesOf(sql)
  try {
    const bare = await sizes()
    say(`enrolling ${options.people} people ...`)
    const enrolling = { port: service.port, apikey, presses: options.presses }
    // The first half compiles code; it is not counted.
    const first = Math.floor(options.people / 2)
    await enroll({ ...enrolling, people: first })
    const enrolled = await meter(service, async () => {
      await enroll({ ...enrolling, first, people: options.people - first })
      return 5 * (options.people - first)
    })
    const filled = await sizes()
    const created = await meter(service, () => createAccounts({ port: service.port, apikey }))
    const kinds = await measureRounds(needs, { meter, minted: mintIn(stores.sessions, organizationId) })
    const done = await sizes()
    return {
      requests: {
        verify: costOf(kinds.verify),
        code: costOf(kinds.code),
        bootstrap: costOf(kinds.bootstrap),
        create: costOf([created.used]),
        enroll: costOf([enrolled.used]),
      },
      bytes: {
        attempt: Math.round((done.attempts - filled.attempts) / done.countSince(filled)),
        replay_mark: Math.round((done.marks - filled.marks) / done.countSince(filled)),
        person: Math.round((filled.people - bare.people) / options.people),
      },
    }
  } finally {
    redis.disconnect()
    await sql.end()
  }
}

interface Measuring {
  readonly meter: ReturnType<typeof meterOf>
  readonly minted: ReturnType<typeof mintIn>
}

/** Measures the repeated requests in rounds. */
async function measureRounds(needs: Needs, measuring: Measuring) {
  const { service, forgetful, options, say, deployment } = needs
  const { meter } = measuring
  const loop = looping(needs, measuring)
  const kinds = { bootstrap: [] as Used[], verify: [] as Used[], code: [] as Used[] }
  const path = '/core/users/{userRef}'
  const withCodes = { port: service.port, apikey: deployment.apikey }
  await setCodes(withCodes)
  for (let round = -1; round < options.rounds; round++) {
    const found = {
      bootstrap: await loop(service, 'GET', path, null),
      verify: await loop(forgetful, 'POST', `${path}/verify`, options.presses),
      code: await meter(service, () => verifyCodes(withCodes)),
    }
    // The first round compiles code; it is not counted.
    if (round < 0) continue
    for (const kind of ['bootstrap', 'verify', 'code'] as const) kinds[kind].push(found[kind].used)
    say(
      `round ${round + 1} of ${options.rounds}: a verify uses ${Math.round(found.verify.used.front_us)} µs of a front`,
    )
  }
  return kinds
}

/** Runs a closed loop of one kind of request and measures it. Throws if more than 1 % are not answered 200. */
function looping({ deployment, fronts, generators, units, options }: Needs, { meter, minted }: Measuring) {
  return async (running: Running, method: 'GET' | 'POST', path: string, presses: number | null) => {
    const count = presses === null ? options.people : (A_SECOND * options.seconds) / 3
    const [made, reuse] = [await units(count, presses === null ? async () => {} : minted), presses === null]
    await generators.prepare({ kind: 'prepare', units: made, apikey: deployment.apikey, method, path, presses, reuse })
    const parts = partsOf(deployment, [running])
    const how = { port: running.port, parts, connections: CONNECTIONS * fronts, rate: null, warmUpS: 0 }
    return meter(running, async () => {
      const { answers, statuses } = await generators.go({ ...how, seconds: options.seconds })
      if ((statuses[200] ?? 0) < 0.99 * answers || answers === 0)
        throw new Error(`${method} ${path}: answers were not 200 but ${JSON.stringify(statuses)}`)
      return answers
    })
  }
}

/** Measures the resources per request of `work`, which returns its number of requests. */
export function meterOf(deployment: Deployment, redis: Redis) {
  const commands = async () => Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1] ?? 0)
  return async (running: Running, work: () => Promise<number>): Promise<{ used: Used; count: number }> => {
    const now = () => usedSoFar(partsOf(deployment, [running]))
    const [before, commandsBefore] = [now(), await commands()]
    const count = await work()
    const [used, commandsAfter] = [usedBetween(before, now()), await commands()]
    const each = (s: number | null) => (1e6 * (s ?? Number.NaN)) / count
    return {
      count,
      used: {
        front_us: each(used.front),
        postgres_us: each(used.postgres),
        redis_us: each(used.redis),
        redis_commands: (commandsAfter - commandsBefore) / count,
      },
    }
  }
}

/** Sizes of the tables with their indexes, bytes. */
async function sizesOf(sql: postgres.Sql) {
  const of = async (pattern: string): Promise<number> => {
    const [row] = await sql<{ bytes: string }[]>`
      select coalesce(sum(pg_total_relation_size(c.oid)), 0) as bytes from pg_class c
      where c.relnamespace = 'keystride'::regnamespace and c.relkind = 'r' and c.relname ~ ${pattern}`
    return Number(row?.bytes ?? 0)
  }
  const [inserted] = await sql<{ n: string }[]>`
    select coalesce(sum(n_tup_ins), 0) as n from pg_stat_user_tables where relname ~ '^authentication_'`
  const count = Number(inserted?.n ?? 0)
  return {
    attempts: await of('^authentication'),
    marks: await of('^replay_mark'),
    people: await of('^(account|member|reference_pattern)$'),
    count,
    countSince: (earlier: { readonly count: number }) => Math.max(1, count - earlier.count),
  }
}

const CODE = '482915'

interface Service {
  readonly port: number
  readonly apikey: string
}

async function call(
  { port, apikey }: Service,
  method: string,
  path: string,
  { session = '', body }: { readonly session?: string; readonly body?: unknown } = {},
) {
  const answer = await fetch(`http://127.0.0.1:${port}/core/users/${path}`, {
    method,
    headers: {
      apikey,
      'content-type': 'application/json',
      ...(session === '' ? {} : { 'x-service-session': session }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return answer.headers.get('x-service-session') ?? ''
}

/** Creates accounts without enrollment. */
async function createAccounts(service: Service): Promise<number> {
  for (let i = 0; i < CREATED; i += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => call(service, 'POST', `created-${i + n}`)))
  return CREATED
}

async function setCodes(service: Service): Promise<void> {
  for (let i = 0; i < CODES; i++) {
    const session = await call(service, 'GET', userRef(i))
    await call(service, 'PUT', `${userRef(i)}/security-code`, { session, body: { securityCode: CODE } })
  }
}

/** Verifies one code in each of several sessions; the figure includes the bootstrap, about a hundredth of the hash. */
async function verifyCodes(service: Service): Promise<number> {
  for (let i = 0; i < CODES; i++) {
    const session = await call(service, 'GET', userRef(i))
    await call(service, 'POST', `${userRef(i)}/verify`, { session, body: { securityCode: CODE } })
  }
  return CODES
}

const rounded = (value: number) => Number(value.toPrecision(4))
/** Rounded to four digits. */
export const rangeOf = (spread: Spread): Range => ({
  low: rounded(spread.min),
  typical: rounded(spread.median),
  high: rounded(spread.max),
})

export function costOf(used: readonly Used[]): RequestCost {
  const of = (part: keyof Used) => rangeOf(spreadOf(used.map((one) => Math.max(0, one[part]))))
  return {
    front_us: of('front_us'),
    postgres_us: of('postgres_us'),
    redis_us: of('redis_us'),
    redis_commands: of('redis_commands').typical,
  }
}
