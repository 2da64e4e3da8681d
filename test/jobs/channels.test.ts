import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AlertEvent } from '../../src/domain/alert.js'
import type { EmailSettings, SyslogSettings } from '../../src/domain/alert-channels.js'
import { hostList } from '../../src/domain/alert-host.js'
import type { Message } from '../../src/flows/alert/courier.js'
import { sendEmail } from '../../src/jobs/channels/email.js'
import { sendSms, signature } from '../../src/jobs/channels/sms.js'
import { sendSyslog } from '../../src/jobs/channels/syslog.js'
import { sendWebhook, type WebhookNeeds } from '../../src/jobs/channels/webhook.js'
import { figure, LONG } from '../harness/figure.js'
import { until } from '../harness/patience.js'
import { certificate } from '../servers/certificate.js'
import { datagramSink, gatewaySink, muteSink, type Sink, smtpSink, streamSink } from '../servers/sinks.js'

const listOf = (...entries: string[]) => {
  const hosts = hostList(entries)
  if ('unreadable' in hosts) throw new Error('a list of this test cannot be read')
  return hosts
}
const needs: WebhookNeeds = {
  hosts: listOf('localhost', '127.0.0.1'),
  closedPorts: new Set(),
  ca: certificate,
  deadlineMs: 20_000,
  fullRefPatterns: 10,
}
const stranger: WebhookNeeds = { ...needs, ca: null }

const event: AlertEvent = { kind: 'bot', at: Date.UTC(2026, 10, 21), userRef: 'ada', memberRef: 'ada', details: {} }
const message = (changes: Partial<AlertEvent> = {}): Message => ({
  id: uuid(),
  organizationId: uuid(),
  event: { ...event, ...changes },
  test: null,
})
/** Sends a message by every channel to this host. */
const sendAll = (given: WebhookNeeds, host: string, port: number, transport: 'tcp' | 'tls' = 'tcp') => {
  const url = `https://${host.includes(':') ? `[${host}]` : host}:${port}/`
  const sender = 'a@b.example'
  const mail: EmailSettings = { host, port, tls: 'none', sender, recipients: ['c@d.example'], user: null }
  return Promise.all([
    sendEmail(given, mail, null, message()),
    sendSms(given, { url, recipients: ['+33612345678'] }, 's', { ...message(), now: 0 }),
    sendSyslog(given, { host, port, transport, facility: 'auth', app_name: 'k' }, message()),
    sendWebhook(given, { url }, 's', { ...message(), now: 0 }),
  ])
}
/** Servers that tests open; closed after the last test. */
const opened: { close(): Promise<void> }[] = []
const open = async <T extends { close(): Promise<void> }>(sink: Promise<T>): Promise<T> => {
  const one = await sink
  opened.push(one)
  return one
}
afterAll(() => Promise.all(opened.map((one) => one.close())))

/** Hostile values of the fields that an alert names. */
const HOSTILE = [
  '\r\nBcc: z@evil.example',
  '\r\n\r\nhello',
  '\n.\r\nRCPT TO:<z@evil.example>',
  '\r\n.\r\nMAIL FROM:<z@evil.example>',
  '\u0000',
  '\u2028Bcc: z@evil.example',
  '=?utf-8?q?=0D=0ABcc:z@evil.example?=',
  '"]',
  '\n<13>1 - - forged - - - -',
  ' 12 <13>1 - - forged',
  '\u001b[2J',
  ',z@evil.example',
  '<z@evil.example>',
]
const hostile = (n: number) => {
  const [a, b] = [HOSTILE[n % HOSTILE.length], HOSTILE[Math.floor(n / HOSTILE.length) % HOSTILE.length]]
  return `ada${a}${n}${b}`
}

describe('e-mail', () => {
  const settings = (port: number, changes: Partial<EmailSettings> = {}): EmailSettings => ({
    host: 'localhost',
    port,
    tls: 'none',
    sender: 'keystride@corp.example',
    recipients: ['sec@corp.example', 'ops@corp.example'],
    user: null,
    ...changes,
  })

  it('goes to every recipient, with the headers of the template', async () => {
    const sink = await open(smtpSink({ hideSTARTTLS: true }))
    const sent = message()
    expect(await sendEmail(needs, settings(sink.port), null, sent)).toBe('delivered')
    const [mail] = sink.received
    expect(mail).toMatchObject({ from: 'keystride@corp.example', to: ['sec@corp.example', 'ops@corp.example'] })
    expect(mail?.raw).toContain('Subject: Keystride: a machine typed\r\n')
    expect(mail?.raw).toContain(`Message-ID: <${sent.id}@corp.example>\r\n`)
    expect(mail?.raw).toContain('A typing pattern in the name of ada was made by a machine.')
  })

  it('goes by STARTTLS and by TLS with user and password, only to a trusted certificate', async () => {
    const login = { user: 'keystride', password: 'a secret of it' }
    for (const [tls, sink] of [
      ['starttls', await open(smtpSink({ login }))],
      ['tls', await open(smtpSink({ login, secure: true }))],
    ] as const) {
      const one = settings(sink.port, { tls, user: login.user })
      expect(await sendEmail(needs, one, login.password, message())).toBe('delivered')
      expect(sink.received[0]?.user).toBe('keystride')
      expect(await sendEmail(needs, one, 'wrong', message())).toBe('login-refused')
      expect(await sendEmail(stranger, one, login.password, message())).toBe('tls-failed')
      // The certificate is for another name, whatever address this name has.
      const other = { ...needs, hosts: listOf('smtp.example'), resolve: async () => ['127.0.0.1'] }
      expect(await sendEmail(other, { ...one, host: 'smtp.example' }, login.password, message())).toBe('tls-failed')
      expect(sink.received).toHaveLength(1)
    }
  })

  it('sends no password to a server without TLS', async () => {
    const plain = await open(
      smtpSink({ disabledCommands: ['STARTTLS'], login: { user: 'a', password: 'b' }, allowInsecureAuth: true }),
    )
    expect(await sendEmail(needs, settings(plain.port, { tls: 'starttls', user: 'a' }), 'b', message())).toBe(
      'tls-failed',
    )
    expect(plain.received).toEqual([])
  })

  it('distinguishes a refusal, a busy server, one that hangs up and none', async () => {
    const answering = (responseCode: number) =>
      open(
        smtpSink({
          hideSTARTTLS: true,
          onRcptTo: (_, __, done) => done(Object.assign(new Error('no'), { responseCode })),
        }),
      )
    expect(await sendEmail(needs, settings((await answering(550)).port), null, message())).toBe('refused')
    expect(await sendEmail(needs, settings((await answering(451)).port), null, message())).toBe('busy')
    expect(await sendEmail(needs, settings((await open(muteSink('hang-up'))).port), null, message())).not.toBe(
      'delivered',
    )
    const gone = await muteSink()
    await gone.close()
    expect(await sendEmail(needs, settings(gone.port), null, message())).toBe('unreachable')
  })

  it('has no additional recipient or header, whatever an event carries', async () => {
    const sink = await open(smtpSink({ hideSTARTTLS: true }))
    const payloads = LONG ? 5000 : HOSTILE.length ** 2
    const template = [
      ...['Auto-Submitted', 'Content-Transfer-Encoding', 'Content-Type', 'Date', 'From', 'MIME-Version', 'Message-ID'],
      ...['Subject', 'To', 'X-Keystride-Delivery'],
    ]
    for (let n = 0; n < payloads; n += 20) {
      const batch = Array.from({ length: 20 }, (_, i) =>
        message({ userRef: hostile(n + i), memberRef: hostile(n + i + 7) }),
      )
      const outcomes = await Promise.all(batch.map((one) => sendEmail(needs, settings(sink.port), null, one)))
      expect(outcomes.filter((outcome) => outcome !== 'delivered')).toEqual([])
    }
    expect(sink.received.length).toBeGreaterThanOrEqual(payloads)
    const recipients = new Set(['sec@corp.example', 'ops@corp.example'])
    let [more, odd] = [0, 0]
    for (const { to, raw } of sink.received) {
      const [head = ''] = raw.split('\r\n\r\n')
      const names = head
        .replace(/\r\n[ \t]+/g, ' ')
        .split('\r\n')
        .map((line) => line.split(':')[0])
      more += to.filter((one) => !recipients.has(one)).length
      if (names.sort().join() !== template.join()) odd++
    }
    const found = `${more + odd} of ${sink.received.length} mails with other recipients or headers`
    figure('T29', found, '0 and 0', more + odd === 0)
  })
})

describe('SMS', () => {
  const settings = (port: number, path = '/send?via=a') => ({
    url: `https://localhost:${port}${path}`,
    recipients: ['+33612345678'],
  })
  const SECRET = 'sixteen characters or more'
  const NOW = Date.UTC(2026, 10, 21)

  it('is one signed call with an id for idempotency', async () => {
    const sink = await open(gatewaySink())
    const sent = message()
    expect(await sendSms(needs, settings(sink.port), SECRET, { ...sent, now: NOW })).toBe('delivered')
    const [call] = sink.received
    expect(call?.path).toBe('/send?via=a')
    expect(call?.headers).toMatchObject({ 'idempotency-key': sent.id, host: `localhost:${sink.port}` })
    const timestamp = String(call?.headers['x-keystride-timestamp'])
    expect(timestamp).toBe(String(NOW / 1000))
    expect(call?.headers['x-keystride-signature']).toBe(signature(SECRET, timestamp, call?.body ?? ''))
    expect(JSON.parse(call?.body ?? '')).toMatchObject({ id: sent.id, kind: 'bot', to: ['+33612345678'] })
    expect(call?.body).not.toContain(SECRET)
  })
})

describe('a webhook', () => {
  const settings = (port: number, path = '/hooks?via=a') => ({ url: `https://localhost:${port}${path}` })
  const secretOf = (byte: number) => `whsec_${Buffer.alloc(24, byte).toString('base64')}`
  const [SECRET, OLD] = [secretOf(1), secretOf(2)]
  const read = (sink: Sink<{ body: string }>) => JSON.parse(sink.received.at(-1)?.body ?? '')

  it('is one call that the library of the specification verifies', async () => {
    const sink = await open(gatewaySink())
    const sent = message()
    const now = Date.now()
    expect(await sendWebhook(needs, settings(sink.port), SECRET, { ...sent, now })).toBe('delivered')
    const [call] = sink.received
    const headers = call?.headers as Record<string, string>
    expect(call?.path).toBe('/hooks?via=a')
    expect(headers).toMatchObject({
      host: `localhost:${sink.port}`,
      'content-type': 'application/json',
      'webhook-id': sent.id,
      'webhook-timestamp': String(Math.floor(now / 1000)),
    })
    expect(new Webhook(SECRET).verify(call?.body ?? '', headers)).toEqual({
      type: 'alert.bot',
      timestamp: '2026-11-21T00:00:00.000Z',
      data: {
        organizationId: sent.organizationId,
        userRef: 'ada',
        memberRef: 'ada',
        text: 'A typing pattern in the name of ada was made by a machine.',
      },
    })
    expect(() => new Webhook(OLD).verify(call?.body ?? '', headers)).toThrow('No matching signature')
    expect(JSON.stringify(call)).not.toContain(SECRET.slice(6))
  })

  it('has the details of its event, with times in ISO 8601', async () => {
    const sink = await open(gatewaySink())
    const dataOf = async (changes: Partial<AlertEvent>) => {
      await sendWebhook(needs, settings(sink.port), SECRET, { ...message(changes), now: Date.now() })
      const { type, data } = read(sink)
      const { organizationId: _, userRef: __, memberRef: ___, text: ____, ...details } = data
      return [type, details]
    }
    expect(await dataOf({ kind: 'locked', details: { until: 0 } })).toEqual([
      'alert.locked',
      { until: '1970-01-01T00:00:00.000Z' },
    ])
    expect(await dataOf({ kind: 'locked', details: { until: null } })).toEqual(['alert.locked', { until: null }])
    expect(await dataOf({ kind: 'degraded', details: { beganAt: 0, endedAt: 1000 } })).toEqual([
      'alert.degraded',
      { beganAt: '1970-01-01T00:00:00.000Z', endedAt: '1970-01-01T00:00:01.000Z' },
    ])
    const quota = { of: 'accounts', n: 11, licensed: 10 } as const
    expect(await dataOf({ kind: 'quota-overage', details: quota })).toEqual(['alert.quota-overage', quota])
    for (const [nPatternsRef, biometricStatus] of [
      [5, 'ok'],
      [10, 'full'],
    ] as const) {
      const details = { accountType: 'nominative', nPatternsRef } as const
      expect(await dataOf({ kind: 'enrollment-completed', details })).toEqual([
        'enrollment.completed',
        { ...details, biometricStatus, time: '2026-11-21T00:00:00.000Z' },
      ])
    }
  })
})

describe.each([
  {
    name: 'an SMS',
    send: (given: WebhookNeeds, url: string) =>
      sendSms(given, { url, recipients: ['+33612345678'] }, 'sixteen characters or more', { ...message(), now: 0 }),
  },
  {
    name: 'a webhook',
    send: (given: WebhookNeeds, url: string) => sendWebhook(given, { url }, 'whsec_AQEBAQ==', { ...message(), now: 0 }),
  },
])('$name', ({ send }) => {
  const urlOf = ({ port }: { port: number }) => `https://localhost:${port}/`

  it('follows no redirect, and distinguishes kinds of answers', async () => {
    const canary = await open(gatewaySink())
    const answers = {
      delivered: [200, 204],
      refused: [301, 302, 303, 307, 308, 400, 401, 410],
      busy: [429, 500, 503],
    }
    for (const [outcome, statuses] of Object.entries(answers))
      for (const status of statuses) {
        const sink = await open(gatewaySink({ status, headers: { location: urlOf(canary) } }))
        expect([status, await send(needs, urlOf(sink))]).toEqual([status, outcome])
      }
    expect(canary.connections()).toBe(0)
  })

  it('goes only by TLS, only to a trusted certificate', async () => {
    const sink = await open(gatewaySink())
    expect(await send(stranger, urlOf(sink))).toBe('tls-failed')
    expect(await send(needs, urlOf(await open(muteSink({ says: 'HTTP/1.1 200 OK\r\n\r\n' }))))).not.toBe('delivered')
    expect(sink.received).toEqual([])
  })
})

describe('syslog', () => {
  const settings = (port: number, transport: SyslogSettings['transport']): SyslogSettings => ({
    host: '127.0.0.1',
    port,
    transport,
    facility: 'local3',
    app_name: 'keystride',
  })
  /** Splits octet-counted frames as a receiver does; throws if the counts are wrong. */
  function framesOf(stream: string): string[] {
    const frames: string[] = []
    for (let rest = stream; rest !== ''; ) {
      const [, length = '', tail = ''] = /^([1-9]\d*) ([\s\S]*)$/.exec(rest) ?? []
      if (length === '' || tail.length < Number(length)) throw new Error('no whole frame')
      frames.push(tail.slice(0, Number(length)))
      rest = tail.slice(Number(length))
    }
    return frames
  }
  const WHOLE =
    /^<156>1 2026-11-21T00:00:00\.000Z - keystride - bot \[keystride@32473 id="[^"]+" organization="[^"]+" user="(?:[^"\\\]]|\\.)*" member="(?:[^"\\\]]|\\.)*"\] [\x20-\x7e]+$/

  it('is one frame a message over TCP and over TLS, whatever an event carries', async () => {
    for (const transport of ['tcp', 'tls'] as const) {
      const sink = await open(streamSink(transport === 'tls'))
      const outcomes = await Promise.all(
        HOSTILE.map((_, n) =>
          sendSyslog(
            needs,
            settings(sink.port, transport),
            message({ userRef: hostile(n), memberRef: hostile(n + 3) }),
          ),
        ),
      )
      expect(new Set(outcomes)).toEqual(new Set(['delivered']))
      await until(async () => sink.received.length === HOSTILE.length)
      for (const stream of sink.received) {
        const frames = framesOf(stream)
        expect(frames).toHaveLength(1)
        expect(frames[0]).toMatch(WHOLE)
      }
    }
  })

  it('is one datagram a message over UDP', async () => {
    const sink = await open(datagramSink())
    for (const [n] of HOSTILE.entries())
      expect(await sendSyslog(needs, settings(sink.port, 'udp'), message({ userRef: hostile(n) }))).toBe('sent')
    await until(async () => sink.received.length === HOSTILE.length)
    for (const line of sink.received) expect(line).toMatch(WHOLE)
  })

  it('goes by TLS only to a trusted certificate', async () => {
    const sink = await open(streamSink(true))
    expect(await sendSyslog(stranger, settings(sink.port, 'tls'), message())).toBe('tls-failed')
    expect(sink.received.filter((text) => text !== '')).toEqual([])
  })

  it('reports a port without a listener', async () => {
    for (const transport of ['udp', 'tcp', 'tls'] as const) {
      const gone = transport === 'udp' ? await datagramSink() : await muteSink()
      await gone.close()
      expect(await sendSyslog(needs, settings(gone.port, transport), message())).toBe('unreachable')
    }
  })
})

describe('the destination of a channel', () => {
  let canary: Sink<never>
  beforeAll(async () => {
    canary = await open(muteSink('hang-up'))
  })
  const everywhere = listOf('0.0.0.0/0', '::/0', '*.example')
  const notAllowed = Array(4).fill('not-allowed')

  it('is checked again at each connection: a host removed from the list is not reached, nor are the ports of the stores', async () => {
    const nobody: WebhookNeeds = { ...needs, hosts: listOf() }
    const closed: WebhookNeeds = { ...needs, closedPorts: new Set([canary.port]) }
    for (const host of ['127.0.0.1', 'localhost'])
      for (const given of [nobody, closed]) expect(await sendAll(given, host, canary.port)).toEqual(notAllowed)
    expect(canary.connections()).toBe(0)
  })

  it('is never a private address that a name server returns for a listed name, in any spelling: 0 connections', async () => {
    const answers = [
      ...['169.254.169.254', '0.0.0.0', '::', 'fe80::1', '::ffff:169.254.169.254', '::ffff:a9fe:a9fe'],
      ...['::169.254.169.254', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::1', 'fd00:ec2::254', '224.0.0.1'],
      ...['255.255.255.255', 'ff02::1', 'fe80::1%lo'],
    ]
    let tries = 0
    for (const answer of answers)
      for (const all of [[answer], ['127.0.0.1', answer], [answer, '127.0.0.1']]) {
        const given: WebhookNeeds = { ...needs, hosts: everywhere, resolve: async () => all }
        expect([all, await sendAll(given, 'rebound.example', canary.port)]).toEqual([all, notAllowed])
        tries += 4
      }
    const found = canary.connections()
    figure('T28', `${found} connections in ${tries} tries on rebound names`, '0', found === 0)
  })

  it('is the checked address, even if the name resolves to another one a moment later', async () => {
    const sink = await open(streamSink(false))
    let asked = 0
    const resolve = async () => [asked++ === 0 ? '127.0.0.1' : '169.254.169.254']
    const settings = { host: 'rebinding.example', port: sink.port, transport: 'tcp' } as const
    const sent = sendSyslog(
      { ...needs, hosts: everywhere, resolve },
      { ...settings, facility: 'auth', app_name: 'k' },
      message(),
    )
    expect(await sent).toBe('delivered')
    expect([asked, sink.connections()]).toEqual([1, 1])
  })

  it('is reported as unknown if the name does not resolve', async () => {
    const resolve = async () => Promise.reject(new Error('ENOTFOUND'))
    const given: WebhookNeeds = { ...needs, hosts: everywhere, resolve }
    expect(await sendAll(given, 'nobody.example', canary.port)).toEqual(Array(4).fill('name-unknown'))
  })

  it('is resolved and connected to in one file only', () => {
    for (const name of ['email', 'sms', 'post', 'webhook', 'words', 'courier']) {
      const source = readFileSync(fileURLToPath(new URL(`../../src/jobs/channels/${name}.ts`, import.meta.url)), 'utf8')
      expect(source).not.toMatch(/node:dns|node:tls|from 'node:https'|fetch\(/)
    }
  })
})

it('a peer that does not answer ends the try at the deadline, on every channel', async () => {
  const mute = await open(muteSink())
  const outcomes = await sendAll({ ...needs, deadlineMs: 800 }, 'localhost', mute.port, 'tls')
  for (const outcome of outcomes) expect(['timed-out', 'unreachable']).toContain(outcome)
})
