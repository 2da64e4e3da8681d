import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { audit } from '../harness/audit.js'
import { deployment } from '../harness/deployment.js'
import { type Victim, wellBehaved } from '../harness/fault.js'
import { figure, LONG } from '../harness/figure.js'
import { type Ask, client, newPerson, startLoad } from '../harness/load.js'
import { until } from '../harness/patience.js'
import { redisUrl } from '../harness/service.js'
import { startProcess } from '../harness/service-process.js'
import { startProxy, type TcpProxy } from '../harness/tcp-proxy.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'

/** Attempts in each session, half of them on each node. */
const ATTEMPTS = LONG ? 200 : 24
const FLAPS = LONG ? 60 : 4

describe.skipIf(redisUrl === null)('two nodes, one of them cut off', () => {
  let fresh: FreshDatabase
  let direct: postgres.Sql
  let toPostgres: TcpProxy
  let toRedis: TcpProxy
  let nodes: [Victim, Victim]
  let asks: [Ask & { end(): void }, Ask & { end(): void }]

  beforeAll(async () => {
    fresh = await freshDatabase()
    const { env, apikey } = await deployment(fresh.url)
    direct = postgres(fresh.url, { max: 1 })
    await direct`set role keystride_system`
    toPostgres = await startProxy(Number(new URL(fresh.url).port))
    toRedis = await startProxy(Number(new URL(redisUrl ?? '').port))
    const proxied = new URL(fresh.url)
    proxied.port = String(toPostgres.port)
    const services = await Promise.all([
      startProcess({ ...env, STORE_PATIENCE: '1', REDIS_URL: redisUrl ?? '' }),
      startProcess({
        ...env,
        STORE_PATIENCE: '1',
        DATABASE_URL: proxied.href,
        REDIS_URL: `redis://127.0.0.1:${toRedis.port}`,
      }),
    ])
    const victim = (i: 0 | 1): Victim => ({
      name: `node ${i}`,
      service: services[i],
      apikey,
      databaseUrl: () => fresh.url,
    })
    nodes = [victim(0), victim(1)]
    asks = [client(services[0].core, apikey), client(services[1].core, apikey)]
  })
  afterAll(async () => {
    for (const ask of asks) ask.end()
    await Promise.all(nodes.map(({ service }) => service.stop()))
    await direct.end()
    await toPostgres.close()
    await toRedis.close()
    await fresh.drop()
  })

  const serves = async (node: 0 | 1) => (await asks[node]('organization', 'GET', '/organization')).status === 200

  it.each([
    ['Redis, both directions', () => toRedis, 'both'],
    ['Redis, answers only', () => toRedis, 'down'],
    ['Redis, requests only', () => toRedis, 'up'],
    ['PostgreSQL, both directions', () => toPostgres, 'both'],
    ['PostgreSQL, answers only', () => toPostgres, 'down'],
    ['PostgreSQL, requests only', () => toPostgres, 'up'],
  ] as const)('from %s: both together judge no more than the budget of the session', async (_what, line, way) => {
    const who = newPerson()
    await who.enroll(asks[0])
    const { session } = await asks[0]('bootstrap', 'GET', `/users/${who.userRef}`)
    const verify = (on: 0 | 1) =>
      // Each has its own client, so that the requests are concurrent.
      withOwnClient(nodes[on], (ask) =>
        ask('verify', 'POST', `/users/${who.userRef}/verify`, { session, body: who.next() }),
      )
    // The cut happens during these requests.
    const first = Array.from({ length: ATTEMPTS / 2 }, (_one, i) => verify((i % 2) as 0 | 1))
    line().stall(way)
    const second = Array.from({ length: ATTEMPTS / 2 }, (_one, i) => verify((i % 2) as 0 | 1))
    const during = await Promise.all([...first, ...second])
    line().pass()
    await until(() => serves(1))
    const after = await Promise.all([verify(0), verify(1)])

    const [row] =
      await direct`select count(*)::int as judged from keystride.authentication where user_ref = ${who.userRef}`
    const judged = [...during, ...after].filter(({ json }) => ['verified', 'rejected'].includes(json?.action))
    const sent = during.length + after.length
    figure('F17', `${row?.judged} judged of ${sent} in a cut (bar 3)`, '3 at the most', row?.judged <= 3)
    expect(judged.length).toBeLessThanOrEqual(row?.judged)
    for (const node of nodes) wellBehaved(node, [...during, ...after])
  })

  it(`from its stores, on and off ${FLAPS} times: recovers and keeps everything acknowledged`, async () => {
    const [, flapping] = nodes
    const load = await startLoad(flapping.service.core, flapping.apikey)
    const refusals = () => load.answers.filter(({ status }) => status === 503).length
    for (let n = 0; n < FLAPS; n++) {
      const before = refusals()
      toPostgres.stall()
      toRedis.stall()
      await until(() => refusals() > before)
      toPostgres.pass()
      toRedis.pass()
      await until(() => serves(1))
    }
    await load.stop()
    wellBehaved(flapping, load.answers)
    figure('F17', await audit(flapping, load), 'serves again, acknowledged N of N', true)
  })
})

async function withOwnClient<T>({ service, apikey }: Victim, work: (ask: Ask) => Promise<T>): Promise<T> {
  const ask = client(service.core, apikey)
  try {
    return await work(ask)
  } finally {
    ask.end()
  }
}
