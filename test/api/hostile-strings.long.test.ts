import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enrollPattern } from '../../src/api/core/typing-patterns.js'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { isText } from '../../src/domain/validation/text.js'
import { fieldPath } from '../../src/domain/validation/validation.js'
import { parametersOf } from '../../src/http/docs/route-docs.js'
import type { Route } from '../../src/http/route.js'
import { freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'
import { type Enrolled, enroll } from './enrolled.js'
import { HOSTILE_TEXTS, type Place, placesIn, withText } from './hostile-texts.js'
import { bodiesOf, GOOD, ID, pathOf, ROWS } from './rows.js'

const TEXTS = Object.entries(HOSTILE_TEXTS)

interface Sent {
  readonly path: string
  readonly body?: unknown
  /** The kind of the text and its place. */
  readonly what: string
  /** Part of the message of the expected 422; null if the value is valid text. */
  readonly field: string | null
}

let service: TestService
let owner: Enrolled
beforeAll(async () => {
  service = await startService((await freshDatabase()).url, { more: { LOG_LEVEL: 'silent' } })
  owner = await enroll(service, 'owner')
})
afterAll(() => service.close())

/** Percent-encodes a string unchanged, lone surrogates included. */
const encoded = (text: string): string =>
  Array.from(text, (one) => (isText(one) || one === '\0' ? encodeURIComponent(one) : '%ED%A0%80')).join('')

/** Calls of a route with one hostile text each, in every place that accepts a string. */
function callsOf(row: Route<never>, userRef: string): Sent[] {
  const parameters = parametersOf(row)
  const bodies = bodiesOf(row, owner.fresh)
  const pathWith = (name: string | null, text: string) =>
    pathOf(row, { userRef, ...(name && { [name]: encoded(text) }) })
  const inParameters = parameters.flatMap(({ name, in: where, schema }) =>
    TEXTS.map(([kind, of]): Sent => {
      const text = of(schema.maxLength ?? 300)
      const path = where === 'path' ? pathWith(name, text) : `${pathWith(null, '')}?${name}=${encoded(text)}`
      // The escape of a lone surrogate is not UTF-8.
      const field = text.includes('\0') ? `${where}.${name}: ` : null
      return {
        path,
        what: `${kind} in ${where}.${name}`,
        field,
        ...(row.body.kind === 'none' ? {} : { body: bodies[0]?.[1] }),
      }
    }),
  )
  const inBody = bodies.flatMap(([schema, body]) =>
    placesIn(schema).flatMap((place) =>
      TEXTS.map(([kind, of]): Sent => {
        const text = of(place.lengthMax)
        const where = fieldPath(place.path) || 'body'
        const found = isText(text) || row.body.kind === 'bytes' || place.path[0] === 'pattern' ? null : where
        return {
          path: pathWith(null, ''),
          body: withText(body, place, text),
          what: `${kind} in ${where}`,
          field: found,
        }
      }),
    ),
  )
  return [...inParameters, ...inBody]
}

interface Caller {
  readonly userRef: string
  readonly session: string
  /** Key of a profile link. */
  readonly key: string
}

async function send(api: string, row: Route<never>, { session, key }: Caller, { path, body }: Sent) {
  const answer = await fetch(`${service.core.replace(/core$/, api)}${path}`, {
    method: row.method.toUpperCase(),
    headers: {
      apikey: service.apikey,
      'x-service-session': session,
      'x-link-key': key,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, text }
}

let people = 0
async function somebody(): Promise<Caller> {
  const userRef = `somebody-${people++}`
  await service.call('POST', `/users/${userRef}`)
  const { session } = await service.bootstrap(userRef)
  return { userRef, session, key: (await service.callLinks('POST', `/api/links/create-profile/${userRef}`)).json.key }
}

/** The string fields of a pattern that are stored. */
const KEPT =
  /^(agent\.(type|version)|sId|tags\.0\.[kv]|d\.(ua|uaData\..+|tz|navLanguage|gpu|fonts\.0)|kevt\.0\.(k|eId))$/
/** A pattern with a hostile text in each of these fields. */
function patternWith(kind: (lengthMax: number) => string): unknown {
  const [place, pattern] = bodiesOf(enrollPattern, owner.fresh)[0] ?? [{}, {}]
  const places = placesIn(place).filter(({ path }) => KEPT.test(path.join('.')))
  expect(places.length).toBeGreaterThanOrEqual(14)
  return places.reduce((body: unknown, one) => withText(body, one, kind(one.lengthMax)), pattern)
}

describe('hostile text', { timeout: 600_000 }, () => {
  it('uses twenty kinds or more, and reaches every string of a body', () => {
    expect(TEXTS.length).toBeGreaterThanOrEqual(20)
    const places = ROWS.flatMap(([, , row]) => bodiesOf(row, owner.fresh).flatMap(([schema]) => placesIn(schema)))
    const names = new Set(places.map(({ path, isKey }: Place) => `${path.join('.')}${isKey ? '.*' : ''}`))
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
    const shared = await somebody()
    const sent = callsOf(row, shared.userRef)
    const wrong: string[] = []
    for (let at = 0; at < sent.length; at += TEXTS.length) {
      // The number of invalid patterns per member is limited, so each place has its own member.
      const caller = row.body.kind === 'bytes' ? await somebody() : shared
      const calls = sent
        .slice(at, at + TEXTS.length)
        .map((one) => ({ ...one, path: one.path.replace(shared.userRef, caller.userRef) }))
      const answers = await Promise.all(calls.map((one) => send(api, row, caller, one)))
      for (const [i, { status, text }] of answers.entries()) {
        const { what, field } = calls[i] as Sent
        if (status >= 500) wrong.push(`${what}: ${status} ${text.slice(0, 200)}`)
        if (field !== null && !(status === 422 && JSON.parse(text).message.includes(field)))
          wrong.push(`${what}: ${status} ${text.slice(0, 200)} without ${field}`)
      }
    }
    expect(wrong).toEqual([])
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
      const signIn = (await service.bootstrap('owner')).session
      const verified = await service.call('POST', '/users/owner/verify', { session: signIn, body: patternWith(kind) })
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
