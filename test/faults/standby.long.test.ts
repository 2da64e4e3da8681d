import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { whyNoStandby } from '../../bench/shared/debian-postgres.js'
import { connectPostgres } from '../../src/storage/postgres/connection/client.js'
import { findPrimary, serversOf } from '../../src/storage/postgres/connection/primary.js'
import { deployment } from '../harness/deployment.js'
import { injectFault, PROMISED, type Victim } from '../harness/fault.js'
import { figure, LONG } from '../harness/figure.js'
import { until } from '../harness/patience.js'
import { sharedBackEnds } from '../harness/service.js'
import { startProcess } from '../harness/service-process.js'
import { type Pgbouncer, startPgbouncer, whyNoPgbouncer } from '../servers/pgbouncer.js'
import { type Pair, startPair } from '../servers/standby.js'

const why = whyNoStandby()
if (why !== null) console.warn(`\n*** ${why} ***\n`)
const whyNoPooler = whyNoPgbouncer()
if (whyNoPooler !== null) console.warn(`\n*** ${whyNoPooler} ***\n`)
const ATTEMPTS = 'select count(*)::int as n from keystride.authentication'

/** Kills the primary under load and promotes the standby; `alsoKill` ends what is lost with the primary. */
async function failOver(pair: Pair, victims: Victim[], alsoKill: () => unknown = () => {}) {
  return injectFault(victims, {
    name: 'primary kill -9, standby promoted',
    async hurt() {
      // Enough attempts that a loss would show.
      const attempts = async () => Number((await pair.primary.run(ATTEMPTS))[0]?.n)
      await until(async () => (await attempts()) >= (LONG ? 300 : 20))
      await Promise.all([pair.primary.kill(), alsoKill()])
    },
    heal: () => pair.promote(),
  })
}

/** The tests depend on each other: the last one ends the primary. */
describe.skipIf(why !== null)('a PostgreSQL with a synchronous standby', () => {
  let pair: Pair
  let made: Awaited<ReturnType<typeof deployment>>
  beforeAll(async () => {
    pair = await startPair()
    made = await deployment(pair.url)
  })
  afterAll(() => pair?.close())

  it('is connected to its primary, wherever that is in the list', async () => {
    const [one, two] = serversOf(pair.url)
    expect([one, two].map((url) => new URL(url ?? '').port)).toEqual([`${pair.primary.port}`, `${pair.standby.port}`])
    expect(await findPrimary([two ?? '', one ?? ''])).toEqual({ url: one, timeline: 1 })
    expect(await findPrimary([two ?? ''])).toBeNull()
    expect(await findPrimary([one ?? ''], 2)).toBeNull()
  })

  it('is wanted by a start, which otherwise names each server and why it takes no writes', async () => {
    const lost = { ...made.env, DATABASE_URL: pair.url.replace(`:${pair.primary.port}`, ':1') }
    await expect(startProcess(lost)).rejects.toThrow(
      `no server of DATABASE_URL takes writes (127.0.0.1:1: no database answers (ECONNREFUSED); 127.0.0.1:${pair.standby.port}: a standby)`,
    )
  })

  it('acknowledges only what the standby has', async () => {
    const database = connectPostgres({ url: pair.url, max: 2 })
    const rename = (name: string) =>
      database.scoped(made.organizationId, (sql) => sql`update keystride.organization set name = ${name}`)
    const renamed = async () => (await pair.standby.run('select name from keystride_names'))[0]?.name
    const renames = (name: string) =>
      until(() =>
        rename(name).then(
          () => true,
          () => false,
        ),
      )
    await pair.primary.run('create or replace view keystride_names as select name from keystride.organization')
    await renames('first')
    expect(await renamed()).toBe('first')
    await pair.standby.signalAll('SIGSTOP')
    try {
      await expect(rename('second')).rejects.toMatchObject({ kind: 'degraded' })
    } finally {
      await pair.standby.signalAll('SIGCONT')
    }
    await renames('third')
    expect(await renamed()).toBe('third')
    await database.close()
  })

  it('is promoted after the primary is killed under load, with everything acknowledged', async () => {
    const victims: Victim[] = []
    for (const { name, redisUrl } of LONG ? sharedBackEnds : sharedBackEnds.slice(-1))
      victims.push({
        name,
        service: await startProcess({
          ...made.env,
          STORE_PATIENCE: '1',
          ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
        }),
        apikey: made.apikey,
        databaseUrl: () => pair.standby.url,
      })
    try {
      figure('F09', await failOver(pair, victims), PROMISED, true)
    } finally {
      for (const { service } of victims) await service.stop()
    }
    // The old primary restarts. Both servers then accept writes, and the one with the newer timeline is chosen.
    await pair.primary.restart()
    const [one, two] = serversOf(pair.url)
    expect(await findPrimary([one ?? ''])).toEqual({ url: one, timeline: 1 })
    expect(await findPrimary([one ?? '', two ?? ''])).toEqual({ url: two, timeline: 2 })
  })

  it('gets its old primary back as a standby by pg_rewind, with what the promoted server wrote', async () => {
    await pair.primary.run('set synchronous_commit = local; create table keystride_lost ()')
    await pair.standby.run('create table keystride_kept ()')
    await pair.primary.kill()
    await pair.rewind()
    const tables = () =>
      pair.primary.run(`select relname from pg_class where relname in ('keystride_lost', 'keystride_kept')`)
    await until(async () => (await tables()).length > 0)
    expect(await tables()).toEqual([{ relname: 'keystride_kept' }])
    expect(await pair.primary.run('select pg_is_in_recovery() as standby')).toEqual([{ standby: true }])
  })
})

describe.skipIf(why !== null || whyNoPooler !== null)('a PgBouncer on each of two servers', () => {
  it('is followed from the lost primary to the promoted standby, with everything acknowledged', async () => {
    const pair = await startPair()
    const poolers: Pgbouncer[] = []
    try {
      const users = await pair.users()
      expect(users).toMatch(/^"keystride" "SCRAM-SHA-256\$4096:/)
      const withPassword = serversOf(pair.url)
      for (const url of withPassword) poolers.push(await startPgbouncer(url, {}, users))
      const [one, two] = poolers.map((pooler, n) => new URL(pooler.through(withPassword[n] ?? '')))
      const { env, apikey } = await deployment(`${one?.href.replace(one.host, `${one.host},${two?.host}`)}`)
      const service = await startProcess({ ...env, STORE_PATIENCE: '1' })
      const victim = { name: 'behind PgBouncer', service, apikey, databaseUrl: () => pair.standby.url }
      await failOver(pair, [victim], () => poolers[0]?.kill())
      await service.stop()
    } finally {
      await Promise.all(poolers.map((pooler) => pooler.close()))
      await pair.close()
    }
  })
})
