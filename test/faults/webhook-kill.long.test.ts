import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { deployment } from '../harness/deployment.js'
import { client, newPerson } from '../harness/load.js'
import { until } from '../harness/patience.js'
import { type ServiceProcess, startProcess } from '../harness/service-process.js'
import { certificate } from '../servers/certificate.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { gatewaySink } from '../servers/sinks.js'

const ROUNDS = 2

let fresh: FreshDatabase
let service: ServiceProcess
let made: Awaited<ReturnType<typeof deployment>>
const folder = mkdtempSync(join(tmpdir(), 'keystride-webhook-kill-'))
beforeEach(async () => {
  fresh = await freshDatabase()
  made = await deployment(fresh.url)
  writeFileSync(join(folder, 'ca.pem'), certificate)
})
afterEach(async () => {
  await service.stop()
  await fresh.drop()
})
afterAll(() => rmSync(folder, { recursive: true }))
const start = async () => {
  service = await startProcess({ ...made.env, ALERT_HOSTS: 'localhost', ALERT_CA: join(folder, 'ca.pem') })
}

describe('completed enrollments', () => {
  it(`arrive once each, although the receiver is down and the service is killed ${ROUNDS} times at the completion`, async () => {
    const gone = await gatewaySink()
    await gone.close()
    await start()
    const dashboard = async (method: string, path: string, body?: unknown) => {
      const answer = await fetch(service.core.replace('/core', '/dashboard') + path, {
        method,
        headers: { apikey: made.apikey, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      expect(answer.status).toBe(200)
      return (await answer.json()) as { count: number }
    }
    const settings: [path: string, body: unknown][] = [
      ['/alert/webhook', { url: `https://localhost:${gone.port}/` }],
      ['/alert', { 'enrollment-completed': { webhook: true } }],
    ]
    for (const [path, body] of settings) await dashboard('POST', path, body)

    const completed: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const ask = client(service.core, made.apikey)
      const who = newPerson()
      await who.enroll(ask)
      await service.kill()
      completed.push(who.userRef)
      ask.end()
      await start()
    }

    const back = await gatewaySink({ status: 200 }, gone.port)
    const delivered = async () => (await dashboard('GET', '/alert/deliveries?state=delivered')).count
    // A delivery that the killed process had begun is due again after a minute.
    await until(async () => (await delivered()) >= ROUNDS)
    expect((await dashboard('GET', '/alert/deliveries')).count).toBe(ROUNDS)
    expect(back.received.map(({ body }) => JSON.parse(body).data.userRef).sort()).toEqual(completed.sort())
    expect(new Set(back.received.map(({ headers }) => headers['webhook-id'])).size).toBe(ROUNDS)
    await back.close()
  })
})
