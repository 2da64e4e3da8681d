import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AlertEvent, CHANNELS, EVENT_KINDS, rulesAfter, sentenceOf } from '../../src/domain/alert.js'
import { EmailSettings, SmsSettings, SyslogSettings } from '../../src/domain/alert-channels.js'
import { attemptEvents } from '../../src/domain/attempt-events.js'
import { afterFailure, NO_ATTEMPTS } from '../../src/domain/attempts.js'
import { syslogFrame, syslogLine } from '../../src/jobs/channels/syslog-line.js'

/** Any text that a client can store. */
const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(...['a\r\nBcc: eve@example.com', 'a\n<13>1 - - - - - - forged', 'a\u0000b', 'a\u2028b']),
  fc.constantFrom(...['"]', '\\"]', '=cmd()', '12 <13>1', '\u001b[31m']),
)
const details = [{}, { until: null }, { until: 5 }, { nFailed: 60, nMembers: 900 }, { of: 'accounts', n: 2 }]

describe('the sentence of an event', () => {
  it('is one line of printable ASCII for any content of the event', () => {
    const event = fc.record({
      kind: fc.constantFrom(...EVENT_KINDS),
      at: fc.constant(0),
      userRef: fc.option(anything),
      memberRef: fc.option(anything),
      details: fc.constantFrom(...details),
    }) as fc.Arbitrary<AlertEvent>
    fc.assert(
      fc.property(event, (one) => /^[\x20-\x7e]{10,500}$/.test(sentenceOf(one))),
      { seed: 1, numRuns: 2000 },
    )
  })

  it('distinguishes a member of a shared account from the account', () => {
    const event = { kind: 'bot', at: 0, userRef: 'desk', memberRef: 'ann', details: {} } as const
    expect(sentenceOf(event)).toContain('ann of desk')
    expect(sentenceOf({ ...event, memberRef: 'desk' })).toBe(
      'A typing pattern in the name of desk was made by a machine.',
    )
  })
})

describe('the rules matrix', () => {
  it('is complete and off before any rule is set, and changes only the given rules', () => {
    const off = Object.fromEntries(CHANNELS.map((name) => [name, false]))
    expect(rulesAfter({})).toEqual(Object.fromEntries(EVENT_KINDS.map((kind) => [kind, off])))
    const before = rulesAfter({ bot: { email: true }, locked: { sms: true } })
    const after = rulesAfter(before, { bot: { email: false, syslog: true } })
    expect(after).toEqual({ ...before, bot: { ...off, syslog: true } })
  })
})

describe('the events of an attempt', () => {
  const attempt = {
    method: 'biometric',
    authenticated: false,
    recommendedAction: 'block',
    reason: '',
    createdAt: 1000,
    facts: null,
  } as const
  const kinds = (changes: Partial<Parameters<typeof attemptEvents>[0]>, counters = NO_ATTEMPTS) =>
    attemptEvents({ ...attempt, ...changes }, counters)?.map(({ kind }) => kind) ?? null

  it('are none for a success and for a challenge', () => {
    expect(kinds({ authenticated: true, recommendedAction: 'auth' })).toBeNull()
    expect(kinds({ recommendedAction: 'challenge' })).toBeNull()
  })

  it('have the most specific kind', () => {
    const facts = { replay: false, impossibleTravel: false }
    expect(kinds({})).toEqual(['blocked'])
    expect(kinds({ reason: 'detection-bot', facts: { ...facts, replay: true } })).toEqual(['bot'])
    expect(kinds({ reason: 'fraud-detected' })).toEqual(['replay'])
    expect(kinds({ facts: { ...facts, impossibleTravel: true } })).toEqual(['impossible-travel'])
    // REPLAY=flag does not block a replay.
    expect(kinds({ authenticated: true, recommendedAction: 'auth', facts: { ...facts, replay: true } })).toEqual([
      'replay',
    ])
  })

  it('contain a lock for each failure that closes a mode, and no lock of the other mode', () => {
    let counters = NO_ATTEMPTS
    for (const [n, locks] of [false, false, false, false, true, true].entries()) {
      counters = afterFailure(counters, 'biometric', 1000 + n)
      const events = attemptEvents({ ...attempt, recommendedAction: 'challenge', createdAt: 1000 + n }, counters)
      expect(events).toEqual(locks ? [{ kind: 'locked', until: 1000 + n + 30_000 }] : null)
    }
    // The other mode's lock is not repeated.
    expect(attemptEvents({ ...attempt, method: 'security_code', createdAt: 1005 }, counters)).toEqual([
      { kind: 'blocked' },
    ])
    for (let n = 0; n < 10; n++) counters = afterFailure(counters, 'security_code', 2000)
    const dead = attemptEvents({ ...attempt, method: 'security_code', createdAt: 2000 }, counters)
    expect(dead).toEqual([{ kind: 'blocked' }, { kind: 'security-code-locked', until: null }])
  })
})

describe('the settings of a channel', () => {
  const email = { host: 'smtp.example', port: 25, tls: 'none', sender: 'a@b.example', recipients: ['c@d.example'] }

  it('accept only one plain address as mailbox: 0 of 3,000 hostile ones accepted', () => {
    const hostile = fc
      .tuple(
        anything,
        fc.constantFrom('\r\n', '\n', '\r', '\u0000', ',', ';', ' ', '<', '>', '"', '(', ':', '@', '\u2028'),
        anything,
      )
      .map(([a, between, b]) => `${a}x@y.example${between}${b}z@evil.example`)
    fc.assert(
      fc.property(hostile, (text) => {
        const sender = EmailSettings.safeParse({ ...email, sender: text }).success
        return !sender && !EmailSettings.safeParse({ ...email, recipients: [text] }).success
      }),
      { seed: 1, numRuns: 3000 },
    )
    const good = ["o'hara+x@mail.example.com", 'A.b@x.example']
    expect(EmailSettings.parse({ ...email, recipients: good }).recipients).toEqual(good)
  })

  it('accept no control character anywhere', () => {
    for (const bad of ['\r', '\n', '\u0000', '\u007f', '\u0085', '\u2028']) {
      expect(EmailSettings.safeParse({ ...email, user: `a${bad}b` }).success).toBe(false)
      expect(EmailSettings.safeParse({ ...email, host: `smtp${bad}.example` }).success).toBe(false)
      const syslog = { host: 'logs.example', port: 514, transport: 'udp', app_name: `a${bad}` }
      expect(SyslogSettings.safeParse(syslog).success).toBe(false)
      const sms = { url: `https://sms.example/${bad}x`, recipients: ['+33612345678'] }
      expect(SmsSettings.safeParse(sms).success).toBe(false)
    }
  })

  it('accept only an https gateway without user or fragment', () => {
    const url = (text: string) => SmsSettings.safeParse({ url: text, recipients: ['+33612345678'] }).success
    expect(url('https://sms.example/send?a=b')).toBe(true)
    const plain = ['http://sms.example/', 'http://127.0.0.1/', 'ftp://x/', '//x/', 'sms']
    expect([...plain, 'https://u@sms.example/', 'https://sms.example/#x'].filter(url)).toEqual([])
  })
})

describe('a syslog message', () => {
  const message = {
    facility: 'auth',
    appName: 'keystride',
    at: Date.UTC(2026, 10, 21),
    kind: 'bot',
    parameters: {},
    text: 'x',
  } as const

  it('conforms to RFC 5424', () => {
    expect(syslogLine({ ...message, parameters: { user: 'a"b\\c]d' }, text: 'hello' })).toBe(
      '<36>1 2026-11-21T00:00:00.000Z - keystride - bot [keystride@32473 user="a\\"b\\\\c\\]d"] hello',
    )
  })

  it('keeps each input in its field: 0 forged frames of 5,000 strings in every field', () => {
    const whole =
      /^<36>1 \S+ - [\x21-\x7e]+ - [\x21-\x7e]+ \[keystride@32473 user="((?:[^"\\\]]|\\["\\\]])*)"\] [\x20-\x7e]*$/
    fc.assert(
      fc.property(anything, anything, anything, anything, (appName, kind, user, text) => {
        const line = syslogLine({ ...message, appName, kind, parameters: { user }, text })
        const frame = syslogFrame(line)
        return whole.test(line) && frame === `${Buffer.byteLength(line)} ${line}`
      }),
      { seed: 1, numRuns: 5000 },
    )
  })
})
