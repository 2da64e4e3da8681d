import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deployment } from '../harness/deployment.js'
import { countBy, metric, type Victim, wellBehaved } from '../harness/fault.js'
import { figure, LONG } from '../harness/figure.js'
import { type Ask, client, newPerson } from '../harness/load.js'
import { until } from '../harness/patience.js'
import { rawClient, request } from '../harness/raw.js'
import { type ServiceProcess, startProcess } from '../harness/service-process.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'

const ABORTS = LONG ? 10_000 : 200
const THROWS = LONG ? 1000 : 50

let fresh: FreshDatabase
let env: Record<string, string>
let service: ServiceProcess
let victim: Victim
let ask: Ask & { end(): void }
const folder = mkdtempSync(join(tmpdir(), 'keystride-rude-'))

beforeAll(async () => {
  fresh = await freshDatabase()
  const made = await deployment(fresh.url)
  env = made.env
  service = await startProcess(env)
  victim = { name: 'PostgreSQL alone', service, apikey: made.apikey, databaseUrl: () => fresh.url }
  ask = client(service.core, made.apikey)
})
afterAll(async () => {
  ask.end()
  await service.stop()
  await fresh.drop()
  rmSync(folder, { recursive: true, force: true })
})

describe('clients that disconnect', { timeout: LONG ? 600_000 : 300_000 }, () => {
  it(`at any byte or during the work, ${ABORTS} times, leave no request in flight and no connection in use`, async () => {
    const who = newPerson()
    await who.enroll(ask)
    const { session } = await ask('bootstrap', 'GET', `/users/${who.userRef}`)
    const head = [`apikey: ${victim.apikey}`, `X-Service-Session: ${session}`]
    const path = `/core/users/${who.userRef}`
    const json = () => JSON.stringify(who.next())
    const texts = [
      () => request(`GET ${path}`, head),
      () => request(`POST ${path}/verify`, head, json()),
      () => request(`POST ${path}/typing-patterns`, head, json()),
      () => request(`PUT ${path}/security-code`, head, '{"securityCode":"918273"}'),
      () => request(`POST ${path}/verify`, head, '{"securityCode":"918273"}'),
      () => request(`POST /core/users/somebody-else`, head, '{}'),
      () => request(`GET /core/organization`, head),
      () => request(`GET /core/status`),
    ]
    // A linear congruential generator with a fixed seed: the same offsets in every run.
    let seed = 11
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2147483648
      return seed % below
    }
    const port = Number(new URL(service.core).port)
    const rude = async (i: number) => {
      const text = texts[i % texts.length]?.() ?? ''
      const wholly = random(2) === 0
      const connection = await rawClient(port)
      await connection.send(wholly ? text : text.slice(0, random(text.length)))
      // Half of them disconnect during a request, half while it is served.
      if (wholly) await delay(random(20))
      if (i % 3 === 0) connection.socket.destroy()
      else connection.socket.resetAndDestroy()
    }
    for (let i = 0; i < ABORTS; i += 20) await Promise.all(Array.from({ length: 20 }, (_, n) => rude(i + n)))

    // The request for the metrics is in flight itself.
    await until(async () => (await metric(service, 'keystride_http_requests_in_flight')) === 1)
    const direct = postgres(fresh.url, { max: 1 })
    await until(async () => {
      const [row] = await direct`
        select count(*)::int as busy from pg_stat_activity where datname = current_database()
          and pid <> pg_backend_pid() and application_name = 'keystride' and state <> 'idle'`
      return row?.busy === 0
    })
    await direct.end()
    expect((await ask('organization', 'GET', '/organization')).status).toBe(200)
    wellBehaved(victim, [])
    const exits = service.process.exitCode === null ? 0 : 1
    const left = (await metric(service, 'keystride_http_requests_in_flight')) - 1
    figure('F23', `${ABORTS} aborts: ${exits} exits, ${left} requests left in flight`, '0', exits + left === 0)
  })
})

describe('a bug in a handler', () => {
  it(`is a 500 whose request id is in the log once, ${THROWS} times, and the process survives`, async () => {
    const owner = postgres(fresh.url, { max: 1 })
    await owner`alter table keystride.account rename to account_mislaid`
    const before = service.output().length
    const broken = await Promise.all(
      Array.from({ length: THROWS }, (_, i) => ask('bootstrap', 'GET', `/users/bug-${i}`)),
    )
    await owner`alter table keystride.account_mislaid rename to account`
    await owner.end()
    expect(countBy(broken, ({ status }) => String(status))).toEqual({ '500': THROWS })
    await until(async () => service.output().slice(before).split('a handler failed').length > THROWS)
    const log = service.output().slice(before)
    for (const { json } of broken) {
      expect(json).toMatchObject({ success: false, reason: 'internal-error' })
      const [requestId = '?'] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(json.message) ?? []
      expect(log.split(requestId)).toHaveLength(2)
    }
    const exits = service.process.exitCode === null ? 0 : 1
    figure('F14', `${THROWS} bugs in handlers: ${exits} exits`, '0', exits === 0)
    expect((await ask('bootstrap', 'GET', '/users/bug-0')).status).toBe(404)
  })

  it('in an unawaited promise ends the process with status 1 and a log line; the next start serves', async () => {
    const hook = join(folder, 'hook.mjs')
    writeFileSync(hook, `process.on('SIGUSR2', () => void Promise.reject(new Error('left lying about')))\n`)
    const doomed = await startProcess({ ...env, NODE_OPTIONS: `--import=${hook}` })
    const gone = once(doomed.process, 'exit')
    doomed.process.kill('SIGUSR2')
    await gone
    expect(doomed.process.exitCode).toBe(1)
    expect(doomed.output()).toContain('unhandledRejection')
    expect(doomed.output()).toContain('left lying about')
    const next = await startProcess(env)
    await next.stop()
  })
})
