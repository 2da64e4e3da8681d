import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { request } from '../../bench/shared/drive.js'
import { suggestWords } from '../../src/domain/typing-words.js'
import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'
import { type MadeUpPerson, person } from '../../src/typist/made-up-person.js'
import { administration, openStores } from '../../src/wiring/open-stores.js'
import type { Stores } from '../../src/wiring/stores.js'
import { freshDatabase } from '../servers/database.js'
import { redisIsHere } from './flushed-redis.js'
import { type KeepAlive, keepAlive, type WireAnswer } from './keep-alive.js'
import { until } from './patience.js'
import { type ServiceProcess, startProcess } from './service-process.js'

/** Index of the service. */
export type On = 0 | 1

interface Call extends WireAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
  readonly json: any
}

/** Two processes of the service on one database and, if given, one Redis, and their stores, opened in this process. */
export interface TwoServices {
  readonly organizationId: string
  readonly databaseUrl: string
  readonly stores: Stores
  /** Runs a statement that no store offers. It sees every organization and has no timeout. */
  query(statement: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  readonly services: [ServiceProcess, ServiceProcess]
  /** The bytes of one HTTP request. */
  bytes(method: string, path: string, session?: string, body?: unknown): Buffer
  connect(on: On): Promise<KeepAlive>
  call(on: On, method: string, path: string, session?: string, body?: unknown): Promise<Call>
  /** Like `call`, with a retry after 503, which a loaded machine answers now and then. Throws at any other refusal. */
  sure(on: On, method: string, path: string, session?: string, body?: unknown): Promise<Call>
  /** Begins a session and returns its token. */
  bootstrap(userRef: string, on?: On): Promise<string>
  /** Kills a service if it runs, and starts it again. */
  restart(on: On): Promise<void>
  /** Runs `work` while a transaction holds the locks of the statement. */
  holding(statement: string, work: () => Promise<void>): Promise<void>
  /** Number of recorded attempts of the users whose userRef matches this LIKE pattern. */
  recorded(userRef: string): Promise<number>
  close(): Promise<void>
}

/** The available back ends, each with its own Redis. */
export const ownBackEnds: readonly { name: string; withRedis: boolean }[] = [
  { name: 'PostgreSQL alone', withRedis: false },
  ...(redisIsHere() ? [{ name: 'PostgreSQL and Redis', withRedis: true }] : []),
]

export async function startTwo(redisUrl: string | null, more: Record<string, string> = {}): Promise<TwoServices> {
  const fresh = await freshDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'keystride-two-'))
  const env = {
    DATABASE_URL: fresh.url,
    KEYSTRIDE_DATA: folder,
    ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
    ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
    ...more,
  }
  const stores = await openStores(readConfig({ ...env, STORE_PATIENCE: '10' }), jsonLog('silent'), { redis: true })
  const client = new pg.Client({ connectionString: fresh.url })
  await client.connect()
  await client.query('set role keystride_system')
  const query: TwoServices['query'] = async (statement, values = []) =>
    (await client.query(statement, [...values])).rows
  const administer = administration(stores)
  const { id: organizationId } = await administer.create('Two')
  const { apikey } = await administer.issueKey(organizationId, 'test')
  const services = await Promise.all([startProcess(env), startProcess(env)])

  const portOf = (on: On) => Number(new URL(services[on].core).port)
  const bytes: TwoServices['bytes'] = (method, path, session = '', body) =>
    request(
      method,
      `/core${path}`,
      {
        apikey,
        ...(session === '' ? {} : { 'x-service-session': session }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body === undefined ? '' : JSON.stringify(body),
    )
  const call: TwoServices['call'] = async (on, method, path, session, body) => {
    const connection = await keepAlive(portOf(on))
    try {
      const answer = await connection.send(bytes(method, path, session, body))
      return { ...answer, json: JSON.parse(answer.body) }
    } finally {
      connection.close()
    }
  }
  const sure: TwoServices['sure'] = async (...of) => {
    let answer = await call(...of)
    await until(async () => {
      if (answer.status !== 503) return true
      answer = await call(...of)
      return false
    })
    if (answer.status >= 300) throw new Error(`${of[1]} ${of[2]}: ${answer.status} ${answer.body}`)
    return answer
  }
  return {
    organizationId,
    databaseUrl: fresh.url,
    stores,
    query,
    services,
    bytes,
    connect: (on) => keepAlive(portOf(on)),
    call,
    sure,
    bootstrap: async (userRef, on = 0) => (await sure(on, 'GET', `/users/${userRef}`)).session,
    async restart(on) {
      await services[on].kill()
      services[on] = await startProcess(env)
    },
    async holding(statement, work) {
      await query('begin')
      try {
        await query(statement)
        await work()
      } finally {
        await query('rollback')
      }
    },
    async recorded(userRef) {
      const [row] = await query('select count(*)::int as n from keystride.authentication where user_ref like $1', [
        userRef,
      ])
      return Number(row?.n)
    },
    async close() {
      await Promise.all(services.map((one) => one.kill()))
      await stores.close()
      await client.end()
      await fresh.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const text = (seed: number) => suggestWords('en', seed).join(' ')
let seeds = 1

/** Creates an account with a security code. */
export async function withCode(two: TwoServices, userRef: string, securityCode: string): Promise<void> {
  await two.sure(1, 'POST', `/users/${userRef}`)
  const session = await two.bootstrap(userRef, 1)
  await two.sure(1, 'PUT', `/users/${userRef}/security-code`, session, { securityCode })
}

/** Creates an account with a complete profile. `types` returns a new pattern of its owner. */
export async function enrolled(two: TwoServices, userRef: string): Promise<{ types: () => unknown }> {
  const who: MadeUpPerson = person(seeds++)
  await two.sure(0, 'POST', `/users/${userRef}`)
  const session = await two.bootstrap(userRef)
  // A made-up person is sometimes taken for a machine and then types again.
  for (let n = 0, stored = 0; stored < 5; n++) {
    const body = who.types(text(n), n)
    const { status } = await two.call((n % 2) as On, 'POST', `/users/${userRef}/typing-patterns`, session, body)
    if (status === 200) stored++
    // A pattern that was refused as late may be stored, so the profile may be complete before five are acknowledged.
    if (status === 409) break
  }
  let next = 100
  return { types: () => who.types(text(next), next++) }
}

/** `count` patterns of different impostors, far slower than any enrolled person. */
export const strangers = (count: number): unknown[] =>
  Array.from({ length: count }, (_, i) => person(900_000 + i).types(text(i).slice(0, 20), i, { tempo: 2 }))

/** Runs `work` over `count` connections, half of them to each process, until all are done. */
export async function overConnections(
  two: TwoServices,
  count: number,
  work: (connection: KeepAlive, n: number) => Promise<void>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const connection = await two.connect((n % 2) as On)
      await work(connection, n).finally(() => connection.close())
    }),
  )
}
