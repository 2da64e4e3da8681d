import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CONTEXT_INDICATORS, INDICATORS } from '../../../src/domain/context/signal.js'
import { modelFile, wasmFile } from '../../../src/scoring/artifacts.js'
import { openScorer } from '../../../src/scoring/scorer.js'
import { recompute } from '../../../src/scoring/trace.js'
import { type TypedKey, wirePattern } from '../../../src/typist/made-up-person.js'
import { freshDatabase } from '../../servers/database.js'
import { startService, type TestService } from '../../service.js'
import { enroll, text } from '../enrolled.js'
import { succeed, visited } from './sign-ins.js'

let service: TestService
let ann: Awaited<ReturnType<typeof visited>>
beforeAll(async () => {
  service = await startService((await freshDatabase()).url)
  ann = await visited(service, 'ann', 4)
  await service.call('PUT', '/users/ann/security-code', {
    session: (await service.bootstrap('ann')).session,
    body: { securityCode: '749205' },
  })
  await service.call('POST', '/users/ann/verify', {
    session: (await service.bootstrap('ann')).session,
    body: { securityCode: '749205' },
  })
}, 60_000)
afterAll(() => service.close())
const get = (path: string) => service.dashboard('GET', path)

describe('GET /authentications', () => {
  it('lists attempts newest first, with the count of all of them', async () => {
    const { status, json } = await get('/authentications?limit=2')
    expect([status, json.count, json.data.length]).toEqual([200, ann.nAttempts + 1, 2])
    expect(json.data[0]).toMatchObject({ auth_method: 'security_code', confidence_biometrics: 0, ip: null })
    expect(json.data[1]).toMatchObject({
      id: ann.strange,
      recommended_action: 'block',
      user_ref: 'ann',
      ip: '203.0.113.7',
    })
    const next = (await get('/authentications?limit=500&skip=2')).json
    expect([next.data.length, next.count]).toEqual([ann.nAttempts - 1, ann.nAttempts + 1])
  })

  it('filters and counts by user, method, action and window', async () => {
    const counted = async (query: string) => {
      const { json } = await get(`/authentications?limit=500&${query}`)
      expect(json.data.length).toBe(json.count)
      return json.count
    }
    expect(await counted('user_ref=ANN')).toBe(ann.nAttempts + 1)
    expect(await counted('user_ref=nobody')).toBe(0)
    expect(await counted('auth_method=security_code')).toBe(1)
    expect(await counted('auth_method=biometric&recommended_action=auth')).toBe(4)
    expect(await counted('user_ref=ann&recommended_action=auth')).toBe(5)
    expect(await counted(`date_to=${new Date(Date.now() - 3_600_000).toISOString()}`)).toBe(0)
  })

  it('refuses invalid queries with 422', async () => {
    for (const query of [
      'limit=0',
      'limit=501',
      'skip=-1',
      'limit=x',
      'date_from=yesterday',
      'auth_method=x',
      'user_ref=%00',
    ])
      expect((await get(`/authentications?${query}`)).status).toBe(422)
    expect((await get('/authentications?date_from=2026-01-02T00:00:00Z&date_to=2026-01-01T00:00:00Z')).status).toBe(422)
    expect((await get('/authentications?date_from=2024-01-02T00:00:00Z&date_to=2026-01-01T00:00:00Z')).status).toBe(422)
  })
})

describe('one authentication', () => {
  it('has every indicator with its signals', async () => {
    const { json } = await get(`/authentications/${ann.ids.at(-1)}`)
    expect(json.data.indicators.map((one: { indicator: string }) => one.indicator)).toEqual([...INDICATORS])
    expect(json.data).toMatchObject({ application: 'test', tags: [{ k: 'app', v: 'test' }] })
    const device = json.data.indicators.find((one: { indicator: string }) => one.indicator === 'device')
    expect(device.signals).toContainEqual({
      signal: 'browser',
      value: 'Firefox',
      reference: 'Firefox',
      weight: 2,
      computedOutcome: expect.closeTo(1 - 0.25 ** 3),
    })
    expect(json.data.confidence_context).toBeGreaterThan(0.9)
    expect(json.data.confidence).toBeCloseTo(
      0.8 * json.data.confidence_biometrics + 0.2 * json.data.confidence_context,
      10,
    )
  })

  it('has null for unknown values, never 0: location without a database, all context before three successes', async () => {
    const { json } = await get(`/authentications/${ann.ids[0]}`)
    const context = json.data.indicators.filter(({ indicator }: { indicator: string }) =>
      CONTEXT_INDICATORS.includes(indicator as never),
    )
    expect(context.map(({ score }: { score: number | null }) => score)).toEqual(Array(5).fill(null))
    expect(json.data.confidence_context).toBeNull()
    const { json: located } = await get(`/authentication/${ann.ids.at(-1)}/location/signals`)
    expect(new Set(located.data.map((one: { computedOutcome: unknown }) => one.computedOutcome))).toEqual(
      new Set([null]),
    )
  })

  it('shows all signals of one indicator, and a single one', async () => {
    const { json } = await get(`/authentication/${ann.strange}/device/signals`)
    expect(json.data.map(({ signal }: { signal: string }) => signal)).toContain('gpu')
    const { json: one } = await get(`/authentication/${ann.ids.at(-1)}/device/signals/gpu`)
    expect(one.data).toMatchObject({ signal: 'gpu', value: 'Mesa' })
    expect((await get(`/authentication/${ann.strange}/device/signals/nothing`)).status).toBe(404)
    expect((await get(`/authentication/${ann.strange}/nothing/signals`)).status).toBe(422)
  })

  it("answers 404 alike for an unknown id and for another organization's", async () => {
    const { apikey } = await service.another()
    const bodies = new Set<string>()
    for (const id of [ann.strange, '0198c0de-0000-7000-8000-000000000000'])
      for (const path of [
        `/authentications/${id}`,
        `/authentication/${id}/trace`,
        `/authentication/${id}/device/signals`,
      ]) {
        const { status, json } = await service.dashboard('GET', path, { apikey })
        expect(status).toBe(404)
        bodies.add(JSON.stringify({ ...json, timestamp: '' }))
      }
    expect(bodies.size).toBe(1)
    for (const path of ['/authentications', '/users', '/patterns', '/aggregations/users', '/users-refs/a'])
      expect((await service.dashboard('GET', path, { apikey })).json.data).toEqual([])
  })
})

describe('a trace', () => {
  it('recomputes the recorded score bit for bit with the shipped scorer', async () => {
    const { json } = await get(`/authentication/${ann.strange}/trace`)
    expect(json.data).toMatchObject({ reproduced: true, n_patterns_missing: 0 })
    const scorer = openScorer(wasmFile(), modelFile())
    expect(recompute(scorer, json.data.trace)).toEqual(json.data.trace.result)
    expect(json.data.trace.result.confidence).toBe(json.data.confidence_biometrics)
    expect(json.data.trace.explanation.pairs.length).toBeGreaterThan(5)
  })

  it('shows which presses repeat an earlier pattern, and when that was received', async () => {
    const cleo = await enroll(service, 'cleo')
    const keys = cleo.who.keys(text(300), 300)
    const verify = async (body: unknown) => {
      const { session } = await service.bootstrap('cleo')
      const { json } = await service.call('POST', '/users/cleo/verify', { session, body })
      return json.authentication
    }
    const original = await verify(wirePattern(keys))
    const later = ([key, press, release]: TypedKey, i: number): TypedKey =>
      i < 12 ? [key, press, release] : [key, press + 300, release + 300]
    const copy = await verify(wirePattern(keys.map(later)))
    expect(copy).toMatchObject({ authenticated: false, recommendedAction: 'block' })
    const { copy_of } = (await get(`/authentication/${copy.id}/trace`)).json.data
    expect(copy_of.pattern_id).toBe(original.patternTestId)
    expect(Math.abs(Date.parse(copy_of.created_at) - Date.parse(original.timestamp))).toBeLessThan(10_000)
    const compared = copy_of.presses.filter((repeated: number | null) => repeated !== null)
    expect(2 * compared.length).toBe(copy_of.compared)
    expect(compared.reduce((sum: number, repeated: number) => sum + repeated, 0)).toBe(copy_of.repeated)
    expect(copy_of.presses[12]).toBe(1)
    expect(copy_of.repeated).toBe(copy_of.compared - 1)
    expect((await get(`/authentication/${ann.strange}/trace`)).json.data.copy_of).toBeNull()
  })

  it('is null once a pattern of the score was deleted, and for a security code', async () => {
    const bob = await enroll(service, 'bob')
    const [id] = await succeed(service, bob, 1)
    const { json: user } = await get('/users/bob')
    await service.call('DELETE', `/users/bob/typing-patterns/${user.data.members[0].pattern_references[0].id}`)
    const { json } = await get(`/authentication/${id}/trace`)
    expect(json.data).toMatchObject({ trace: null, reproduced: null })
    expect(json.data.n_patterns_missing).toBeGreaterThan(0)
    const [code] = (await get('/authentications?auth_method=security_code')).json.data
    expect((await get(`/authentication/${code.id}/trace`)).json.data.trace).toBeNull()
    expect((await get(`/authentication/${code.id}/device/signals`)).json.data.length).toBeGreaterThan(0)
  })
})

describe('patterns and tags', () => {
  it('are listed, found by id whether tested or reference, and counted by tag', async () => {
    const { json } = await get('/patterns?limit=1')
    expect(json.count).toBeGreaterThanOrEqual(ann.nAttempts)
    const [{ pattern_references: references }] = (await get('/users/ann')).json.data.members
    const ids = [json.data[0].id, references[0].id, '0198c0de-0000-7000-8000-000000000000']
    const found = (await service.dashboard('POST', '/patterns', { body: { ids } })).json
    expect(found.data.map(({ kind }: { kind: string }) => kind).sort()).toEqual(['enrolled', 'tested'])
    expect((await get('/patterns/tags')).json.data).toEqual([{ tag: 'app', n: json.count }])
    expect((await get('/patterns/tags/app')).json.data).toEqual([{ value: 'test', n: json.count }])
    for (const path of ['/patterns/tags', '/patterns/tags/app']) {
      const { count, data } = (await service.dashboard('POST', path, { body: {} })).json
      expect({ count, data }).toEqual({ count: 1, data: (await get(path)).json.data })
    }
    expect((await service.dashboard('POST', '/patterns', { body: {} })).status).toBe(422)
  })
})
