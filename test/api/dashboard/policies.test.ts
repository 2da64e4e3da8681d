import { describe, expect, it } from 'vitest'
import { enroll, verifyOf } from '../../harness/enrolled.js'
import { sharedService } from '../../harness/service.js'
import { succeed, visited } from '../../harness/sign-ins.js'

const service = await sharedService()
const ask = (method: string, path: string, body?: unknown) => service.dashboard(method, path, { body })

/** The default policy with changes, as a body. */
async function body(changes: object) {
  const { id, ...rest } = (await ask('GET', '/default-policy')).json.data
  return { ...rest, ...changes }
}
const make = async (changes: object) => (await ask('POST', '/policies', await body(changes))).json.data

describe('a policy', () => {
  it('is created, listed, read and replaced', async () => {
    const made = await ask('POST', '/policies', await body({ name: 'strict', decision_threshold: 0.9 }))
    expect([made.status, made.json.data.is_default]).toEqual([201, false])
    const { id } = made.json.data
    const changed = await ask(
      'PUT',
      `/policies/${id}`,
      await body({
        name: 'strict',
        decision_threshold: 0.8,
        indicators: { device: { weight: 0, signals: { gpu: 1 } } },
      }),
    )
    expect(changed.json.data).toMatchObject({
      decision_threshold: 0.8,
      indicators: { device: { weight: 0, signals: { gpu: 1 } } },
    })
    const { json } = await ask('GET', '/policies')
    expect(json.data.map(({ name }: { name: string }) => name)).toEqual(['default', 'strict'])
    expect(json.globally_enabled_indicators).toContain('device')
  })

  it('is refused with 422 that names the invalid field', async () => {
    for (const [changes, field] of [
      [{ decision_threshold: 7 }, 'decision_threshold'],
      [{ contextual_influence: 0.6 }, 'contextual_influence'],
      [{ priority: 'speed' }, 'priority'],
      [{ indicators: { device: { weight: -1 } } }, 'indicators.device.weight'],
      [
        { indicators: { device: { signals: { latitude: 1 } } } },
        'indicators.device.signals: must have no other keys than browser',
      ],
      [{ indicators: { biometric: { weight: 1 } } }, 'indicators'],
      [{ groups: [''] }, 'groups'],
      [{ security_code_fallback: {} }, 'security_code_fallback'],
    ] as const) {
      const { status, json } = await ask('POST', '/policies', await body(changes))
      expect([status, json.message]).toEqual([422, expect.stringContaining(field)])
    }
    expect((await ask('POST', '/policies')).status).toBe(422)
  })

  it('is archived, and stays readable; the default is 409', async () => {
    const { id } = await make({ name: 'old', groups: ['old'] })
    expect((await ask('DELETE', `/policies/${id}`)).json.data.archived_at).not.toBeNull()
    expect((await ask('DELETE', `/policies/${id}`)).status).toBe(200)
    expect((await ask('GET', `/policies/${id}`)).json.data.name).toBe('old')
    expect((await ask('PUT', `/policies/${id}`, await body({}))).status).toBe(404)
    expect((await ask('POST', `/policies/${id}/default`)).status).toBe(404)
    const names = async (query: string) =>
      (await ask('GET', `/policies${query}`)).json.data.map(({ name }: { name: string }) => name)
    expect(await names('')).not.toContain('old')
    expect(await names('?archived=true')).toContain('old')
    const standard = (await ask('GET', '/default-policy')).json.data
    expect((await ask('DELETE', `/policies/${standard.id}`)).status).toBe(409)
    expect((await ask('GET', '/policies/0198c0de-0000-7000-8000-000000000000')).status).toBe(404)
  })
})

describe('the deciding policy', () => {
  it("is the policy of the account's groups, else the default", async () => {
    const { id } = await make({ name: 'staff', decision_threshold: 0.99, priority: 'security', groups: ['staff'] })
    const ann = await enroll(service, 'ann')
    const bob = await enroll(service, 'bob')
    await service.call('PATCH', '/users/ann', { body: { groups: ['staff'] } })
    const verify = async ({ userRef, fresh }: typeof ann) =>
      (await verifyOf(service, userRef, fresh())).json.authentication.policyId
    expect(await verify(ann)).toBe(id)
    expect(await verify(bob)).toBe((await ask('GET', '/default-policy')).json.data.id)
    // A change also applies to cached people.
    await ask('DELETE', `/policies/${id}`)
    expect(await verify(ann)).toBe((await ask('GET', '/default-policy')).json.data.id)
  })

  it('is the new default at once', async () => {
    const before = (await ask('GET', '/default-policy')).json.data
    const { id } = await make({
      name: 'long codes',
      security_code_fallback: { ...before.security_code_fallback, code_length: 8 },
    })
    expect((await ask('POST', `/policies/${id}/default`)).json.data.is_default).toBe(true)
    expect((await service.call('GET', '/users/bob')).json.codeLength).toBe(8)
    await ask('POST', `/policies/${before.id}/default`)
    expect((await service.call('GET', '/users/bob')).json.codeLength).toBe(6)
  })
})

describe('what-if', () => {
  it("changes nothing under the attempt's own policy, and names the people affected by a stricter one", async () => {
    const date_from = new Date().toISOString()
    await visited(service, 'cara', 4)
    const standard = (await ask('GET', '/default-policy')).json.data
    const same = (await ask('POST', `/policies/${standard.id}/simulate`, { date_from })).json.data
    expect(same).toMatchObject({ n_changed: 0, truncated: false, transitions: [], users: [] })
    expect(same.n_attempts).toBeGreaterThanOrEqual(5)
    const { id } = await make({
      name: 'strictest',
      decision_threshold: 0.99,
      priority: 'security',
      contextual_influence: 0,
    })
    const { data } = (await ask('POST', `/policies/${id}/simulate`, { date_from })).json
    expect(data.n_attempts).toBe(same.n_attempts)
    expect(data.n_changed).toBe(data.transitions.reduce((sum: number, { n }: { n: number }) => sum + n, 0))
    const draft = await body({ name: 'draft', decision_threshold: 0.99, priority: 'security', contextual_influence: 0 })
    const before = (await ask('GET', '/policies?archived=true')).json
    expect((await ask('POST', '/policies/simulate', { policy: draft, date_from })).json.data).toEqual(data)
    expect((await ask('GET', '/policies?archived=true')).json.data).toEqual(before.data)
    const wrong = { policy: { ...draft, decision_threshold: 2 }, date_from }
    expect((await ask('POST', '/policies/simulate', wrong)).json.message).toMatch(/policy\.decision_threshold/)
    expect((await ask('POST', '/policies/simulate', { date_from })).status).toBe(422)
    expect(data.users.every(({ n_looser }: { n_looser: number }) => n_looser === 0)).toBe(true)
    expect(
      (await ask('POST', `/policies/${standard.id}/simulate`, { date_to: '2026-01-01T00:00:00Z' })).json.data
        .n_attempts,
    ).toBe(0)
  })
})

describe('a shadow', () => {
  it('evaluates each attempt in addition to the deciding policy, and decides nothing', async () => {
    const { id } = await make({
      name: 'shadow',
      decision_threshold: 0.99,
      priority: 'security',
      contextual_influence: 0,
    })
    expect((await ask('POST', `/policies/${id}/shadow`)).json.data.is_shadow).toBe(true)
    const dora = await enroll(service, 'dora')
    const ids = await succeed(service, dora, 2)
    const { data } = (await ask('GET', `/policies/${id}/shadow`)).json
    expect(data.n_attempts).toBe(ids.length)
    const { policy_id } = (await ask('GET', `/authentications/${ids[0]}`)).json.data
    expect(policy_id).not.toBe(id)
    const history = (await ask('GET', `/policies/${id}/shadow-history?bucket=hour`)).json.data
    const total = (of: (point: (typeof history)[number]) => number) =>
      history.reduce((all: number, point: (typeof history)[number]) => all + of(point), 0)
    expect(total(({ n_attempts }) => n_attempts)).toBe(ids.length)
    const stricter = data.transitions.filter(({ from, to }: Record<string, string>) => from === 'auth' && to !== 'auth')
    expect(total(({ n_stricter }) => n_stricter)).toBe(
      stricter.reduce((all: number, { n }: { n: number }) => all + n, 0),
    )
    expect(total(({ n_looser }) => n_looser)).toBe(0)
    for (const side of ['actual', 'shadow'] as const)
      expect(total((point) => point[side].auth + point[side].challenge + point[side].block)).toBe(ids.length)
    expect(total(({ actual }) => actual.auth)).toBe(ids.length)
    expect(
      (await ask('GET', `/policies/${policy_id}/shadow-history`)).json.data.every(
        (one: { n_attempts: number }) => one.n_attempts === 0,
      ),
    ).toBe(true)
    expect((await ask('DELETE', `/policies/${id}/shadow`)).json.data.is_shadow).toBe(false)
    await succeed(service, dora, 1)
    expect((await ask('GET', `/policies/${id}/shadow`)).json.data).toMatchObject({
      is_shadow: false,
      n_attempts: ids.length,
    })
  })
})
