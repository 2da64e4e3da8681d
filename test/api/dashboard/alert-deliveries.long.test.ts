import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enroll, verifyOf } from '../../harness/enrolled.js'
import { until } from '../../harness/patience.js'
import { type Answer, startService, type TestService } from '../../harness/service.js'
import { startProxy, type TcpProxy } from '../../harness/tcp-proxy.js'
import { certificate } from '../../servers/certificate.js'
import { type FreshDatabase, freshDatabase } from '../../servers/database.js'
import { gatewaySink, muteSink, smtpSink } from '../../servers/sinks.js'

let fresh: FreshDatabase
let proxy: TcpProxy
let service: TestService
let foreign: { apikey: string }
const folder = mkdtempSync(join(tmpdir(), 'keystride-alerts-'))
beforeAll(async () => {
  fresh = await freshDatabase()
  const url = new URL(fresh.url)
  proxy = await startProxy(Number(url.port))
  url.port = String(proxy.port)
  writeFileSync(join(folder, 'ca.pem'), certificate)
  const more = { ALERT_HOSTS: 'localhost, 127.0.0.1', ALERT_CA: join(folder, 'ca.pem') }
  service = await startService(url.href, { more })
  foreign = await service.another()
})
afterAll(async () => {
  await service.close()
  await proxy.close()
  await fresh.drop()
  rmSync(folder, { recursive: true })
})

interface Notification {
  readonly id: string
  readonly kind: string
  readonly user_ref: string | null
  readonly authentication_id: string
  readonly text: string
}
const get = async (path: string, options: { apikey?: string } = {}) =>
  (await service.dashboard('GET', path, options)).json
const post = (path: string, body?: unknown, options: { apikey?: string } = {}) =>
  service.dashboard('POST', path, { body, ...options })
const remove = (channel: string) => service.dashboard('DELETE', `/alert/${channel}`)
const notifications = async (query = ''): Promise<Notification[]> =>
  (await get(`/notifications?limit=500&${query}`)).data
const off = { email: false, sms: false, syslog: false, webhook: false }
const mail = (port: number | undefined) => ({
  host: 'localhost',
  port,
  tls: 'starttls',
  sender: 'keystride@corp.example',
  recipients: ['sec@corp.example'],
})
const LOGIN = { user: 'keystride', password: 'canary-password' }
/** The answer to a test of a channel, once the pause between two tests is over. */
async function tested(channel: string): Promise<Answer> {
  let answer = await post(`/alert/${channel}/test`)
  await until(async () => {
    if (answer.status === 429) answer = await post(`/alert/${channel}/test`)
    return answer.status !== 429
  })
  return answer
}

/** Creates a person with a code, and sends wrong codes, each in its own session. Returns the ids of the attempts. */
async function wrongCodes(userRef: string, times: number): Promise<string[]> {
  await service.call('POST', `/users/${userRef}`)
  const { session } = await service.bootstrap(userRef)
  await service.call('PUT', `/users/${userRef}/security-code`, { session, body: { securityCode: '749205' } })
  const ids: string[] = []
  for (let n = 0; n < times; n++) {
    const { json } = await verifyOf(service, userRef, { securityCode: '111999' })
    expect(json.action).toBe('rejected')
    ids.push(json.authentication.id)
  }
  return ids
}
/** Waits until the blocked attempt of a person is a notification: all events before it have been derived. */
async function derivedUpTo(userRef: string) {
  await wrongCodes(userRef, 1)
  await until(async () => (await notifications('kind=blocked')).some(({ user_ref }) => user_ref === userRef))
}

it('a channel sends a test immediately, and reports the kind of a failure but nothing from the remote side', async () => {
  expect((await post('/alert/email/test')).status).toBe(404)
  const sink = await smtpSink({ login: LOGIN })
  await post('/alert/email', { ...mail(sink.port), ...LOGIN })
  expect((await post('/alert/email/test')).json).toMatchObject({
    message: 'The test was sent: the receiver accepted it',
    data: { delivered: true, outcome: 'delivered' },
  })
  expect(sink.received[0]?.raw).toContain('Subject: Keystride: a test')
  await post('/alert/email', { ...mail(sink.port), ...LOGIN, password: 'wrong' })
  const failed = await tested('email')
  expect(failed.json.data).toEqual({ delivered: false, outcome: 'login-refused' })
  expect(failed.json.message).toBe('The test was not sent: the user or the password was refused')
  expect(sink.received).toHaveLength(1)
  const gateway = await gatewaySink({ status: 500 })
  const url = `https://localhost:${gateway.port}/`
  await post('/alert/sms', { url, recipients: ['+33612345678'], signing_secret: 'sixteen characters' })
  const { json } = await post('/alert/sms/test')
  expect(json.data).toEqual({ delivered: false, outcome: 'busy' })
  expect(JSON.stringify(json)).not.toContain('4711')
  await Promise.all([sink.close(), gateway.close(), remove('email'), remove('sms')])
})

it('dead channels do not stop verify; each event is one notification, and is sent once after they recover', async () => {
  const [dead, mute] = [await smtpSink(), await muteSink()]
  await dead.close()
  await post('/alert/email', mail(dead.port))
  // A channel that accepts connections and never answers is worse than an unreachable one.
  await post('/alert/syslog', { host: 'localhost', port: mute.port, transport: 'tls' })
  await post('/alert', { blocked: { email: true, syslog: true }, 'security-code-locked': { email: true } })
  const ids: string[] = []
  for (const name of ['ann', 'ben', 'cem']) ids.push(...(await wrongCodes(name, 3)))
  const ofThese = async (kind: string) =>
    (await notifications(`kind=${kind}`)).map((one) => one.authentication_id).filter((id) => ids.includes(id))
  await derivedUpTo('dan')
  expect((await ofThese('blocked')).sort()).toEqual(ids.sort())
  expect(await ofThese('security-code-locked')).toHaveLength(3)

  const back = await smtpSink({}, dead.port)
  const raw = (part: string) => back.received.filter((one) => one.raw.includes(part))
  // Ten blocked attempts and three locked codes. A further e-mail reports failed codes of many members: it is not counted.
  await until(() => raw('Kind: blocked').length >= 10 && raw('The security code of').length >= 3)
  await wrongCodes('eva', 1)
  await until(() => raw('in the name of eva').length === 1)
  expect([raw('Kind: blocked').length, raw('The security code of').length]).toEqual([11, 3])
  const deliveries = back.received.map((one) => /X-Keystride-Delivery: (\S+)/.exec(one.raw)?.[1])
  expect(new Set(deliveries).size).toBe(back.received.length)
  expect(JSON.stringify(back.received)).not.toMatch(/749205|111999/)
  expect((await ofThese('blocked')).length).toBe(9)
  await post('/alert', { blocked: off, 'security-code-locked': off })
  await Promise.all([back.close(), mute.close(), remove('email'), remove('syslog')])
})

it('deliveries show each try, its outcome and the state of the channel, and only to their organization', async () => {
  const sink = await smtpSink()
  await sink.close()
  await post('/alert/email', mail(sink.port))
  await post('/alert', { blocked: { email: true } })
  await derivedUpTo('fred')
  const notification = (await notifications('kind=blocked')).find(({ user_ref }) => user_ref === 'fred')
  const listed = async (query = '') => {
    const { data, channels } = await get(`/alert/deliveries?limit=500&${query}`)
    const of = data.filter((one: { notification_id: string }) => one.notification_id === notification?.id)
    return { of, channels }
  }
  await until(async () => (await listed()).of[0]?.tries > 0)
  const waiting = await listed('state=waiting&channel=email')
  expect(waiting.of).toMatchObject([{ kind: 'blocked', channel: 'email', state: 'waiting', refusals: 0 }])
  expect(waiting.of[0].last_try).toMatchObject({ outcome: 'unreachable', text: 'no connection could be made' })
  expect(Date.parse(waiting.of[0].due_at)).toBeGreaterThanOrEqual(Date.parse(waiting.of[0].queued_at))
  const [state] = waiting.channels.filter(({ channel }: { channel: string }) => channel === 'email')
  for (const one of [state.n_waiting, state.failures, Date.parse(state.closed_until)]) expect(one).toBeGreaterThan(0)
  for (const none of ['state=delivered', 'channel=sms']) expect((await listed(none)).of).toEqual([])
  expect(await get('/alert/deliveries', foreign)).toMatchObject({ count: 0, data: [], channels: [] })

  const back = await smtpSink({}, sink.port)
  await until(async () => (await listed('state=delivered')).of.length === 1)
  const { of, channels } = await listed()
  expect(of[0]).toMatchObject({ state: 'delivered', due_at: null, last_try: { outcome: 'delivered' } })
  expect(of[0].tries).toBeGreaterThan(1)
  expect(channels).toContainEqual({ channel: 'email', n_waiting: 0, failures: 0, closed_until: null })
  const all = await get('/alert/deliveries?limit=500')
  expect(all.data.length).toBe(all.count)
  expect((await get('/alert/deliveries?skip=1&limit=1')).data).toEqual(all.data.slice(1, 2))
  expect(JSON.stringify(all)).not.toContain('corp.example')
  for (const query of ['state=lost', 'channel=pigeon', 'limit=0', 'skip=-1'])
    expect((await service.dashboard('GET', `/alert/deliveries?${query}`)).status).toBe(422)
  await post('/alert', { blocked: off })
  await Promise.all([back.close(), remove('email')])
})

describe('notifications', () => {
  it('are paged, newest first, and marked read one by one or all, by their organization only', async () => {
    await derivedUpTo('dora')
    const all = await get('/notifications?limit=500')
    const ids = all.data.map(({ id }: Notification) => id)
    expect(ids).toEqual([...ids].sort().reverse())
    expect([all.count, all.unread]).toEqual([all.data.length, all.data.length])
    const page = await get('/notifications?skip=1&limit=2')
    expect([page.count, page.data]).toEqual([all.count, all.data.slice(1, 3)])
    const [first] = all.data
    expect(first).toMatchObject({ kind: 'blocked', user_ref: 'dora', read: false, read_at: null })
    expect(first.text).toBe('A sign-in attempt in the name of dora was blocked.')

    expect(await get('/notifications', foreign)).toMatchObject({ count: 0, unread: 0, data: [] })
    expect((await post('/notifications/read', { id: first.id }, foreign)).status).toBe(404)
    await post('/notifications/read', { all: true }, foreign)
    expect((await get('/notifications')).unread).toBe(all.unread)

    expect((await post('/notifications/read', { id: first.id })).json.data).toEqual({ unread: all.unread - 1 })
    expect((await get(`/notifications/read?id=${first.id}`)).data).toEqual({ unread: all.unread - 1 })
    expect((await notifications('read=true')).map(({ id }) => id)).toEqual([first.id])
    for (const body of [{}, { all: false }, { id: 'x' }, []])
      expect((await post('/notifications/read', body)).status).toBe(422)
    expect((await service.dashboard('GET', '/notifications/read')).status).toBe(422)
    expect((await post('/notifications/read', { all: true })).json.data).toEqual({ unread: 0 })
    for (const query of ['limit=0', 'skip=-1', 'kind=x', 'read=x'])
      expect((await service.dashboard('GET', `/notifications?${query}`)).status).toBe(422)
    await service.call('DELETE', '/users/dora')
    expect(JSON.stringify(await get('/notifications?limit=500'))).not.toContain('dora')
  })

  it('report an outage once, after its end, to organizations that enabled this event', async () => {
    await post('/alert', { degraded: { email: true } })
    await proxy.refuse()
    await until(async () => (await service.call('GET', '/status')).json.status === 'NOK')
    await proxy.accept()
    await until(async () => (await service.call('GET', '/status')).json.status === 'OK')
    await until(async () => (await notifications('kind=degraded')).length > 0)
    await derivedUpTo('gil')
    expect(await notifications('kind=degraded')).toEqual([
      expect.objectContaining({
        user_ref: null,
        text: expect.stringMatching(/^The service was degraded from 20\S+Z to 20\S+Z/),
      }),
    ])
    expect((await get('/notifications?kind=degraded', foreign)).data).toEqual([])
    await post('/alert', { degraded: off })
  })
})

describe('a webhook', () => {
  const OWN = `whsec_${Buffer.alloc(24, 5).toString('base64')}`
  const set = async (body: object, options = {}) => (await post('/alert/webhook', body, options)).json.data
  const verifies = (secret: string, { headers, body }: { headers: object; body: string }): boolean => {
    try {
      return new Webhook(secret).verify(body, headers as Record<string, string>) !== undefined
    } catch {
      return false
    }
  }

  it('has another secret after a rotation, and the previous one signs too', async () => {
    const sink = await gatewaySink()
    const url = `https://localhost:${sink.port}/`
    const { secret: first } = await set({ url })
    const { secret: second } = await set({ url, rotate_secret: true })
    const signed = async () => {
      expect((await tested('webhook')).json.data).toEqual({ delivered: true, outcome: 'delivered' })
      const call = sink.received.at(-1)
      if (call === undefined) throw new Error('nothing arrived')
      expect(JSON.parse(call.body)).toMatchObject({ type: 'test', data: { userRef: null } })
      return [first, second, OWN].map((secret) => verifies(secret, call))
    }
    expect(await signed()).toEqual([true, true, false])
    // The secret before the previous one is gone.
    await set({ url, secret: OWN })
    expect(await signed()).toEqual([false, true, true])
    await Promise.all([sink.close(), remove('webhook')])
  })

  it('gets each completed profile once, with the same id in every try, at its organization only', async () => {
    const answer = { status: 500 }
    const [sink, other] = [await gatewaySink(answer), await gatewaySink()]
    await set({ url: `https://localhost:${sink.port}/hooks`, secret: OWN })
    await set({ url: `https://localhost:${other.port}/` }, foreign)
    for (const options of [{}, foreign]) await post('/alert', { 'enrollment-completed': { webhook: true } }, options)

    await enroll(service, 'hal', 4)
    const began = Date.now()
    const { session, fresh: typed } = await enroll(service, 'ida', 5)
    await until(() => sink.received.length >= 2)
    answer.status = 200
    const delivered = async () => (await get('/alert/deliveries?state=delivered&channel=webhook')).count
    await until(async () => (await delivered()) === 1)
    const ids = [...new Set(sink.received.map(({ headers }) => headers['webhook-id']))]
    expect([ids.length, new Set(sink.received.map(({ body }) => body)).size]).toEqual([1, 1])
    expect(sink.received.filter((call) => !verifies(OWN, call))).toEqual([])
    const { type, timestamp, data } = JSON.parse(sink.received[0]?.body ?? '')
    expect((await get('/alert/deliveries?channel=webhook')).data).toMatchObject([
      { id: ids[0], kind: 'enrollment-completed' },
    ])
    expect([type, data]).toEqual([
      'enrollment.completed',
      {
        organizationId: service.organizationId,
        userRef: 'ida',
        memberRef: 'ida',
        text: 'The biometric profile of ida is complete.',
        accountType: 'nominative',
        nPatternsRef: 5,
        biometricStatus: 'ok',
        time: timestamp,
      },
    ])
    expect(Date.parse(timestamp)).toBeGreaterThanOrEqual(began)

    // A complete profile takes no further pattern of this session; a reset one can be completed again.
    await service.call('POST', '/users/ida/typing-patterns', { session, body: typed() })
    await service.call('DELETE', '/users/ida/typing-patterns')
    await enroll(service, 'ida', 5)
    await enroll(service, 'jon', 5)
    await until(async () => (await delivered()) === 3)
    expect((await get('/alert/deliveries?channel=webhook')).count).toBe(3)
    const users = [...new Map(sink.received.map(({ headers, body }) => [headers['webhook-id'], body])).values()]
    expect(users.map((body) => JSON.parse(body).data.userRef).sort()).toEqual(['ida', 'ida', 'jon'])
    expect(other.connections()).toBe(0)
    expect((await get('/notifications?kind=enrollment-completed')).count).toBe(3)
    expect((await get('/notifications', foreign)).count).toBe(0)
    await Promise.all([sink.close(), other.close()])
  })
})
