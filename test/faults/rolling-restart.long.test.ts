import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { request } from '../../bench/shared/drive.js'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { deployment } from '../harness/deployment.js'
import { figure, LONG } from '../harness/figure.js'
import { keepAlive } from '../harness/keep-alive.js'
import { client, newPerson } from '../harness/load.js'
import { until } from '../harness/patience.js'
import { type ServiceProcess, startProcess } from '../harness/service-process.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { type Haproxy, startHaproxy, whyNoHaproxy } from '../servers/haproxy.js'

const why = whyNoHaproxy()
if (why !== null) console.warn(`\n*** ${why} ***\n`)

const REQUESTS = LONG ? 100_000 : 1000
const CONNECTIONS = 4

describe.skipIf(why !== null)('two processes behind haproxy', () => {
  let fresh: FreshDatabase
  let env: Record<string, string>
  let apikey: string
  let services: [ServiceProcess, ServiceProcess]
  let haproxy: Haproxy
  beforeAll(async () => {
    fresh = await freshDatabase()
    const made = await deployment(fresh.url)
    apikey = made.apikey
    env = { ...made.env, STOP_LEAD_S: '2', DATABASE_POOL: '5' }
    const start = async () => startProcess({ ...env, PORT: String(await freePort()) })
    services = await Promise.all([start(), start()])
    const [one, two] = services.map(({ core }) => Number(new URL(core).port))
    haproxy = await startHaproxy([one ?? 0, two ?? 0])
  })
  afterAll(async () => {
    await haproxy?.close()
    await Promise.all(services?.map((service) => service.kill()) ?? [])
    await fresh?.drop()
  })

  it(
    'are restarted one after the other under load, and no request is refused',
    async () => {
      const outcomes: Record<string, number> = {}
      let total = 0
      let over = false
      const note = (what: string, status: number) => {
        total += 1
        const outcome = `${what} ${status}`
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
      }
      const who = newPerson()
      const ask = client(`http://127.0.0.1:${haproxy.port}/core`, apikey)
      await who.enroll(ask)
      async function signsInAgainAndAgain(): Promise<void> {
        while (!over) {
          const begun = await ask('bootstrap', 'GET', `/users/${who.userRef}`)
          note('bootstrap', begun.status)
          const { session } = begun
          note('verify', (await ask('', 'POST', `/users/${who.userRef}/verify`, { session, body: who.next() })).status)
        }
        ask.end()
      }
      /** Sends requests over one kept-alive connection. */
      async function asksAgainAndAgain(): Promise<void> {
        const connection = await keepAlive(haproxy.port)
        for (let n = 0; !over; n++) {
          const path = n % 4 === 0 ? `/users/${who.userRef}` : '/organization/language'
          const asked = request('GET', `/core${path}`, { apikey }, '')
          note(
            `GET ${path}`,
            await connection.send(asked).then(
              ({ status }) => status,
              () => 0,
            ),
          )
        }
        connection.close()
      }
      const clients = [signsInAgainAndAgain(), ...Array.from({ length: CONNECTIONS }, asksAgainAndAgain)]
      let restarts = 0
      for (let on: 0 | 1 = 0; restarts < 2 || total < REQUESTS; on = on === 0 ? 1 : 0) {
        const PORT = new URL(services[on].core).port
        const { status } = await services[on].stop()
        expect(status).toBe(0)
        services[on] = await startProcess({ ...env, PORT })
        await until(async () => (await haproxy.up()) === 2)
        restarts += 1
      }
      over = true
      await Promise.all(clients)

      const failed = Object.entries(outcomes).filter(([outcome]) => !outcome.endsWith(' 200'))
      expect(failed).toEqual([])
      const n = failed.reduce((sum, [, count]) => sum + count, 0)
      figure(
        'F08',
        `${n} of ${total} failed over ${restarts} restarts`,
        `0 of ${REQUESTS}`,
        n === 0 && total >= REQUESTS,
      )
    },
    LONG ? 1_800_000 : 300_000,
  )
})
