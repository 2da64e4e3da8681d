import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectPostgres } from '../../src/storage/postgres/connection/client.js'
import { deployment } from '../harness/deployment.js'
import { figure, LONG } from '../harness/figure.js'
import { type Answer, client, startLoad } from '../harness/load.js'
import { until } from '../harness/patience.js'
import { type ServiceProcess, startProcess } from '../harness/service-process.js'
import { certificate } from '../servers/certificate.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { muteSink, smtpSink } from '../servers/sinks.js'

const DEAD_MS = LONG ? 600_000 : 0
const GUESSES_LEAST = LONG ? 1000 : 10

let fresh: FreshDatabase
let service: ServiceProcess
let apikey: string
const folder = mkdtempSync(join(tmpdir(), 'keystride-sinks-'))
beforeEach(async () => {
  fresh = await freshDatabase()
  const made = await deployment(fresh.url)
  apikey = made.apikey
  writeFileSync(join(folder, 'ca.pem'), certificate)
  service = await startProcess({ ...made.env, ALERT_HOSTS: 'localhost', ALERT_CA: join(folder, 'ca.pem') })
})
afterEach(async () => {
  await service.stop()
  await fresh.drop()
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Creates people and guesses each one's code wrong three times, until `over`. Each guess causes an alert. */
async function guessOnAndOn(name: string, over: () => boolean, rejected: () => void): Promise<Answer[]> {
  const answers: Answer[] = []
  const raw = client(service.core, apikey)
  const ask: typeof raw = Object.assign(async (...call: Parameters<typeof raw>) => {
    const answer = await raw(...call)
    answers.push(answer)
    return answer
  }, raw)
  for (let n = 0; !over(); n++) {
    const path = `/users/${name}-${n}`
    await ask('create', 'POST', path)
    const { session } = await ask('bootstrap', 'GET', path)
    await ask('code', 'PUT', `${path}/security-code`, { session, body: { securityCode: '749205' } })
    for (let guess = 0; guess < 3; guess++) {
      const { json } = await ask('guess', 'POST', `${path}/verify`, { session, body: { securityCode: '111999' } })
      if (json.action === 'rejected') rejected()
    }
  }
  raw.end()
  return answers
}

const failed = ({ status }: Answer) => status === 0 || status === 429 || status >= 500

describe('alert channels', () => {
  it('that are down under load fail no request, and send every alert once after their return', async () => {
    const dashboard = client(service.core.replace('/core', '/dashboard'), apikey)
    const [gone, mute] = [await smtpSink(), await muteSink()]
    await gone.close()
    const mail = { host: 'localhost', port: gone.port, tls: 'starttls', sender: 'k@corp.example' }
    const settings: [path: string, body: unknown][] = [
      ['/alert/email', { ...mail, recipients: ['sec@corp.example'] }],
      // A server that accepts connections and never answers is worse than none.
      ['/alert/syslog', { host: 'localhost', port: mute.port, transport: 'tls' }],
      ['/alert', { blocked: { email: true, syslog: true } }],
    ]
    for (const [path, body] of settings) expect((await dashboard('set', 'POST', path, { body })).status).toBe(200)
    dashboard.end()

    const load = await startLoad(service.core, apikey, { enrolling: 2, signingIn: 0 })
    let over = false
    let rejected = 0
    const counted = () => {
      rejected++
    }
    const guesses = [guessOnAndOn('ann', () => over, counted), guessOnAndOn('ben', () => over, counted)]
    await delay(DEAD_MS)
    await until(() => rejected > GUESSES_LEAST && mute.connections() > 0)
    const back = await smtpSink({}, gone.port)
    // Alerts after the return must be sent too.
    const before = rejected
    await until(() => rejected > before + 3)
    over = true
    await load.stop()
    const all = [...(await Promise.all(guesses)).flat(), ...load.answers]
    const failures = all.filter(failed)
    figure('F22', `${failures.length} of ${all.length} calls failed`, '0', failures.length === 0)

    // Alerts that come after all others: a second delivery would come before them.
    const last = rejected + 3
    await guessOnAndOn('last', () => rejected >= last, counted)
    const database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
    const [row] = await database.asSystem(
      (sql) => sql<{ n: number }[]>`
        select count(*)::int as n from keystride.authentication where recommended_action = 'block'`,
    )
    expect(row?.n).toBeGreaterThanOrEqual(rejected)
    const alerts = () => back.received.filter(({ raw }) => raw.includes('Kind: blocked'))
    await until(async () => {
      // Tries again at once, not after up to a minute.
      await database.call((sql) => sql`update pgboss.job set start_after = now() where state = 'retry'`)
      return alerts().length >= (row?.n ?? 0)
    })
    await database.close()
    expect(alerts().length).toBe(row?.n)
    const deliveries = alerts().map(({ raw }) => /X-Keystride-Delivery: (\S+)/.exec(raw)?.[1])
    const once = new Set(deliveries).size
    figure('F22', `${once} of ${row?.n} alerts delivered, once each`, 'all', once === row?.n)
    await back.close()
    await mute.close()
  })
})
