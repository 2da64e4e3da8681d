import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { whyNoStandby } from '../../bench/shared/debian-postgres.js'
import { connectPostgres } from '../../src/storage/postgres/connection/client.js'
import { findPrimary, serversOf } from '../../src/storage/postgres/connection/primary.js'
import { type Pair, startPair } from '../servers/standby.js'
import { backEnds } from '../service.js'
import { until } from '../storage/fixtures.js'
import { figure, LONG } from '../trust/figure.js'
import { deployment } from './deployment.js'
import { allHeld, figureText, injectFault, type Victim } from './fault.js'
import { table } from './figures.js'
import { startProcess } from './service-process.js'

const why = whyNoStandby()
if (why !== null) console.warn(`\n*** ${why} ***\n`)
const ATTEMPTS = 'select count(*)::int as n from keystride.authentication'

/** The tests depend on each other: the last one ends the primary. */
describe.skipIf(why !== null)('a PostgreSQL with a synchronous standby', { timeout: 120_000 }, () => {
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

  it('acknowledges only what the standby has', async () => {
    const database = connectPostgres({ url: pair.url, max: 2 })
    const rename = (name: string) =>
      database.scoped(made.organizationId, (sql) => sql`update keystride.organization set name = ${name}`)
    const renamed = async () => (await pair.standby.run('select name from keystride_names'))[0]?.name
    await pair.primary.run('create view keystride_names as select name from keystride.organization')
    await rename('first')
    expect(await renamed()).toBe('first')
    await pair.standby.signalAll('SIGSTOP')
    try {
      await expect(rename('second')).rejects.toMatchObject({ kind: 'degraded' })
    } finally {
      await pair.standby.signalAll('SIGCONT')
    }
    await until(() =>
      rename('third').then(
        () => true,
        () => false,
      ),
    )
    expect(await renamed()).toBe('third')
    await database.close()
  })

  it('is promoted after the primary is killed under load, with everything acknowledged', async () => {
    const victims: Victim[] = []
    for (const { name, redisUrl } of LONG ? backEnds : backEnds.slice(-1))
      victims.push({
        name,
        service: await startProcess({ ...made.env, ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }) }),
        apikey: made.apikey,
        databaseUrl: () => pair.standby.url,
      })
    const figures = await injectFault(victims, {
      name: 'primary kill -9, standby promoted',
      async hurt() {
        // Enough attempts that a loss would show.
        const attempts = async () => Number((await pair.primary.run(ATTEMPTS))[0]?.n)
        await until(async () => (await attempts()) >= (LONG ? 300 : 20), 60_000)
        const at = performance.now()
        await pair.primary.kill()
        return at
      },
      heal: () => pair.promote(),
    })
    console.log(table('fail-over of PostgreSQL', figures))
    figure('F09', figureText(figures), 'OK within 2 s of the promotion, acknowledged N of N', allHeld(figures))
    for (const { service } of victims) await service.stop()
    // The old primary restarts. Both servers then accept writes, and the one with the newer timeline is chosen.
    await pair.primary.restart()
    const [one, two] = serversOf(pair.url)
    expect(await findPrimary([one ?? ''])).toEqual({ url: one, timeline: 1 })
    expect(await findPrimary([one ?? '', two ?? ''])).toEqual({ url: two, timeline: 2 })
  })
})
