import { describe, expect, it } from 'vitest'
import { enroll } from '../harness/enrolled.js'
import { sharedService } from '../harness/service.js'

const service = await sharedService()

describe('GET /organization', () => {
  it('counts accounts and members as they come and go', async () => {
    await service.call('POST', '/users/one')
    await enroll(service, 'two', 1)
    expect((await service.call('GET', '/organization')).json).toMatchObject({
      name: 'Test',
      nUsers: 2,
      nAccounts: 2,
      subscriptionUsage: 2,
    })
    await service.call('DELETE', '/users/two')
    expect((await service.call('GET', '/organization')).json).toMatchObject({ nUsers: 1, nAccounts: 1 })
  })
})

describe('a key', () => {
  it('that is missing or unknown is 401 without a reason on all three APIs, whatever the path', async () => {
    const base = service.core.replace(/\/core$/, '')
    for (const apikey of ['', 'nonsense', `ks_${'A'.repeat(43)}`]) {
      for (const path of [
        '/core/organization',
        '/core/nothing',
        '/dashboard/users',
        '/auth/api/links/create-profile/x',
      ]) {
        const answer = await fetch(base + path, { headers: apikey === '' ? {} : { apikey } })
        expect([path, answer.status, Object.keys((await answer.json()) as object)]).toEqual([
          path,
          401,
          ['timestamp', 'success', 'message'],
        ])
      }
    }
  })

  it('that is known gets 404 for an unserved path', async () => {
    expect((await service.call('GET', '/nothing')).status).toBe(404)
    expect((await service.call('PUT', '/organization')).status).toBe(405)
  })
})
