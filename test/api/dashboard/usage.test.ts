import { beforeAll, describe, expect, it } from 'vitest'
import { postgresUsage } from '../../../src/storage/postgres/insight/usage.js'
import { until } from '../../harness/patience.js'
import { sharedService } from '../../harness/service.js'
import { visited } from '../../harness/sign-ins.js'
import { databaseOf } from '../../servers/database.js'
import { secondService } from '../second-service.js'

const service = await sharedService()
beforeAll(async () => {
  await visited(service, 'ann')
})
const get = async (path: string, apikey = service.apikey) => (await service.dashboard('GET', path, { apikey })).json

describe('GET /usage/history', () => {
  it('begins with a baseline if the window has a start, and counts events only', async () => {
    const whole = await get('/usage/history')
    expect(whole.data.map(({ kind }: { kind: string }) => kind)).toContain('enroll')
    expect([whole.count, whole.data.some((one: { baseline: boolean }) => one.baseline)]).toEqual([
      whole.data.length,
      false,
    ])
    const from = new Date(Date.now() - 3_600_000).toISOString()
    const windowed = await get(`/usage/history?date_from=${from}`)
    expect(windowed.data[0]).toMatchObject({ baseline: true, kind: 'checkpoint', date: from, n_accounts: 0 })
    expect(windowed.data.length).toBe(windowed.count + 1)
    const later = await get(`/usage/history?date_from=${new Date(Date.now() + 1000).toISOString()}`)
    expect(later.data).toEqual([expect.objectContaining({ baseline: true, n_accounts: 1, n_users_nominative: 1 })])
    expect(later.count).toBe(0)
  })

  it('has one checkpoint a day, for any number of calls', async () => {
    const usage = postgresUsage(databaseOf(service))
    await Promise.all(Array.from({ length: 8 }, () => usage.appendCheckpoints()))
    const { data } = await get('/usage/history')
    expect(data.filter(({ kind }: { kind: string }) => kind === 'checkpoint').length).toBe(1)
  })
})

describe('GET /usage/api', () => {
  it('counts requests of every API by class, and the most people who signed in within an hour', async () => {
    const today = async () => (await get('/usage/api')).data.at(-1)
    // Requests and attempts are counted by two jobs.
    await until(async () => (await today()).by_endpoint_class.verify > 0 && (await today()).n_active_users_max > 0)
    const day = await today()
    expect(day.n_active_users_max).toBe(1)
    expect(day.by_endpoint_class.enroll).toBeGreaterThanOrEqual(5)
    expect(day.n_requests).toBe(Object.values<number>(day.by_endpoint_class).reduce((a, b) => a + b, 0))
    expect((await get('/usage/api')).data.length).toBe(31)
  })

  it('loses nothing when a process stops, and adds up over processes', async () => {
    const before = (await get('/usage/api')).data.at(-1).by_endpoint_class.bootstrap
    const other = await secondService(service)
    for (let n = 0; n < 5; n++) await other.bootstrap(`nobody-${n}`)
    await other.close()
    expect((await get('/usage/api')).data.at(-1).by_endpoint_class.bootstrap).toBe(before + 5)
  })
})

describe('logs', () => {
  it('contain requests by id and template, and no data that was sent', async () => {
    const answer = await service.call('GET', '/users/canary-4711/members')
    const id = answer.headers.get('x-request-id')
    await until(async () => (await service.dashboard('GET', `/logs/${id}`)).status === 200)
    const { data } = await get(`/logs/${id}`)
    expect(data).toMatchObject({ api: 'core', method: 'GET', route: '/users/{userRef}/members', status: 404 })
    const failed = (await service.dashboard('POST', '/logs', { body: { outcome: 'failed', limit: 500 } })).json
    expect(failed.data.every(({ status }: { status: number }) => status >= 400)).toBe(true)
    expect(JSON.stringify((await get('/logs?limit=500')).data)).not.toContain('canary')
    expect((await service.dashboard('POST', `/logs/${id}`)).json.data.id).toBe(id)
    const { apikey } = await service.another()
    expect((await service.dashboard('GET', `/logs/${id}`, { apikey })).status).toBe(404)
    expect(JSON.stringify((await get('/logs?limit=500', apikey)).data)).not.toContain(id)
  })
})
