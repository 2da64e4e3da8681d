import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enrollPattern } from '../../src/api/core/typing-patterns.js'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { isText } from '../../src/base/text.js'
import { fieldPath } from '../../src/base/validation.js'
import { parametersOf } from '../../src/http/docs/route-docs.js'
import type { Route } from '../../src/http/route.js'
import { type Enrolled, enroll, linkTo, verifyOf } from '../harness/enrolled.js'
import { startService, type TestService } from '../harness/service.js'
import { freshDatabase } from '../servers/database.js'
import { HOSTILE_TEXTS, slotsIn, type TextSlot, withText, withValue } from './hostile-texts.js'
import { bodiesOf, fieldsIn, GOOD, ID, pathOf, ROWS } from './rows.js'

let service: TestService
let owner: Enrolled
beforeAll(async () => {
  const more = { LOG_LEVEL: 'silent', ALERT_HOSTS: '*.example.com,192.0.2.0/24' }
  service = await startService((await freshDatabase()).url, { more })
  owner = await enroll(service, 'owner')
})
afterAll(() => service.close())

interface Sent {
  /** Description of the value's place. */
  readonly what: string
  readonly path: string
  readonly body?: unknown
  /** Names of the place; the message of a 422 contains one of them. */
  readonly names: readonly string[]
  /** Whether the answer must be 422. */
  readonly refused?: boolean
}
interface Received {
  readonly status: number
  readonly text: string
}

let people = 0
async function somebody() {
  const userRef = `somebody-${people++}`
  await service.call('POST', `/users/${userRef}`)
  const { session } = await service.bootstrap(userRef)
  return { userRef, session, key: await linkTo(service, 'create', userRef) }
}

/** Sends the calls of each place for another person, because invalid patterns and codes are limited for each person. */
async function faultsOf(
  api: string,
  row: Route<never>,
  places: readonly (readonly Sent[])[],
  fault: (sent: Sent, received: Received) => string | null,
): Promise<string[]> {
  const faults: string[] = []
  for (const place of places) {
    const { userRef, session, key } = await somebody()
    const answers = place.map(async (one) => {
      const path = one.path.replace('nobody-yet', userRef)
      const answer = await fetch(`${service.core.replace(/core$/, api)}${path}`, {
        method: row.method.toUpperCase(),
        headers: {
          apikey: service.apikey,
          'x-service-session': session,
          'x-link-key': key,
          ...(one.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(one.body === undefined ? {} : { body: JSON.stringify(one.body) }),
      })
      return fault(one, { status: answer.status, text: await answer.text() }) ?? []
    })
    faults.push(...(await Promise.all(answers)).flat())
  }
  return faults
}

/** Calls of a route with each text in each parameter. The texts are already escaped for an address. */
const inParameters = (
  row: Route<never>,
  texts: (lengthMax: number) => readonly (readonly [escaped: string, refused: boolean])[],
) =>
  parametersOf(row).map(({ name, in: where, schema }) =>
    texts(schema.maxLength ?? 300).map(([text, refused]): Sent => {
      const [first] = bodiesOf(row, owner.fresh)
      const path =
        where === 'path'
          ? pathOf(row, { userRef: 'nobody-yet', [name]: text })
          : `${pathOf(row, { userRef: 'nobody-yet' })}?${name}=${text}`
      const what = `${where}.${name}`
      return { ...(row.body.kind === 'none' ? {} : { body: first?.[1] }), what, path, names: [what], refused }
    }),
  )

describe('a value that is refused', { timeout: 600_000 }, () => {
  const CANARY = 'zqcanaryzq'
  /** A canary of every JSON type; nearly every field refuses most of them. */
  const WRONG: readonly unknown[] = [
    CANARY,
    `${CANARY}/é☃`,
    CANARY.repeat(120),
    { [CANARY]: CANARY },
    [CANARY],
    [[CANARY, { [CANARY]: 1 }]],
    -918_273_645.5,
    9_182_736_450_000_000,
    true,
  ]
  const LEAKS = /zqcanaryzq|918273645/
  /** Words of zod's default messages and of JavaScript. */
  const RAW =
    /invalid (input|option|key|value)|\bexpected\b|\breceived\b|\bNaN\b|undefined|too (big|small)|unrecognized|\[object|regex|\/\^/i

  function callsOf(row: Route<never>): Sent[][] {
    const plain = WRONG.filter((value) => typeof value !== 'object')
    const path = pathOf(row, { userRef: 'nobody-yet' })
    const inBody = bodiesOf(row, owner.fresh).flatMap(([schema, body]) =>
      fieldsIn(schema).map((field) => {
        const names = [field.path.findLast((step) => typeof step === 'string'), field.path[0]].map(String)
        const what = fieldPath(field.path)
        const sent = (value: unknown): Sent => ({ what, path, body: withValue(body, field.path, value), names })
        return [...WRONG, ...(field.required ? [undefined] : [])].map(sent)
      }),
    )
    return [...inParameters(row, () => plain.map((value) => [encodeURIComponent(String(value)), false])), ...inBody]
  }

  /** The fault of an answer to a canary; null if none. */
  function fault(row: Route<never>, { names, what }: Sent, { status, text }: Received): string | null {
    const shown = `${what}: ${status} ${text.slice(0, 300)}`
    if (status >= 500) return shown
    // The 404 bootstrap state of an unknown user contains the requested userRef.
    const isShell = status === 404 && row.countedAs === 'bootstrap'
    if (status >= 400 && !isShell && LEAKS.test(text)) return `repeats the value: ${shown}`
    if (status !== 422) return null
    const { message, reason } = JSON.parse(text)
    if (reason !== 'invalid-data') return null
    if (RAW.test(message)) return `raw words: ${shown}`
    // The value was accepted: the pattern is refused because it types other words than the page shows.
    if (message.startsWith('type the words of ')) return null
    return names.some((name) => message.includes(name)) ? null : `does not name the field: ${shown}`
  }

  it.each(ROWS)(
    'in any field of %s is never repeated, and the message names the field in words',
    async (_, api, row) => {
      expect(await faultsOf(api, row, callsOf(row), (sent, received) => fault(row, sent, received))).toEqual([])
    },
  )
})

describe('hostile text', { timeout: 600_000 }, () => {
  const TEXTS = Object.entries(HOSTILE_TEXTS)

  /** Percent-encodes a string unchanged, lone surrogates included; the escape of one is not UTF-8. */
  const encoded = (text: string): string =>
    Array.from(text, (one) => (isText(one) || one === '\0' ? encodeURIComponent(one) : '%ED%A0%80')).join('')

  /** Calls of a route with one hostile text each, in every place that accepts a string. */
  function callsOf(row: Route<never>): Sent[][] {
    const texts = (lengthMax: number) => TEXTS.map(([, of]) => of(lengthMax))
    const path = pathOf(row, { userRef: 'nobody-yet' })
    const inBody = bodiesOf(row, owner.fresh).flatMap(([schema, body]) =>
      slotsIn(schema).map((place) =>
        texts(place.lengthMax).map((text): Sent => {
          const what = fieldPath(place.path) || 'body'
          const refused = !isText(text) && row.body.kind !== 'bytes' && place.path[0] !== 'pattern'
          return { path, body: withText(body, place, text), what, names: [what], refused }
        }),
      ),
    )
    const inPath = inParameters(row, (lengthMax) =>
      texts(lengthMax).map((text) => [encoded(text), text.includes('\0')] as const),
    )
    return [...inPath, ...inBody]
  }

  function fault({ what, names, refused }: Sent, { status, text }: Received): string | null {
    const shown = `${what}: ${status} ${text.slice(0, 200)}`
    if (status >= 500) return shown
    const named = status === 422 && names.some((name) => JSON.parse(text).message.includes(name))
    return refused === true && !named ? `does not name the field: ${shown}` : null
  }

  /** The string fields of a pattern that are stored. */
  const KEPT =
    /^(agent\.(type|version)|sId|tags\.0\.[kv]|d\.(ua|uaData\..+|tz|navLanguage|gpu|fonts\.0)|kevt\.0\.(k|eId))$/
  /** A pattern with a hostile text in each of these fields. */
  function patternWith(kind: (lengthMax: number) => string): unknown {
    const [place, pattern] = bodiesOf(enrollPattern, owner.fresh)[0] ?? [{}, {}]
    const places = slotsIn(place).filter(({ path }) => KEPT.test(path.join('.')))
    expect(places.length).toBeGreaterThanOrEqual(14)
    return places.reduce((body: unknown, one) => withText(body, one, kind(one.lengthMax)), pattern)
  }

  it('uses twenty kinds or more, and reaches every string of a body', () => {
    expect(TEXTS.length).toBeGreaterThanOrEqual(20)
    const places = ROWS.flatMap(([, , row]) => bodiesOf(row, owner.fresh).flatMap(([schema]) => slotsIn(schema)))
    const names = new Set(places.map(({ path, isKey }: TextSlot) => `${path.join('.')}${isKey ? '.*' : ''}`))
    for (const name of [
      'tag.free',
      'tag.*',
      'groups.0',
      'user_display_name',
      'tags.0.v',
      'd.tz',
      'd.fonts.0',
      'kevt.0.k',
    ])
      expect(names).toContain(name)
  })

  it.each(ROWS)('in any string of %s is refused or accepted, and causes no 5xx', async (_, api, row) => {
    expect(await faultsOf(api, row, callsOf(row), fault)).toEqual([])
  })

  it('that is stored with accounts, policies and patterns breaks no read of the dashboard', async () => {
    const taken = { verify: 0, enroll: 0 }
    for (const [name, kind] of TEXTS) {
      const { userRef, session } = await somebody()
      const text = kind(64)
      await service.call('PATCH', `/users/${userRef}`, { body: { groups: [text], tag: { [text]: text } } })
      await service.call('POST', `/users/${userRef}-named`, { body: { user_display_name: text } })
      await service.dashboard('POST', '/policies', { body: { name: text } })
      const ill = !isText(text)
      const enrolled = await service.call('POST', `/users/${userRef}/typing-patterns`, {
        session,
        body: patternWith(kind),
      })
      const verified = await verifyOf(service, 'owner', patternWith(kind))
      for (const [what, { status, json }] of [
        ['enroll', enrolled],
        ['verify', verified],
      ] as const) {
        expect([name, what, status, json]).toEqual([name, what, expect.toBeOneOf([200, 422]), expect.anything()])
        if (ill)
          expect([name, json.message]).toEqual([
            name,
            expect.stringContaining('must not contain NUL or a lone surrogate'),
          ])
        if (ill) expect(json.message).toContain('agent.type')
        if (status === 200) taken[what]++
      }
    }
    expect(taken.verify).toBeGreaterThanOrEqual(12)
    expect(taken.enroll).toBeGreaterThanOrEqual(12)
    const ids = async (path: string): Promise<string> => (await service.dashboard('GET', path)).json.data[0].id
    const attempt = await ids('/authentications?user_ref=owner')
    const values: Readonly<Record<string, string>> = {
      ...GOOD,
      userRef: 'owner',
      authentications: attempt,
      authentication: attempt,
      signal: (await service.dashboard('GET', `/authentication/${attempt}/biometric/signals`)).json.data[0].signal,
      policies: await ids('/policies'),
      logs: await ids('/logs'),
    }
    const reads = dashboardRoutes.filter(({ method }) => method === 'get')
    const answers: [string, number, string][] = []
    for (const { path } of reads) {
      const [, noun = ''] = path.split('/')
      const whole = path.replace(/\{(\w+)\}/g, (_, name) => values[name === 'id' ? noun : name] ?? ID)
      const { status, json } = await service.dashboard(
        'GET',
        path === '/notifications/read' ? `${path}?all=true` : whole,
      )
      answers.push([whole, status, json.message])
    }
    expect(answers.filter(([, status]) => status !== 200)).toEqual([])
  })
})
