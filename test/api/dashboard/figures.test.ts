import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stranger, verifyOf } from '../../harness/enrolled.js'
import { startService } from '../../harness/service.js'
import { visited } from '../../harness/sign-ins.js'
import { databaseOf, freshDatabase } from '../../servers/database.js'

const service = await startService((await freshDatabase()).url)
const database = databaseOf(service)
let attempts: number
beforeAll(async () => {
  const visits = [await visited(service, 'ann', 2), await visited(service, 'bob@example.com')]
  attempts = visits.reduce((sum, { nAttempts }) => sum + nAttempts, 0)
  await service.call('POST', '/users/desk', { body: { type: 'generic', member_ref: 'eve', user_display_name: 'Eve' } })
  await service.call('PATCH', '/users/ann', { body: { groups: ['staff', 'night'], tag: { room: '1' } } })
  await service.call('PATCH', '/users/desk', { body: { groups: ['staff'] } })
})
afterAll(() => service.close())
const get = (path: string) => service.dashboard('GET', path)
const sum = (rows: Record<string, number>[], field: string) => rows.reduce((all, row) => all + (row[field] ?? 0), 0)

describe('users', () => {
  it('are listed newest first, counted, paged and filtered', async () => {
    const { json } = await get('/users?limit=2')
    expect([json.count, json.data.map((user: { user_ref: string }) => user.user_ref)]).toEqual([
      3,
      ['desk', 'bob@example.com'],
    ])
    expect((await get('/users?skip=2')).json.data[0]).toMatchObject({
      user_ref: 'ann',
      biometric_status: 'ok',
      n_patterns_ref: 5,
      groups: ['staff', 'night'],
    })
    const filtered = (await get('/users?user_ref_filter=BOB%40')).json
    expect([filtered.count, filtered.data[0].user_ref]).toEqual([1, 'bob@example.com'])
    for (const wildcard of ['%25', '_', '%5C'])
      expect((await get(`/users?user_ref_filter=${wildcard}`)).json.count).toBe(0)
  })

  it('are filtered by the status of a profile and by a group, and sorted', async () => {
    const refs = async (query: string) => {
      const { json } = await get(`/users?${query}`)
      const named = json.data.map((user: { user_ref: string }) => user.user_ref)
      expect([query, json.count]).toEqual([query, query.includes('limit') ? 3 : named.length])
      return named
    }
    expect(await refs('biometric_status=ok&sort=user_ref&order=asc')).toEqual(['ann', 'bob@example.com'])
    expect(await refs('biometric_status=not-ready')).toEqual(['desk'])
    expect(await refs('biometric_status=expired')).toEqual([])
    expect(await refs('group=staff')).toEqual(['desk', 'ann'])
    expect(await refs('group=night&biometric_status=ok')).toEqual(['ann'])
    expect(await refs('group=%25')).toEqual([])
    expect(await refs('sort=user_ref&order=asc&limit=2')).toEqual(['ann', 'bob@example.com'])
    expect(await refs('order=asc')).toEqual(['ann', 'bob@example.com', 'desk'])
    expect(await refs('sort=last_authentication')).toEqual(['bob@example.com', 'ann', 'desk'])
    expect(await refs('sort=last_authentication&order=asc')).toEqual(['ann', 'bob@example.com', 'desk'])
    for (const query of ['biometric_status=none', 'sort=name', 'group='])
      expect([query, (await get(`/users?${query}`)).status]).toEqual([query, 422])
  })

  it('show that a member is locked, until when if a time ends it', async () => {
    const lockOf = async (userRef: string) => {
      const { locked, locked_until } = (await get(`/users/${userRef}`)).json.data
      const row = (await get('/users')).json.data.find((one: { user_ref: string }) => one.user_ref === userRef)
      expect([row.locked, row.locked_until]).toEqual([locked, locked_until])
      return [locked, locked_until]
    }
    const act = (action: string) =>
      service.dashboard('POST', '/users/desk/actions', { body: { action, member_ref: 'eve' } })
    expect(await lockOf('desk')).toEqual([false, null])
    await act('lock')
    expect(await lockOf('desk')).toEqual([true, null])
    await act('unlock')
    const until = Math.floor(Date.now() / 1000) * 1000 + 3_600_000
    await database.asSystem(
      (sql) => sql`
        update keystride.member set attempts = jsonb_set(attempts, '{security_code,closedUntil}', ${String(until)}::text::jsonb)
        where organization_id = ${service.organizationId} and member_ref = 'eve'`,
    )
    expect(await lockOf('desk')).toEqual([true, new Date(until).toISOString()])
    await act('unlock')
    expect(await lockOf('desk')).toEqual([false, null])
  })

  it('have members, and an unknown user is 404', async () => {
    expect((await get('/users/desk')).json.data).toMatchObject({
      type: 'generic',
      n_members: 1,
      biometric_status: null,
    })
    expect((await get('/users/desk/members')).json.data[0]).toMatchObject({
      member_ref: 'eve',
      user_display_name: 'Eve',
      biometric_status: 'not-ready',
    })
    for (const path of [
      '/users/nobody',
      '/users/nobody/members',
      '/authentications-history/nobody',
      '/aggregations/users/nobody',
    ])
      expect((await get(path)).json.reason).toBe('user-not-found')
  })

  it('are found by a partial reference, and grow over time', async () => {
    expect((await get('/users-refs/b')).json.data).toEqual(['bob@example.com'])
    const growth = (await get('/users-growth')).json.data
    expect(growth.at(-1)).toMatchObject({ n_users: 3 })
    expect(sum(growth, 'n_created')).toBe(3)
  })

  it('are counted by group, with and without the slash at the end', async () => {
    for (const path of ['/aggregations/groups/', '/aggregations/groups'])
      expect((await get(path)).json.data).toEqual([
        { group: 'staff', n_users: 2 },
        { group: 'night', n_users: 1 },
      ])
    expect((await get('/aggregations/application')).json.count).toEqual(
      (await get('/aggregations/application/')).json.count,
    )
  })

  it('come with a count in every list', async () => {
    for (const path of [
      '/users-growth',
      '/aggregations/daily-usages',
      '/aggregations/blocked-users-history',
      '/aggregations/authentications-history',
      '/authentications-history',
      '/authentications-history/bob@example.com',
      '/activities/events',
      '/usage/api',
      '/patterns/tags',
    ]) {
      const { count, data } = (await get(path)).json
      expect([path, count]).toEqual([path, data.length])
    }
  })
})

describe('figures over attempts', () => {
  const ahead = new Date(Date.now() + 36 * 3_600_000).toISOString()
  /** Every figure that counts attempts, as one object. */
  async function figures() {
    const [daily, history, hourly, activity, stats, counter, application, device, table, own, blocked, confidence] =
      await Promise.all(
        [
          '/aggregations/daily-usages',
          '/aggregations/authentications-history?bucket=week',
          '/authentications-history?bucket=hour',
          '/activities/events',
          '/aggregations/connexion-stats',
          '/data-counter',
          '/aggregations/application/',
          '/aggregations/contextual/device',
          '/aggregations/users?sort=n',
          '/aggregations/users/ann',
          // Ends far enough in the future that the figures of today may come from the daily counts.
          `/aggregations/blocked-users-history?bucket=day&date_to=${ahead}`,
          '/aggregations/confidence',
        ].map(async (path) => (await get(path)).json.data),
      )
    return {
      daily: sum(daily, 'n'),
      history: sum(history, 'n'),
      hourly: sum(hourly, 'n'),
      activity: sum(activity, 'value'),
      hours: sum(stats.hours, 'n'),
      days: sum(stats.days, 'n'),
      week: sum(stats.week, 'n'),
      confidence: confidence.n,
      bins: confidence.bins,
      counter: counter.n_authentications,
      application: sum(application, 'n'),
      device: sum(device.scores, 'n'),
      browsers: sum(
        device.values.filter((one: { signal: string }) => one.signal === 'browser'),
        'n',
      ),
      table: sum(table, 'n'),
      first: table[0].user_ref,
      own: own.n,
      blocked,
    }
  }

  it('of one user are those of the attempts of that user', async () => {
    const own = (await get('/aggregations/users/ann')).json.data
    expect(own.n).toBeLessThan(attempts)
    const of = async (path: string) => (await get(`${path}?user_ref=ANN`)).json.data
    const { hours, days, week } = await of('/aggregations/connexion-stats')
    for (const part of [hours, days, week])
      expect([sum(part, 'n'), sum(part, 'authenticated')]).toEqual([own.n, own.authenticated])
    const device = await of('/aggregations/contextual/device')
    expect(sum(device.scores, 'n')).toBeLessThanOrEqual(own.n)
    const browsers = device.values.filter((one: { signal: string }) => one.signal === 'browser')
    expect(sum(browsers, 'n')).toBeLessThanOrEqual(own.n)
    expect(browsers.length).toBeGreaterThan(0)
    expect(sum(await of('/aggregations/application/'), 'blocked')).toBe(own.blocked)
    expect(await of('/aggregations/geolocation')).toEqual([])
    const earlier = '&date_from=2026-01-01&date_to=2026-01-02'
    expect(sum((await get(`/aggregations/connexion-stats?user_ref=ann${earlier}`)).json.data.hours, 'n')).toBe(0)
    for (const path of ['connexion-stats', 'geolocation', 'application/', 'contextual/device'])
      expect([path, (await get(`/aggregations/${path}?user_ref=nobody`)).json.reason]).toEqual([path, 'user-not-found'])
  })

  it('agree with one another before, during and after the hourly count', async () => {
    const before = await figures()
    expect(
      new Set([
        before.daily,
        before.history,
        before.hourly,
        before.activity,
        before.hours,
        before.days,
        before.week,
        before.confidence,
        before.counter,
        before.application,
        before.device,
        before.table,
      ]),
    ).toEqual(new Set([attempts]))
    expect(before.first).toBe('ann')
    const all: { confidence: number; authenticated: boolean; recommended_action: string }[] = (
      await get('/authentications?limit=500')
    ).json.data
    expect(before.bins).toEqual(
      Array.from({ length: 20 }, (_, bin) => {
        const of = all.filter(({ confidence }) => Math.min(19, Math.floor(confidence * 20)) === bin)
        const acted = (action: string) => of.filter((one) => one.recommended_action === action).length
        return {
          from: bin / 20,
          to: (bin + 1) / 20,
          n: of.length,
          authenticated: acted('auth'),
          challenged: acted('challenge'),
          blocked: acted('block'),
        }
      }),
    )
    expect([sum(before.blocked, 'n_users'), sum(before.blocked, 'n_blocked')]).toEqual([2, 2])
    // The two strangers send no device data.
    expect(before.browsers).toBe(attempts - 2)
    for (const ahead of ['30 seconds', '3 hours']) {
      await database.asSystem((sql) => sql`select keystride.count_attempts(now() + ${ahead}::interval)`)
      expect(await figures()).toEqual(before)
    }
    await database.asSystem((sql) => sql`select keystride.count_attempts(now() + interval '2 days')`)
    await database.asSystem((sql) => sql`select keystride.count_days()`)
    expect(await figures()).toEqual(before)
    const [{ n }] = await database.asSystem(
      (sql) => sql<[{ n: number }]>`select sum(n)::int as n from keystride.attempt_count where facet = 'all'`,
    )
    expect(n).toBe(attempts)
  })

  it('are exact to the millisecond in a window that cuts a counted hour', async () => {
    const [newest] = (await get('/authentications?limit=1')).json.data
    const at = Number.parseInt(newest.id.slice(0, 8) + newest.id.slice(9, 13), 16)
    const until = async (to: number) =>
      (await get(`/data-counter?date_to=${new Date(to).toISOString()}`)).json.data.n_authentications
    expect([await until(at), await until(at + 1)]).toEqual([attempts - 1, attempts])
  })

  it('answer several windows in one call, in the same order', async () => {
    const now = new Date(Date.now() + 60_000).toISOString()
    const windows = [
      { date_from: '2026-01-01T00:00:00Z', date_to: '2026-01-02T00:00:00Z' },
      { date_from: new Date(Date.now() - 3_600_000).toISOString(), date_to: now },
    ]
    const { json } = await service.dashboard('POST', '/data-counter/batch', { body: { windows } })
    expect(json.data.map((one: { n_authentications: number }) => one.n_authentications)).toEqual([0, attempts])
    const blocked = (await service.dashboard('POST', '/aggregations/blocked-users/batch', { body: { windows } })).json
      .data
    expect(blocked[1].n_users).toBeGreaterThanOrEqual(1)
    for (const body of [
      {},
      { windows: [] },
      { windows: Array(51).fill(windows[0]) },
      { windows: [{ date_from: now, date_to: '2026-01-01T00:00:00Z' }] },
    ])
      expect((await service.dashboard('POST', '/data-counter/batch', { body })).status).toBe(422)
  })

  it('sort users by the requested figure', async () => {
    expect((await get('/sorting/users?sort=blocked&limit=1')).json.data.length).toBe(1)
    const { json } = await service.dashboard('POST', '/sorting/users', {
      body: { sort: 'user_ref', order: 'asc', limit: 2 },
    })
    expect(json.data.map((one: { user_ref: string }) => one.user_ref)).toEqual(['ann', 'bob@example.com'])
  })
})

describe('blocked users', () => {
  it('are those whose typing is locked now, until a reset unlocks it', async () => {
    expect((await get('/aggregations/blocked-users')).json.count).toBe(0)
    for (let n = 0; n < 6; n++) await verifyOf(service, 'ann', stranger())
    const { json } = await get('/aggregations/blocked-users')
    expect([json.count, json.data[0].user_ref]).toEqual([1, 'ann'])
    expect(Date.parse(json.data[0].blocked_until)).toBeGreaterThan(Date.now())
    expect((await get('/aggregations/blocked-users-history')).json.data.at(-1).n_blocked).toBeGreaterThanOrEqual(5)
    await service.call('DELETE', '/users/ann/typing-patterns')
    expect((await get('/aggregations/blocked-users')).json.count).toBe(0)
  })
})
