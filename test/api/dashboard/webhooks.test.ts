import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectPostgres } from '../../../src/storage/postgres/connection/client.js'
import { until } from '../../patience.js'
import { certificate } from '../../servers/certificate.js'
import { type FreshDatabase, freshDatabase } from '../../servers/database.js'
import { gatewaySink } from '../../servers/sinks.js'
import { startService, type TestService } from '../../service.js'
import { enroll } from '../enrolled.js'

let fresh: FreshDatabase
let service: TestService
let foreign: { apikey: string }
const folder = mkdtempSync(join(tmpdir(), 'keystride-webhooks-'))
beforeAll(async () => {
  fresh = await freshDatabase()
  writeFileSync(join(folder, 'ca.pem'), certificate)
  const more = { ALERT_HOSTS: 'localhost', ALERT_CA: join(folder, 'ca.pem') }
  service = await startService(fresh.url, { more })
  foreign = await service.another()
}, 60_000)
afterAll(async () => {
  await service.close()
  await fresh.drop()
  rmSync(folder, { recursive: true })
})

const get = async (path: string, options: { apikey?: string } = {}) =>
  (await service.dashboard('GET', path, options)).json
const post = (path: string, body?: unknown, options: { apikey?: string } = {}) =>
  service.dashboard('POST', path, { body, ...options })
const set = async (body: object, options = {}) => {
  const { status, json } = await post('/alert/webhook', body, options)
  expect([status, json.message]).toEqual([200, json.message])
  return json.data
}
const OWN = `whsec_${Buffer.alloc(24, 5).toString('base64')}`
const verifies = (secret: string, { headers, body }: { headers: object; body: string }): boolean => {
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>) !== undefined
  } catch {
    return false
  }
}

describe('the secret of a webhook', () => {
  it('is generated if none is given, shown once, and never readable afterwards', async () => {
    const url = 'https://localhost:8443/hooks'
    const { secret, ...shown } = await set({ url })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(shown).toEqual({ url, secret_set: true })
    expect(await set({ url: `${url}/moved` })).toEqual({ url: `${url}/moved`, secret_set: true })
    expect(await set({ url, secret: OWN })).toEqual({ url, secret_set: true })
    const { secret: rotated } = await set({ url, rotate_secret: true })
    expect(rotated).toMatch(/^whsec_/)

    const answers = await Promise.all(
      ['/alert/webhook', '/alert/deliveries', '/alert', '/organization'].map((p) => get(p)),
    )
    expect(answers[0].data).toEqual({ url, secret_set: true })
    const database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
    const rows = await database.asSystem(
      (sql) => sql`select c::text || encode(secret, 'escape') as row from keystride.alert_channel c`,
    )
    await database.close()
    expect(rows).toHaveLength(1)
    for (const one of [secret, OWN, rotated])
      expect(JSON.stringify([answers, rows])).not.toContain(one.slice('whsec_'.length))
    expect((await get('/alert/webhook', foreign)).data).toBeNull()
    expect((await service.dashboard('DELETE', '/alert/webhook', foreign)).status).toBe(404)
    expect((await service.dashboard('POST', '/alert/webhook/test', foreign)).status).toBe(404)
    await service.dashboard('DELETE', '/alert/webhook')
    expect((await get('/alert/webhook')).data).toBeNull()
  })

  it('is another one after a rotation, and the previous one signs too', async () => {
    const sink = await gatewaySink()
    const url = `https://localhost:${sink.port}/`
    const { secret: first } = await set({ url })
    const { secret: second } = await set({ url, rotate_secret: true })
    expect((await post('/alert/webhook/test')).json.data).toEqual({ delivered: true, outcome: 'delivered' })
    const [call] = sink.received
    if (call === undefined) throw new Error('nothing arrived')
    expect([first, second, OWN].map((secret) => verifies(secret, call))).toEqual([true, true, false])
    expect(JSON.parse(call.body)).toMatchObject({ type: 'test', data: { userRef: null } })
    // The secret before the previous one is gone.
    await set({ url, secret: OWN })
    await new Promise((resolve) => setTimeout(resolve, 2100))
    await post('/alert/webhook/test')
    const last = sink.received[1]
    if (last === undefined) throw new Error('nothing arrived')
    expect([first, second, OWN].map((secret) => verifies(secret, last))).toEqual([false, true, true])
    await sink.close()
    await service.dashboard('DELETE', '/alert/webhook')
  })
})

describe('a completed enrollment', () => {
  it('arrives once for each completed profile, with the same id in every try, at its organization only', async () => {
    const answer = { status: 500 }
    const [sink, other] = [await gatewaySink(answer), await gatewaySink()]
    await set({ url: `https://localhost:${sink.port}/hooks`, secret: OWN })
    await set({ url: `https://localhost:${other.port}/` }, foreign)
    for (const options of [{}, foreign]) await post('/alert', { 'enrollment-completed': { webhook: true } }, options)

    await enroll(service, 'ann', 4)
    const began = Date.now()
    const { session, fresh: typed } = await enroll(service, 'ben', 5)
    await until(async () => sink.received.length >= 2)
    answer.status = 200
    const delivered = async () => (await get('/alert/deliveries?state=delivered&channel=webhook')).count
    await until(async () => (await delivered()) === 1)
    const ids = new Set(sink.received.map(({ headers }) => headers['webhook-id']))
    expect(ids.size).toBe(1)
    expect(new Set(sink.received.map(({ body }) => body)).size).toBe(1)
    expect(sink.received.filter((call) => !verifies(OWN, call))).toEqual([])
    const { type, timestamp, data } = JSON.parse(sink.received[0]?.body ?? '')
    const { data: listed } = await get('/alert/deliveries?channel=webhook')
    expect(listed.map(({ id, kind }: { id: string; kind: string }) => [id, kind])).toEqual([
      [[...ids][0], 'enrollment-completed'],
    ])
    expect([type, data]).toEqual([
      'enrollment.completed',
      {
        organizationId: service.organizationId,
        userRef: 'ben',
        memberRef: 'ben',
        text: 'The biometric profile of ben is complete.',
        accountType: 'nominative',
        nPatternsRef: 5,
        biometricStatus: 'ok',
        time: timestamp,
      },
    ])
    expect(Date.parse(timestamp)).toBeGreaterThanOrEqual(began)

    // A complete profile takes no further pattern of this session; a reset one can be completed again.
    await service.call('POST', '/users/ben/typing-patterns', { session, body: typed() })
    await service.call('DELETE', '/users/ben/typing-patterns')
    await enroll(service, 'ben', 5)
    await enroll(service, 'cem', 5)
    await until(async () => (await delivered()) === 3)
    expect((await get('/alert/deliveries')).count).toBe(3)
    const users = [...new Map(sink.received.map(({ headers, body }) => [headers['webhook-id'], body])).values()]
    expect(users.map((body) => JSON.parse(body).data.userRef).sort()).toEqual(['ben', 'ben', 'cem'])
    expect(other.connections()).toBe(0)
    expect((await get('/notifications?kind=enrollment-completed')).count).toBe(3)
    expect((await get('/notifications', foreign)).count).toBe(0)
    await Promise.all([sink.close(), other.close()])
  }, 90_000)
})
