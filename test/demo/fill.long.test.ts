import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startOfDay } from '../../src/demo/month.js'
import { startService, type TestService } from '../harness/service.js'
import { freshDatabase } from '../servers/database.js'
import { liveMonth } from './made-up-month.js'

const DAY_MS = 86_400_000
const since = new Date(startOfDay(Date.now()) - 30 * DAY_MS).toISOString()
const inMonth = `date_from=${since}`

let service: TestService
let drop: () => Promise<void>
beforeAll(async () => {
  const fresh = await freshDatabase()
  drop = fresh.drop
  service = await startService(fresh.url, { more: { DEMO: 'on' } })
  await service.call('POST', '/users/ann-made-up-01')
}, 120_000)
afterAll(async () => {
  await service?.close()
  await drop?.()
})

const get = async (path: string) => (await service.dashboard('GET', path)).json
const count = async (path: string): Promise<number> => (await get(path)).count
const attempts = (filter = '') => count(`/authentications?${inMonth}${filter}`)
/** Attempts by day, from the counts. */
const byDay = async () =>
  ((await get(`/authentications-history?bucket=day&${inMonth}`)).data as { date: string; n: number }[]).filter(
    ({ n }) => n > 0,
  )

describe('the made-up month', { timeout: 240_000 }, () => {
  it('that is interrupted is whole after the next fill', async () => {
    const stopped = new AbortController()
    const filling = liveMonth(service, stopped.signal)
    stopped.abort()
    await expect(filling).rejects.toThrow('aborted')
    await liveMonth(service)
    expect(await count('/users?user_ref_filter=made-up-')).toBe(36)
    expect((await get('/organization')).data.n_made_up).toBe(35)
  })

  it('has at most 1,800 attempts, on most days, and its counts are those of its attempts', async () => {
    const days = await byDay()
    expect(days.length).toBeGreaterThan(20)
    const all = await attempts()
    expect(all).toBeLessThan(1800)
    expect(days.reduce((sum, { n }) => sum + n, 0)).toBe(all)
    for (const { date, n } of days.slice(-8)) {
      const to = new Date(Date.parse(date) + DAY_MS).toISOString()
      expect([date, await count(`/authentications?date_from=${date}&date_to=${to}`)]).toEqual([date, n])
    }
  })

  it('has every outcome and method, a wave of bots, a replay, a lock, and their alerts', async () => {
    const all = await attempts()
    expect((await attempts('&recommended_action=auth')) / all).toBeGreaterThan(0.8)
    expect(await attempts('&recommended_action=challenge')).toBeGreaterThan(2)
    expect(await attempts('&recommended_action=block')).toBeGreaterThan(40)
    expect(await attempts('&reason=detection-bot')).toBeGreaterThan(12)
    expect(await attempts('&reason=fraud-detected')).toBeGreaterThan(0)
    expect(await attempts('&auth_method=security_code')).toBeGreaterThan(15)
    expect(await count('/aggregations/blocked-users')).toBe(1)
    const notes = await get('/notifications?limit=500')
    const kinds = new Set(notes.data.map(({ kind }: { kind: string }) => kind))
    expect([...kinds]).toEqual(expect.arrayContaining(['bot', 'replay', 'impossible-travel', 'security-code-locked']))
    expect(notes.unread).toBeGreaterThan(0)
    expect(notes.unread).toBeLessThan(30)
  })

  it('has applications, groups and places', async () => {
    const values = async (path: string) => (await get(`/aggregations/${path}?${inMonth}`)).data as object[]
    expect(await values('application/')).toHaveLength(2)
    expect((await get('/aggregations/groups/')).data).toHaveLength(4)
    expect((await values('geolocation')).length).toBeGreaterThan(6)
  })

  it('is marked as made up at each sign-in, and is recomputed from its patterns as any other', async () => {
    const list = await get(`/authentications?auth_method=biometric&recommended_action=auth&limit=3&${inMonth}`)
    for (const { id, user_ref } of list.data) {
      expect(user_ref).toMatch(/^made-up-/)
      const { data } = await get(`/authentications/${id}`)
      expect(data.tags).toContainEqual({ k: 'made-up', v: 'yes' })
      expect((await service.dashboard('GET', `/authentication/${id}/trace`)).status).toBe(200)
      expect((await service.dashboard('GET', `/authentication/${id}/presses`)).status).toBe(200)
    }
  })

  it('is deleted with its counts and without anybody else', async () => {
    let left = 1
    while (left > 0) {
      const { status, json } = await service.dashboard('DELETE', '/organization/made-up-people')
      expect(status).toBe(200)
      expect(json.data.deleted).toBeGreaterThan(0)
      left = json.data.left
    }
    expect(await service.dashboard('DELETE', '/organization/made-up-people')).toMatchObject({
      json: { data: { deleted: 0, left: 0 } },
    })
    expect([await attempts(), await byDay(), await count('/notifications')]).toEqual([0, [], 0])
    expect(await count('/users')).toBe(1)
  })
})

it('made-up people are deleted only on a service for trials', async () => {
  const fresh = await freshDatabase()
  const other = await startService(fresh.url)
  await other.call('POST', '/users/made-up-ann')
  const refused = await other.dashboard('DELETE', '/organization/made-up-people')
  expect([refused.status, (await other.dashboard('GET', '/users/made-up-ann')).status]).toEqual([404, 200])
  expect((await other.dashboard('GET', '/organization')).json.data.n_made_up).toBe(0)
  await other.close()
  await fresh.drop()
})
