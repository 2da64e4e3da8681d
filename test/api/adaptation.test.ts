import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UPDATE_CONFIDENCE } from '../../src/domain/adaptation.js'
import { connectPostgres, type Database } from '../../src/storage/postgres/client.js'
import { freshDatabase } from '../servers/database.js'
import { type Answer, backEnds, startService, type TestService } from '../service.js'
import { type Enrolled, enroll, stranger } from './enrolled.js'

describe.each(backEnds)('on $name', ({ redisUrl }) => {
  let url: string
  let service: TestService
  let database: Database
  beforeAll(async () => {
    url = (await freshDatabase()).url
    service = await startService(url, { redisUrl })
    database = connectPostgres({ url, max: 1 })
  })
  afterAll(async () => {
    await service.close()
    await database.close()
  })

  /** Verifies until a pass is clean, in a new session every time. */
  async function verified(who: Enrolled, of = service): Promise<Answer> {
    for (;;) {
      const { session } = await of.bootstrap(who.userRef)
      const answer = await of.call('POST', `/users/${who.userRef}/verify`, { session, body: who.fresh() })
      if (answer.json.authentication.confidenceBiometrics >= UPDATE_CONFIDENCE) return answer
    }
  }
  const counts = ({ json }: Answer) => [json.authentication.nPatternsRef, json.authentication.nPatternsRefUsed]
  const dayPasses = (userRef: string) =>
    database.asSystem(
      (sql) => sql`
        update keystride.member set adapted_at = adapted_at - interval '24 hours' where member_ref = ${userRef}`,
    )

  it('a clean pass adds one adaptive reference a day, three at the most, and counts none as enrolled', async () => {
    const who = await enroll(service, 'learner')
    expect(counts(await verified(who))).toEqual([5, 5])
    for (const used of [6, 7, 8, 8, 8]) {
      expect(counts(await verified(who))).toEqual([5, used])
      expect(counts(await verified(who))).toEqual([5, used])
      await dayPasses('learner')
      expect(counts(await verified(who))).toEqual([5, used])
    }
    const { json } = await service.bootstrap('learner')
    expect(json).toMatchObject({ nPatternsRef: 5, biometricStatus: 'ok' })
  })

  it('a failure and a code add none', async () => {
    const who = await enroll(service, 'careful')
    await service.call('PUT', '/users/careful/security-code', {
      session: who.session,
      body: { securityCode: '749205' },
    })
    const code = await service.call('POST', '/users/careful/verify', {
      session: who.session,
      body: { securityCode: '749205' },
    })
    expect(code.json.action).toBe('verified')
    await service.call('POST', '/users/careful/verify', { session: who.session, body: stranger() })
    const rows = await database.asSystem(
      (sql) => sql`
        select 1 from keystride.reference_pattern r join keystride.member m on m.id = r.member_id
        where m.member_ref = 'careful' and r.kind = 'adaptive'`,
    )
    expect(rows).toHaveLength(0)
  })

  it('a reset drops what was learned', async () => {
    const who = await enroll(service, 'wiped')
    await verified(who)
    expect(counts(await verified(who))).toEqual([5, 6])
    const { json } = await service.call('DELETE', '/users/wiped/typing-patterns')
    expect(json).toMatchObject({ n_patterns_deleted: 5, nPatternsRef: 0 })
  })

  it('what was learned is removed by the id of the tested pattern', async () => {
    const who = await enroll(service, 'unlearner')
    const learned = await verified(who)
    const path = '/users/unlearner/typing-patterns'
    const gone = await service.call('DELETE', `${path}/${learned.json.authentication.patternTestId}`)
    expect(gone.json).toMatchObject({ success: true, nPatternsRef: 5, biometricStatus: 'ok' })
    expect(counts(await verified(who))).toEqual([5, 5])
  })

  it('what was learned can be linked as a reference by its id, and then counts as one', async () => {
    const who = await enroll(service, 'linker')
    const patternId = (await verified(who)).json.authentication.patternTestId
    const { session } = await service.bootstrap('linker')
    const link = () =>
      service.call('POST', '/user-action/linker', { session, body: { action: 'LINK_PATTERN_ID', patternId } })
    expect((await link()).status).toBe(409)
    while (
      !(await service.call('POST', '/users/linker/verify', { session, body: who.fresh() })).json.authentication
        .authenticated
    );
    expect((await link()).json).toMatchObject({ nPatternsRef: 6, patternId })
    expect(counts(await verified(who))).toEqual([6, 6])
  })

  it('the switch turns learning off, and leaves out what was learned before', async () => {
    const who = await enroll(service, 'switched')
    await verified(who)
    expect(counts(await verified(who))).toEqual([5, 6])
    await dayPasses('switched')
    const off = await startService(url, { redisUrl, more: { ADAPTATION: 'off' } })
    try {
      expect(counts(await verified(who, off))).toEqual([5, 5])
      expect(counts(await verified(who, off))).toEqual([5, 5])
    } finally {
      await off.close()
    }
    expect(counts(await verified(who))).toEqual([5, 6])
  })
})
