import { afterAll, describe, expect, it } from 'vitest'
import { CHANNELS, EVENT_KINDS } from '../../../src/domain/alert.js'
import { type Answer, startService } from '../../harness/service.js'
import { freshDatabase } from '../../servers/database.js'
import { ownRows } from '../own-rows.js'

const fresh = await freshDatabase()
const service = await startService(fresh.url, { more: { ALERT_HOSTS: 'localhost, 127.0.0.1' } })
const foreign = await service.another()
afterAll(async () => {
  await service.close()
  await fresh.drop()
})

const get = async (path: string, options: { apikey?: string } = {}) =>
  (await service.dashboard('GET', path, options)).json
const post = (path: string, body?: unknown) => service.dashboard('POST', path, { body })
const remove = (path: string, options = {}) => service.dashboard('DELETE', path, options)
const off = { email: false, sms: false, syslog: false, webhook: false }
const email = {
  host: 'localhost',
  port: 2525,
  tls: 'starttls',
  sender: 'keystride@corp.example',
  recipients: ['sec@corp.example'],
  user: 'keystride',
  password: 'canary-password',
}
const refused = ({ status, json }: Answer) => [status, json.reason, json.message]
/** The stored rows of channels, and how many of them have a sealed secret. */
async function stored() {
  const rows = await ownRows(service)(
    (sql) => sql<{ row: string; sealed: number }[]>`
      select c::text || encode(secret, 'escape') as row, octet_length(secret) as sealed from keystride.alert_channel c`,
  )
  return { text: JSON.stringify(rows), nSealed: rows.filter(({ sealed }) => sealed > 16).length }
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
    const { password: _, ...shown } = email
    expect((await post('/alert/email', email)).json.data).toEqual({ ...shown, password_set: true })
    const sms = { url: 'https://localhost:8443/send', recipients: ['+33612345678'] }
    expect((await post('/alert/sms', { ...sms, signing_secret: 'canary-signing-secret' })).json.data).toEqual({
      ...sms,
      signing_secret_set: true,
    })
    const all = await Promise.all(CHANNELS.map((channel) => get(`/alert/${channel}`)))
    expect(JSON.stringify(all)).not.toContain('canary')
    const { text, nSealed } = await stored()
    expect(nSealed).toBe(2)
    expect(text).not.toContain('canary')
    for (const channel of CHANNELS) expect((await get(`/alert/${channel}`, foreign)).data).toBeNull()
  })

  it('keeps its secret if none is given, and requires the password again for another host or user', async () => {
    const { password: _, ...without } = { ...email, port: 2526 }
    expect((await post('/alert/email', without)).json.data).toMatchObject({ port: 2526, password_set: true })
    for (const changes of [{ host: '127.0.0.1' }, { user: 'other' }])
      expect(refused(await post('/alert/email', { ...without, ...changes }))).toEqual([
        422,
        'invalid-data',
        'password: is needed again after a change of host or user',
      ])
    const plain = { ...without, user: null, tls: 'none' }
    expect((await post('/alert/email', plain)).json.data).toMatchObject({ user: null, password_set: false })
    expect((await remove('/alert/email')).status).toBe(200)
    expect((await get('/alert/email')).data).toBeNull()
    expect((await remove('/alert/email')).status).toBe(404)
  })

  it('is refused with the field and the rule, never with the value', async () => {
    const syslog = { host: 'localhost', port: 514, transport: 'udp' }
    const ownPort = Number(new URL(fresh.url).port)
    const bad: [string, object, RegExp][] = [
      ['email', { ...email, host: 'canary.example' }, /^host: .*ALERT_HOSTS/],
      ['email', { ...email, host: '169.254.169.254' }, /^host: alerts are never sent/],
      ['email', { ...email, port: ownPort }, /^port: is a port of the service's own stores/],
      ['email', { ...email, tls: 'none' }, /^tls: .*without TLS/],
      ['email', { ...email, password: undefined }, /^password: is needed with a user/],
      ['email', { ...email, user: undefined }, /^user: is needed with a password/],
      ['email', { ...email, recipients: ['canary\r\nBcc: x@y.example'] }, /^recipients\[0\]: /],
      ['sms', { url: 'http://localhost/canary', recipients: ['+33612345678'] }, /^url: must be an https/],
      ['sms', { url: `https://localhost:${ownPort}/`, recipients: ['+33612345678'] }, /^url: is a port/],
      ['sms', { url: 'https://localhost/', recipients: ['0612'] }, /^recipients\[0\]: /],
      [
        'sms',
        { url: 'https://localhost/', recipients: ['+33612345678'], signing_secret: 'canary' },
        /^signing_secret: /,
      ],
      ['webhook', { url: 'http://localhost/canary' }, /^url: must be an https/],
      ['webhook', { url: 'https://user:canary@localhost/' }, /^url: must be an https/],
      ['webhook', { url: 'https://169.254.169.254/canary' }, /^url: alerts are never sent/],
      ['webhook', { url: `https://localhost:${ownPort}/` }, /^url: is a port/],
      ['webhook', { url: 'https://localhost/', secret: 'canary' }, /^secret: must be whsec_/],
      ['syslog', { ...syslog, facility: 'canary' }, /^facility: /],
      ['syslog', { ...syslog, app_name: 'a\ncanary' }, /^app_name: /],
    ]
    for (const [channel, body, message] of bad) {
      const answer = await post(`/alert/${channel}`, body)
      expect([answer.status, answer.json.reason]).toEqual([422, 'invalid-data'])
      expect(answer.json.message).toMatch(message)
      expect(answer.json.message).not.toContain('canary')
    }
    await remove('/alert/sms')
    const unsigned = await post('/alert/sms', { url: 'https://localhost/', recipients: ['+33612345678'] })
    expect(unsigned.json.message).toMatch(/^signing_secret: is needed/)
  })
})

describe('the secret of a webhook', () => {
  const OWN = `whsec_${Buffer.alloc(24, 5).toString('base64')}`
  const set = async (body: object) => (await post('/alert/webhook', body)).json.data

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
    const { text } = await stored()
    for (const one of [secret, OWN, rotated])
      expect(JSON.stringify(answers) + text).not.toContain(one.slice('whsec_'.length))
    expect((await get('/alert/webhook', foreign)).data).toBeNull()
    expect((await remove('/alert/webhook', foreign)).status).toBe(404)
    expect((await service.dashboard('POST', '/alert/webhook/test', foreign)).status).toBe(404)
    await remove('/alert/webhook')
    expect((await get('/alert/webhook')).data).toBeNull()
  })
})
