import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHANNELS, EVENT_KINDS } from '../../../src/domain/alert.js'
import { connectPostgres } from '../../../src/storage/postgres/connection/client.js'
import { startProxy, type TcpProxy } from '../../faults/tcp-proxy.js'
import { until } from '../../patience.js'
import { certificate } from '../../servers/certificate.js'
import { type FreshDatabase, freshDatabase } from '../../servers/database.js'
import { gatewaySink, muteSink, smtpSink, streamSink } from '../../servers/sinks.js'
import { type Answer, startService, type TestService } from '../../service.js'

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
}, 60_000)
afterAll(async () => {
  await service.close()
  await proxy.close()
  await fresh.drop()
  rmSync(folder, { recursive: true })
})

const get = async (path: string, options: { apikey?: string } = {}) =>
  (await service.dashboard('GET', path, options)).json
const post = (path: string, body?: unknown) => service.dashboard('POST', path, { body })
const off = { email: false, sms: false, syslog: false, webhook: false }
const email = (port: number) => ({
  host: 'localhost',
  port,
  tls: 'starttls',
  sender: 'keystride@corp.example',
  recipients: ['sec@corp.example'],
  user: 'keystride',
  password: 'canary-password',
})
const refused = ({ status, json }: Answer) => [status, json.reason, json.message]

/** Creates a person with a code, and sends wrong codes, each in its own session. Returns the ids of the attempts. */
async function wrongCodes(userRef: string, times: number): Promise<string[]> {
  await service.call('POST', `/users/${userRef}`)
  const { session } = await service.bootstrap(userRef)
  await service.call('PUT', `/users/${userRef}/security-code`, { session, body: { securityCode: '749205' } })
  const ids: string[] = []
  for (let n = 0; n < times; n++) {
    const { session: own } = await service.bootstrap(userRef)
    const { status, json } = await service.call('POST', `/users/${userRef}/verify`, {
      session: own,
      body: { securityCode: '111999' },
    })
    expect([status, json.action]).toEqual([200, 'rejected'])
    ids.push(json.authentication.id)
  }
  return ids
}

describe('the rules matrix', () => {
  it('is complete before any rule is set, and after some are set', async () => {
    const { data } = await get('/alert')
    expect(data).toEqual(Object.fromEntries(EVENT_KINDS.map((kind) => [kind, off])))
    const changed = await post('/alert', { bot: { email: true }, locked: { sms: true, syslog: true } })
    const wanted = { ...data, bot: { ...off, email: true }, locked: { ...off, sms: true, syslog: true } }
    expect(changed.json.data).toEqual(wanted)
    expect((await post('/alert', { locked: { sms: false } })).json.data.locked).toEqual({ ...off, syslog: true })
    expect((await get('/alert', foreign)).data).toEqual(data)
    await post('/alert', { bot: off, locked: off })
  })

  it('is refused if it names no event with a channel, and lists the valid ones', async () => {
    for (const body of [{}, [], { nonsense: { email: true } }, { bot: {} }, { bot: { pigeon: true } }]) {
      const { status, json } = await post('/alert', body)
      expect([status, json.reason, body]).toEqual([422, 'invalid-data', body])
    }
    expect((await post('/alert', { nonsense: {} })).json.message).toMatch(
      /body: must name an event \(blocked, .*enrollment-completed\)/,
    )
    expect((await post('/alert', { bot: { email: 'yes' } })).json.message).toMatch(/^bot\.email: /)
    expect((await post('/alert')).status).toBe(422)
  })
})

describe('a channel', () => {
  it('is null until it is set, and never contains its secret', async () => {
    for (const channel of CHANNELS) expect((await get(`/alert/${channel}`)).data).toBeNull()
    const { password: _, ...shown } = email(2525)
    expect((await post('/alert/email', email(2525))).json.data).toEqual({ ...shown, password_set: true })
    const sms = { url: 'https://localhost:8443/send', recipients: ['+33612345678'] }
    expect((await post('/alert/sms', { ...sms, signing_secret: 'canary-signing-secret' })).json.data).toEqual({
      ...sms,
      signing_secret_set: true,
    })
    const all = await Promise.all(CHANNELS.map((channel) => get(`/alert/${channel}`)))
    expect(JSON.stringify(all)).not.toContain('canary')
    const database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
    const rows = await database.asSystem(
      (sql) => sql<{ row: string; sealed: number }[]>`
      select c::text || encode(secret, 'escape') as row, octet_length(secret) as sealed from keystride.alert_channel c`,
    )
    await database.close()
    expect(rows.filter(({ sealed }) => sealed > 16)).toHaveLength(2)
    expect(JSON.stringify(rows)).not.toContain('canary')
    for (const channel of CHANNELS) expect((await get(`/alert/${channel}`, foreign)).data).toBeNull()
  })

  it('keeps its secret if none is given, and requires the password again for another host or user', async () => {
    const { password: _, ...without } = email(2526)
    expect((await post('/alert/email', without)).json.data).toMatchObject({ port: 2526, password_set: true })
    for (const changes of [{ host: '127.0.0.1' }, { user: 'other' }])
      expect(refused(await post('/alert/email', { ...without, ...changes }))).toEqual([
        422,
        'invalid-data',
        'password: is needed again after a change of host or user',
      ])
    const plain = { ...without, user: null, tls: 'none' }
    expect((await post('/alert/email', plain)).json.data).toMatchObject({ user: null, password_set: false })
    expect((await service.dashboard('DELETE', '/alert/email')).status).toBe(200)
    expect((await get('/alert/email')).data).toBeNull()
    expect((await service.dashboard('DELETE', '/alert/email')).status).toBe(404)
  })

  it('is refused with the field and the rule, never with the value', async () => {
    const syslog = { host: 'localhost', port: 514, transport: 'udp' }
    const ownPort = proxy.port
    const bad: [string, object, RegExp][] = [
      ['email', { ...email(25), host: 'canary.example' }, /^host: .*ALERT_HOSTS/],
      ['email', { ...email(25), host: '169.254.169.254' }, /^host: alerts are never sent/],
      ['email', { ...email(25), host: '0xa9fea9fe' }, /^host: alerts are never sent/],
      ['email', { ...email(25), host: 'a b' }, /^host: must be a host name/],
      ['email', { ...email(25), port: ownPort }, /^port: is a port of the service's own stores/],
      ['email', { ...email(25), port: 0 }, /^port: /],
      ['email', { ...email(25), tls: 'maybe' }, /^tls: /],
      ['email', { ...email(25), tls: 'none' }, /^tls: .*without TLS/],
      ['email', { ...email(25), password: undefined }, /^password: is needed with a user/],
      ['email', { ...email(25), user: undefined }, /^user: is needed with a password/],
      ['email', { ...email(25), recipients: ['canary\r\nBcc: x@y.example'] }, /^recipients\[0\]: /],
      ['email', { ...email(25), recipients: [] }, /^recipients: /],
      ['email', {}, /^host: /],
      ['sms', { url: 'http://localhost/canary', recipients: ['+33612345678'] }, /^url: must be an https/],
      ['sms', { url: 'https://canary.example/', recipients: ['+33612345678'] }, /^url: .*ALERT_HOSTS/],
      ['sms', { url: `https://localhost:${ownPort}/`, recipients: ['+33612345678'] }, /^url: is a port/],
      ['sms', { url: 'https://localhost/', recipients: ['0612'] }, /^recipients\[0\]: /],
      [
        'sms',
        { url: 'https://localhost/', recipients: ['+33612345678'], signing_secret: 'canary' },
        /^signing_secret: /,
      ],
      ['webhook', { url: 'http://localhost/canary' }, /^url: must be an https/],
      ['webhook', { url: 'https://user:canary@localhost/' }, /^url: must be an https/],
      ['webhook', { url: 'https://canary.example/' }, /^url: .*ALERT_HOSTS/],
      ['webhook', { url: 'https://169.254.169.254/canary' }, /^url: alerts are never sent/],
      ['webhook', { url: `https://localhost:${ownPort}/` }, /^url: is a port/],
      ['webhook', { url: 443 }, /^url: /],
      ['webhook', {}, /^url: /],
      ['webhook', { url: 'https://localhost/', secret: 'canary' }, /^secret: must be whsec_/],
      ['webhook', { url: 'https://localhost/', secret: 7 }, /^secret: /],
      ['webhook', { url: 'https://localhost/', rotate_secret: 'canary' }, /^rotate_secret: /],
      ['syslog', { ...syslog, transport: 'smoke' }, /^transport: /],
      ['syslog', { ...syslog, facility: 'canary' }, /^facility: /],
      ['syslog', { ...syslog, app_name: 'a\ncanary' }, /^app_name: /],
    ]
    for (const [channel, body, message] of bad) {
      const answer = await post(`/alert/${channel}`, body)
      expect([answer.status, answer.json.reason]).toEqual([422, 'invalid-data'])
      expect(answer.json.message).toMatch(message)
      expect(answer.json.message).not.toContain('canary')
    }
    await service.dashboard('DELETE', '/alert/sms')
    const unsigned = await post('/alert/sms', { url: 'https://localhost/', recipients: ['+33612345678'] })
    expect(unsigned.json.message).toMatch(/^signing_secret: is needed/)
  })

  it('sends a test immediately, and reports the kind of a failure but nothing from the remote side', async () => {
    expect((await post('/alert/email/test')).status).toBe(404)
    const sink = await smtpSink({ login: { user: 'keystride', password: 'canary-password' } })
    await post('/alert/email', email(sink.port))
    const sent = await post('/alert/email/test')
    expect(sent.json).toMatchObject({
      message: 'The test was sent: the receiver accepted it',
      data: { delivered: true, outcome: 'delivered' },
    })
    expect(sink.received[0]?.raw).toContain('Subject: Keystride: a test')
    const soon = await post('/alert/email/test')
    expect([soon.status, soon.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^[12]$/)])
    await post('/alert/email', { ...email(sink.port), password: 'wrong' })
    await new Promise((resolve) => setTimeout(resolve, 2100))
    const failed = await post('/alert/email/test')
    expect(failed.json.data).toEqual({ delivered: false, outcome: 'login-refused' })
    expect(failed.json.message).toBe('The test was not sent: user or password were refused')
    expect(sink.received).toHaveLength(1)
    await sink.close()
    const gateway = await gatewaySink({ status: 500 })
    await post('/alert/sms', {
      url: `https://localhost:${gateway.port}/`,
      recipients: ['+33612345678'],
      signing_secret: 'sixteen characters',
    })
    const busy = await post('/alert/sms/test')
    expect([busy.json.data, JSON.stringify(busy.json).includes('4711')]).toEqual([
      { delivered: false, outcome: 'busy' },
      false,
    ])
    await gateway.close()
    for (const channel of ['email', 'sms']) await service.dashboard('DELETE', `/alert/${channel}`)
  })
})

describe('dead channels', () => {
  it('do not slow down verify; each event is one notification, and is sent once after they recover', async () => {
    const places = await Promise.all([smtpSink(), gatewaySink(), muteSink()])
    const ports = places.map(({ port }) => port)
    await Promise.all(places.slice(0, 2).map((sink) => sink.close()))
    const { user: _, password: __, ...mail } = email(ports[0] ?? 0)
    await post('/alert/email', mail)
    // A channel that accepts connections and never answers is worse than an unreachable one.
    await post('/alert/syslog', { host: 'localhost', port: ports[2], transport: 'tls' })
    await post('/alert', { blocked: { email: true, syslog: true }, 'security-code-locked': { email: true } })

    const times: number[] = []
    const ids: string[] = []
    for (const name of ['ann', 'ben', 'cem']) {
      const began = performance.now()
      ids.push(...(await wrongCodes(name, 3)))
      times.push(performance.now() - began)
    }
    // A send to the silent channel times out after ten seconds.
    expect(Math.max(...times)).toBeLessThan(9000)
    const notificationsOfThese = async () =>
      (await get('/notifications?limit=500')).data.filter((one: { authentication_id: string }) =>
        ids.includes(one.authentication_id),
      )
    await until(async () => (await notificationsOfThese()).length >= 12)
    const notified = await notificationsOfThese()
    expect(
      notified
        .filter(({ kind }: { kind: string }) => kind === 'blocked')
        .map((one: { authentication_id: string }) => one.authentication_id)
        .sort(),
    ).toEqual(ids.sort())
    expect(notified.filter(({ kind }: { kind: string }) => kind === 'security-code-locked')).toHaveLength(3)

    const back = await smtpSink({}, ports[0])
    // Nine blocked attempts and three locked codes. A further e-mail reports failed codes of many members: it is not counted.
    const blocked = () => back.received.filter(({ raw }) => raw.includes('Kind: blocked'))
    const locked = () => back.received.filter(({ raw }) => raw.includes('The security code of'))
    await until(async () => blocked().length >= 9 && locked().length >= 3)
    await new Promise((resolve) => setTimeout(resolve, 2500))
    expect([blocked().length, locked().length]).toEqual([9, 3])
    const deliveries = back.received.map(({ raw }) => /X-Keystride-Delivery: (\S+)/.exec(raw)?.[1])
    expect(new Set(deliveries).size).toBe(back.received.length)
    expect(JSON.stringify(back.received)).not.toMatch(/749205|111999/)
    expect((await notificationsOfThese()).length).toBe(12)
    await back.close()
    await places[2]?.close()
    await post('/alert', { blocked: off, 'security-code-locked': off })
    for (const channel of ['email', 'syslog']) await service.dashboard('DELETE', `/alert/${channel}`)
  }, 60_000)
})

describe('deliveries', () => {
  it('show each try, its outcome and the state of the channel, and only to their organization', async () => {
    const sink = await smtpSink()
    await sink.close()
    const { user: _, password: __, ...mail } = email(sink.port)
    await post('/alert/email', mail)
    await post('/alert', { blocked: { email: true } })
    const [id] = await wrongCodes('fred', 1)
    const notification = async () =>
      (await get('/notifications?limit=500')).data.find(
        (one: { authentication_id: string }) => one.authentication_id === id,
      )
    await until(async () => (await notification()) !== undefined)
    const { id: notificationId } = await notification()
    const listed = async (query = '') => {
      const answer = await get(`/alert/deliveries?limit=500&${query}`)
      const of = answer.data.filter((one: { notification_id: string }) => one.notification_id === notificationId)
      return { of, channels: answer.channels }
    }
    await until(async () => (await listed()).of[0]?.tries > 0)
    const waiting = await listed('state=waiting&channel=email')
    expect(waiting.of).toEqual([
      expect.objectContaining({ kind: 'blocked', channel: 'email', state: 'waiting', refusals: 0 }),
    ])
    expect(waiting.of[0].last_try).toMatchObject({ outcome: 'unreachable', text: 'no connection could be made' })
    expect(Date.parse(waiting.of[0].due_at)).toBeGreaterThanOrEqual(Date.parse(waiting.of[0].queued_at))
    const [state] = waiting.channels.filter(({ channel }: { channel: string }) => channel === 'email')
    expect(state.n_waiting).toBeGreaterThan(0)
    expect(state.failures).toBeGreaterThan(0)
    expect(Date.parse(state.closed_until)).toBeGreaterThan(0)
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
    await back.close()
    await post('/alert', { blocked: off })
    await service.dashboard('DELETE', '/alert/email')
  }, 60_000)
})

describe('notifications', () => {
  it('are paged, newest first, and marked read one by one or all, by their organization only', async () => {
    await wrongCodes('dora', 2)
    await until(async () =>
      (await get('/notifications?kind=blocked')).data.some((one: { user_ref: string }) => one.user_ref === 'dora'),
    )
    const all = await get('/notifications?limit=500')
    expect(all.data.map(({ id }: { id: string }) => id)).toEqual(
      all.data
        .map(({ id }: { id: string }) => id)
        .sort()
        .reverse(),
    )
    expect([all.count, all.unread]).toEqual([all.data.length, all.data.length])
    const page = await get('/notifications?skip=1&limit=2')
    expect([page.count, page.data]).toEqual([all.count, all.data.slice(1, 3)])
    const [first] = all.data
    expect(first).toMatchObject({ kind: 'blocked', user_ref: 'dora', read: false, read_at: null })
    expect(first.text).toBe('A sign-in attempt in the name of dora was blocked.')

    expect(await get('/notifications', foreign)).toMatchObject({ count: 0, unread: 0, data: [] })
    const theirs = await service.dashboard('POST', '/notifications/read', { body: { id: first.id }, ...foreign })
    expect(theirs.status).toBe(404)
    await service.dashboard('POST', '/notifications/read', { body: { all: true }, ...foreign })
    expect((await get('/notifications')).unread).toBe(all.unread)

    expect((await post('/notifications/read', { id: first.id })).json.data).toEqual({ unread: all.unread - 1 })
    expect((await get(`/notifications/read?id=${first.id}`)).data).toEqual({ unread: all.unread - 1 })
    expect((await get('/notifications?read=true')).data.map(({ id }: { id: string }) => id)).toEqual([first.id])
    for (const body of [{}, { all: false }, { id: 'x' }, []])
      expect((await post('/notifications/read', body)).status).toBe(422)
    expect((await service.dashboard('GET', '/notifications/read')).status).toBe(422)
    expect((await post('/notifications/read', { all: true })).json.data).toEqual({ unread: 0 })
    for (const query of ['limit=0', 'skip=-1', 'kind=x', 'read=x'])
      expect((await service.dashboard('GET', `/notifications?${query}`)).status).toBe(422)
  })

  it('are deleted with the account that they name', async () => {
    await service.call('DELETE', '/users/dora')
    expect(JSON.stringify(await get('/notifications?limit=500'))).not.toContain('dora')
  })

  it('report an outage after its end, to organizations that enabled this event', async () => {
    await post('/alert', { degraded: { email: true } })
    await proxy.refuse()
    await until(async () => (await service.call('GET', '/status')).json.status === 'NOK')
    await proxy.accept()
    await until(async () => (await service.call('GET', '/status')).json.status === 'OK')
    const outages = async () => (await get('/notifications?kind=degraded')).data
    await until(async () => (await outages()).length > 0)
    await new Promise((resolve) => setTimeout(resolve, 2500))
    expect(await outages()).toEqual([
      expect.objectContaining({
        user_ref: null,
        text: expect.stringMatching(/^The service was degraded from 20\S+Z to 20\S+Z/),
      }),
    ])
    expect((await get('/notifications?kind=degraded', foreign)).data).toEqual([])
  })
})

describe('a syslog stream', () => {
  it('has each alert as one frame over TLS', async () => {
    const sink = await streamSink(true)
    await post('/alert/syslog', { host: 'localhost', port: sink.port, transport: 'tls', facility: 'local3' })
    await post('/alert', { blocked: { syslog: true } })
    await wrongCodes('emil', 1)
    await until(async () => sink.received.some((text) => text.includes('user="emil"')))
    const frames = sink.received.filter((text) => text.includes('emil'))
    expect(frames).toHaveLength(1)
    expect(frames[0]).toMatch(
      /^\d+ <156>1 \S+ - keystride - blocked \[keystride@32473 id="[^"]+" organization="[^"]+" user="emil" member="emil"\] A sign-in/,
    )
    await sink.close()
  })
})
