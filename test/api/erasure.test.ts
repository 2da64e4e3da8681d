import { describe, expect, it } from 'vitest'
import { enroll, verifyOf } from '../harness/enrolled.js'
import { redisUrl, sharedService } from '../harness/service.js'
import { databaseOf } from '../servers/database.js'
import { redisAsBytes, rowsAsText } from '../trust/stores-text.js'
import { ownRows } from './own-rows.js'

const service = await sharedService()
const rows = ownRows(service)
const CODE = { securityCode: '749205' }

describe('erasure', () => {
  const database = databaseOf(service)

  /** All tables of PostgreSQL and keys of Redis that contain one of some texts. */
  async function places(...texts: string[]): Promise<string[]> {
    const has = (content: string) => texts.some((text) => content.includes(text))
    const tables = [...(await rowsAsText(database))].filter(([, found]) => found.some(has))
    const values = redisUrl === null ? [] : [...(await redisAsBytes(redisUrl))]
    const keys = values.filter(([key, value]) => has(key + value.toString('latin1')))
    return [...tables, ...keys].map(([name]) => name).sort()
  }

  it('of an account leaves nothing that names it, in any store', async () => {
    const { userRef, session, fresh } = await enroll(service, 'canary-4711@example.com')
    await service.call('PUT', `/users/${userRef}/security-code`, { session, body: CODE })
    for (const body of [fresh(), fresh(), { securityCode: '112358' }]) await verifyOf(service, userRef, body, session)
    const [ids] = await rows(
      (sql) => sql<{ account: string; member: string }[]>`
        select a.id as account, m.id as member from keystride.account a
        join keystride.member m on m.organization_id = a.organization_id and m.account_id = a.id`,
    )
    const needles = [userRef, ids?.account ?? 'none', ids?.member ?? 'none']
    for (const needle of needles) expect((await places(needle)).length).toBeGreaterThanOrEqual(3)
    await service.call('DELETE', `/users/${userRef}`)
    expect(await places(...needles)).toEqual([])
  })

  it('of a member leaves only the record of sign-ins and the archived reference', async () => {
    for (const member_ref of ['ann', 'canary-member'])
      await service.call('POST', '/users/desk', {
        body: { type: 'generic', member_ref, user_display_name: `label of ${member_ref}` },
      })
    const path = '/users/desk?member_ref=canary-member'
    const { sessionId: session } = (await service.call('GET', path)).json
    await service.call('PUT', '/users/desk/security-code', { session, body: CODE })
    expect((await verifyOf(service, 'desk', CODE, session)).json.action).toBe('verified')
    await service.call('DELETE', path)
    expect(await places('canary-member')).toEqual(['keystride.authentication', 'keystride.member'])
    expect(await places('label of canary-member')).toEqual([])
    expect(await rows((sql) => sql`select 1 from keystride.member where code_hash is not null`)).toEqual([])
  })
})
