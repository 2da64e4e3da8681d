import { beforeAll, describe, expect, it } from 'vitest'
import { CONTEXT_INDICATORS, INDICATORS } from '../../../src/domain/context/signal.js'
import { modelFile, wasmFile } from '../../../src/scoring/artifacts.js'
import { openScorer } from '../../../src/scoring/scorer.js'
import { recompute } from '../../../src/scoring/trace.js'
import { type TypedKey, wirePattern } from '../../../src/typist/made-up-person.js'
import { enroll, text, verifyOf } from '../../harness/enrolled.js'
import { sharedService } from '../../harness/service.js'
import { succeed, visited } from '../../harness/sign-ins.js'
import { ownRows } from '../own-rows.js'

const service = await sharedService()
let ann: Awaited<ReturnType<typeof visited>>
beforeAll(async () => {
  ann = await visited(service, 'ann', 4)
  const code = { securityCode: '749205' }
  const { session } = await service.bootstrap('ann')
  await service.call('PUT', '/users/ann/security-code', { session, body: code })
  await verifyOf(service, 'ann', code)
})
const get = (path: string) => service.dashboard('GET', path)
const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)
/** The id of the attempt by a security code. */
const code = async () => (await get('/authentications?auth_method=security_code')).json.data[0].id
/** Deletes the first reference of a person. */
async function oneFewer(userRef: string) {
  const [{ pattern_references: references }] = (await get(`/users/${userRef}`)).json.data.members
  await service.call('DELETE', `/users/${userRef}/typing-patterns/${references[0].id}`)
}

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
    expect(await counted('application=test')).toBe(ann.nAttempts)
    expect(await counted('application=test&recommended_action=auth')).toBe(4)
    expect(await counted('application=test&user_ref=ann&recommended_action=block')).toBeGreaterThan(0)
    expect(await counted('application=test&user_ref=nobody')).toBe(0)
    for (const none of ['application=tes', 'application=test&auth_method=security_code', 'reason=fraud-detected'])
      expect(await counted(none)).toBe(0)
    expect(await counted(`date_to=${new Date(Date.now() - 3_600_000).toISOString()}`)).toBe(0)
  })

  it('refuses invalid queries with 422', async () => {
    for (const query of [
      'limit=501',
      'skip=-1',
      'date_from=yesterday',
      'auth_method=x',
      'application=',
      `application=${'x'.repeat(81)}`,
      'reason=none',
      'date_from=2026-01-02T00:00:00Z&date_to=2026-01-01T00:00:00Z',
      'date_from=2024-01-02T00:00:00Z&date_to=2026-01-01T00:00:00Z',
    ])
      expect([query, (await get(`/authentications?${query}`)).status]).toEqual([query, 422])
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
    const verify = async (body: unknown) => (await verifyOf(service, 'cleo', body)).json.authentication
    const original = await verify(wirePattern(keys))
    const later = ([key, press, release]: TypedKey, i: number): TypedKey =>
      i < 12 ? [key, press, release] : [key, press + 300, release + 300]
    const copy = await verify(wirePattern(keys.map(later)))
    expect(copy).toMatchObject({ authenticated: false, recommendedAction: 'block' })
    const frauds = async (query: string) => (await get(`/authentications?reason=fraud-detected${query}`)).json
    for (const query of ['', '&application=test', '&user_ref=cleo', '&auth_method=biometric&recommended_action=block'])
      expect(await frauds(query)).toMatchObject({ count: 1, data: [{ id: copy.id }] })
    for (const query of ['&application=other', '&recommended_action=auth', '&auth_method=security_code'])
      expect(await frauds(query)).toMatchObject({ count: 0, data: [] })
    const all: { id: string; reason: string }[] = (await get('/authentications?limit=500')).json.data
    const bots = all.filter(({ reason }) => reason === 'detection-bot').map(({ id }) => id)
    const listed = (await get('/activities-details?reason=detection-bot&limit=500')).json
    expect([listed.count, idsOf(listed)]).toEqual([bots.length, bots])
    const { copy_of } = (await get(`/authentication/${copy.id}/trace`)).json.data
    expect(copy_of.pattern_id).toBe(original.patternTestId)
    expect(copy_of.chance).toBeLessThan(1e-6)
    const copied = copy_of.presses.map((probability: number) => probability > 0.5)
    expect(copied.slice(3, 11)).toEqual(Array(8).fill(true))
    expect(copied.slice(15).filter(Boolean).length).toBeGreaterThan(0.9 * copied.slice(15).length)
    expect((await get(`/authentication/${ann.strange}/trace`)).json.data.copy_of).toBeNull()
  })

  it('is null once a pattern of the score was deleted, and for a security code', async () => {
    const bob = await enroll(service, 'bob')
    const [id] = await succeed(service, bob, 1)
    await oneFewer('bob')
    const { json } = await get(`/authentication/${id}/trace`)
    expect(json.data).toMatchObject({ trace: null, reproduced: null })
    expect(json.data.n_patterns_missing).toBeGreaterThan(0)
    expect((await get(`/authentication/${await code()}/trace`)).json.data.trace).toBeNull()
    expect((await get(`/authentication/${await code()}/device/signals`)).json.data.length).toBeGreaterThan(0)
  })
})

describe('the presses of an authentication', () => {
  const TIMES = ['hold', 'press_press', 'release_press', 'release_release']

  it('are those of its trace, in the order of typing, with the policy that decided', async () => {
    const { data } = (await get(`/authentication/${ann.strange}/presses`)).json
    const { trace, ...decision } = (await get(`/authentication/${ann.strange}/trace`)).json.data
    const policy = (await get('/default-policy')).json.data
    expect(data).toMatchObject({
      authentication_id: ann.strange,
      recommended_action: 'block',
      authenticated: false,
      confidence: decision.confidence,
      policy: { id: policy.id, decision_threshold: 0.5, challenge_from: 0.35, changed_since: false },
      masked: false,
      n_references: 5,
      reproduced: true,
      whole: trace.explanation.whole,
    })
    const [first, ...later] = data.presses
    expect([first.at, first.first, first.press_press, first.release_release]).toEqual([0, null, null, null])
    for (const [i, press] of later.entries()) {
      expect([press.at, press.first]).toEqual([i + 1, data.presses[i].second])
      for (const time of TIMES) {
        const { n, lowest_ms, mean_ms, highest_ms, observed_ms } = press[time]
        expect([typeof observed_ms, n === 0]).toEqual(['number', mean_ms === null])
        if (n > 0) expect(lowest_ms <= mean_ms && mean_ms <= highest_ms).toBe(true)
      }
      const sum = TIMES.reduce((all, time) => all + press[time].spoke_for, 0)
      expect(press.spoke_for).toBeCloseTo(sum, 2)
    }
    const pairs = trace.explanation.pairs.reduce((all: number, one: { spokeFor: number }) => all + one.spokeFor, 0)
    const all = data.presses.reduce((sum: number, one: { spoke_for: number }) => sum + one.spoke_for, 0)
    expect(all).toBeCloseTo(pairs, 1)
  })

  it('are refused with the reason for a code, a deleted reference and a deleted pattern', async () => {
    const dora = await enroll(service, 'dora')
    const [id] = await succeed(service, dora, 1)
    expect((await get(`/authentication/${id}/presses`)).status).toBe(200)
    await oneFewer('dora')
    const refused = async (of: string) => {
      const { status, json } = await get(`/authentication/${of}/presses`)
      return [status, json.message]
    }
    expect(await refused(id ?? '')).toEqual([404, expect.stringContaining('1 of the 5 references')])
    expect(await refused(await code())).toEqual([404, expect.stringContaining('a security code was entered')])
    // Deletes the pattern as the job for old tested patterns does.
    await ownRows(service)((sql) => sql`update keystride.authentication set sealed = null where id = ${id ?? ''}`)
    expect(await refused(id ?? '')).toEqual([404, expect.stringContaining('the typing pattern of this authentication')])
  })

  it('name no key in sensitive mode', async () => {
    const fay = await enroll(service, 'fay')
    const { json } = await verifyOf(service, 'fay', fay.who.types(text(400), 400, { mode: 'sensitive' }))
    const answer = (await get(`/authentication/${json.authentication.id}/presses`)).json
    expect(answer.data?.masked, JSON.stringify(answer)).toBe(true)
    for (const { first, second } of answer.data.presses) expect([first, second]).toEqual([null, null])
  })
})

describe('what-if of an authentication', () => {
  it('has the recorded verdict under its own policy, and that of every other live policy', async () => {
    const { data: own } = (await get('/default-policy')).json
    const { id: _, is_default, is_shadow, created_at, updated_at, archived_at, ...content } = own
    const made = async (name: string, more: object) =>
      (await service.dashboard('POST', '/policies', { body: { ...content, name, ...more } })).json.data.id
    const strict = await made('strict', { decision_threshold: 0.99, priority: 'security' })
    const loose = await made('loose', { decision_threshold: 0.01 })
    const [id] = ann.ids.slice(-1)
    const recorded = (await get(`/authentications/${id}`)).json.data
    const { count, data } = (await get(`/authentication/${id}/what-if`)).json
    expect(count).toBe(3)
    const of = (policyId: string) => data.find((one: { policy_id: string }) => one.policy_id === policyId)
    expect(of(own.id)).toMatchObject({
      of_attempt: true,
      is_default: true,
      recommended_action: recorded.recommended_action,
      confidence: recorded.confidence,
      changed: false,
    })
    expect(of(strict)).toMatchObject({
      of_attempt: false,
      authenticated: recorded.confidence >= 0.99,
      decision_threshold: 0.99,
      challenge_from: 0.99,
    })
    expect(of(loose)).toMatchObject({ recommended_action: 'auth', authenticated: true })
    const page = (await get(`/authentication/${id}/what-if?skip=1&limit=1`)).json
    expect([page.count, page.data]).toEqual([3, [data[1]]])
    const strange = (await get(`/authentication/${ann.strange}/what-if?policy_id=${loose}`)).json
    const { confidence_biometrics } = (await get(`/authentications/${ann.strange}`)).json.data
    expect(strange.count).toBe(1)
    expect(strange.data[0].changed).toBe(confidence_biometrics >= 0.005)
    await service.dashboard('DELETE', `/policies/${strict}`)
    expect((await get(`/authentication/${id}/what-if`)).json.count).toBe(2)
    expect((await get(`/authentication/${id}/what-if?policy_id=${strict}`)).json.data[0].archived).toBe(true)
    await service.dashboard('DELETE', `/policies/${loose}`)
  })

  it('is refused for a code, and for a policy of another organization', async () => {
    const refused = await get(`/authentication/${await code()}/what-if`)
    const message = expect.stringContaining('a security code was entered')
    expect([refused.status, refused.json.message]).toEqual([404, message])
    const { apikey } = await service.another()
    const theirs = (await service.dashboard('GET', '/default-policy', { apikey })).json.data.id
    const foreign = await get(`/authentication/${ann.strange}/what-if?policy_id=${theirs}`)
    expect([foreign.status, foreign.json.message]).toEqual([404, 'no such policy'])
    expect((await get(`/authentication/${ann.strange}/what-if?policy_id=x`)).status).toBe(422)
  })
})

it('the distribution of the confidence leaves out codes', async () => {
  const typed = (await get('/authentications?auth_method=biometric')).json.count
  const { n, bins } = (await get('/aggregations/confidence')).json.data
  expect([n, bins.length]).toEqual([typed, 20])
  const past = (await get('/aggregations/confidence?date_from=2026-01-01&date_to=2026-01-02')).json.data
  expect([past.n, past.bins.length]).toEqual([0, 20])
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
    for (const path of ['/patterns/tags', '/patterns/tags/app'])
      expect((await service.dashboard('POST', path, { body: {} })).json).toMatchObject({
        count: 1,
        data: (await get(path)).json.data,
      })
    expect((await service.dashboard('POST', '/patterns', { body: {} })).status).toBe(422)
  })
})
