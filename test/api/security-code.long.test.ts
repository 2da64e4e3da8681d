import { expect, it } from 'vitest'
import { verifyOf } from '../harness/enrolled.js'
import { startService } from '../harness/service.js'
import { freshDatabase } from '../servers/database.js'
import { ownRows } from './own-rows.js'

it('codes beyond the queue get 429, without using an attempt', async () => {
  const service = await startService((await freshDatabase()).url)
  const rows = ownRows(service)
  const users = Array.from({ length: 200 }, (_, i) => `crowd-${i}`)
  const tokens: string[] = []
  for (const userRef of users) {
    await service.call('POST', `/users/${userRef}`)
    tokens.push((await service.bootstrap(userRef)).session)
  }
  const code = { session: tokens[0], body: { securityCode: '749205' } }
  await service.call('PUT', '/users/crowd-0/security-code', code)
  await rows(
    (sql) => sql`
      update keystride.member m set code_hash = o.code_hash from keystride.member o
      where o.member_ref = 'crowd-0' and m.member_ref <> 'crowd-0'`,
  )
  const wrong = (i: number) => verifyOf(service, users[i] ?? '', { securityCode: '480653' }, tokens[i])
  // Each user gets three codes, so that codes arrive faster than a slow machine compares them.
  const all = await Promise.all(users.map((_, i) => Promise.all([1, 2, 3].map(() => wrong(i)))))
  // Members with a 503 are left out, because an attempt that gets 503 counts as used.
  const known = all.map((three) => three.every(({ status, json }) => status === 429 || json.action === 'rejected'))
  const limited = all.findIndex((three, i) => known[i] && three.some(({ status }) => status === 429))
  expect(limited).toBeGreaterThanOrEqual(0)
  const three = all[limited] ?? []
  expect(three.find(({ status }) => status === 429)?.json.reason).toBe('quota-exceeded')
  const compared = three.filter(({ json }) => json.action === 'rejected').length
  expect((await wrong(limited)).json.nextAttempt.remainingCodeAttempts).toBe(2 - compared)
  await service.close()
})
