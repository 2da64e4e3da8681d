import { afterAll, beforeAll, expect, it } from 'vitest'
import { UPDATE_CONFIDENCE } from '../../src/domain/adaptation.js'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { freshDatabase } from '../servers/database.js'
import { type Answer, redisUrl, startService, type TestService } from '../service.js'
import { type Enrolled, enroll, stranger, text } from './enrolled.js'

let url: string
let service: TestService
let database: Database
beforeAll(async () => {
  url = (await freshDatabase()).url
  service = await startService(url)
  database = connectPostgres({ url, max: 2, patience: 10 })
})
afterAll(async () => {
  await service.close()
  await database.close()
})

/** Verifies, each time in a new session, until the confidence reaches `UPDATE_CONFIDENCE`. */
async function verified(who: Enrolled): Promise<Answer> {
  for (;;) {
    const { session } = await service.bootstrap(who.userRef)
    const answer = await service.call('POST', `/users/${who.userRef}/verify`, { session, body: who.fresh() })
    if (answer.json.authentication.confidenceBiometrics >= UPDATE_CONFIDENCE) return answer
  }
}
const counts = ({ json }: Answer) => [json.authentication.nPatternsRef, json.authentication.nPatternsRefUsed]
/** Ids of the adaptive references, oldest first. */
const learned = async (userRef: string) => {
  const rows = await database.asSystem(
    (sql) => sql<{ id: string }[]>`
        select r.id from keystride.reference_pattern r join keystride.member m on m.id = r.member_id
        where m.member_ref = ${userRef} and r.kind = 'adaptive' order by r.created_at`,
  )
  return rows.map(({ id }) => id)
}
const dayPasses = (userRef: string) =>
  database.asSystem(
    (sql) => sql`
        update keystride.member set adapted_at = adapted_at - interval '24 hours' where member_ref = ${userRef}`,
  )
const testedId = ({ json }: Answer): string => json.authentication.patternTestId

it('a clean pass is learned once a day, at most the latest three, and is not counted as an enrolled reference', async () => {
  const who = await enroll(service, 'learner')
  const days: string[] = []
  for (let day = 1; day <= 5; day++) {
    days.push(testedId(await verified(who)))
    await verified(who)
    expect(await learned('learner')).toEqual(days.slice(-3))
    await dayPasses('learner')
  }
  const { json } = await service.bootstrap('learner')
  expect(json).toMatchObject({ nPatternsRef: 5, biometricStatus: 'ok' })
})

it('a failed attempt and a security code are not learned', async () => {
  const who = await enroll(service, 'careful')
  const { session } = who
  const code = { securityCode: '749205' }
  await service.call('PUT', '/users/careful/security-code', { session, body: code })
  expect((await service.call('POST', '/users/careful/verify', { session, body: code })).json.action).toBe('verified')
  await service.call('POST', '/users/careful/verify', { session, body: stranger() })
  expect(await learned('careful')).toEqual([])
})

it('a reset deletes the adaptive references', async () => {
  const who = await enroll(service, 'wiped')
  await verified(who)
  expect(await learned('wiped')).toHaveLength(1)
  const { json } = await service.call('DELETE', '/users/wiped/typing-patterns')
  expect(json).toMatchObject({ n_patterns_deleted: 5, nPatternsRef: 0 })
  expect(await learned('wiped')).toEqual([])
})

it('an adaptive reference is removed by the id of the tested pattern', async () => {
  const who = await enroll(service, 'unlearner')
  const id = testedId(await verified(who))
  const gone = await service.call('DELETE', `/users/unlearner/typing-patterns/${id}`)
  expect(gone.json).toMatchObject({ success: true, nPatternsRef: 5, biometricStatus: 'ok' })
  expect(await learned('unlearner')).toEqual([])
})

it('an adaptive reference can be linked as an enrolled one by its id, and is then counted', async () => {
  const who = await enroll(service, 'linker')
  const patternId = testedId(await verified(who))
  const { session } = await service.bootstrap('linker')
  const link = () =>
    service.call('POST', '/user-action/linker', { session, body: { action: 'LINK_PATTERN_ID', patternId } })
  expect((await link()).status).toBe(409)
  const verify = () => service.call('POST', '/users/linker/verify', { session, body: who.fresh() })
  while (!(await verify()).json.authentication.authenticated);
  expect((await link()).json).toMatchObject({ nPatternsRef: 6, patternId })
  expect(await learned('linker')).toEqual([])
})

it('adaptive references are scored only if the enrolled ones alone would challenge, and ADAPTATION is on', async () => {
  const who = await enroll(service, 'switched')
  await verified(who)
  // A threshold that the person's own typing does not always reach, so that slower typing is challenged.
  const strict = { decision_threshold: 0.99, priority: 'usability' }
  await database.asSystem(
    (sql) => sql`update keystride.policy set policy = policy || ${JSON.stringify(strict)}::text::jsonb`,
  )
  for (const [adaptation, used] of [
    ['on', 6],
    ['off', 5],
  ] as const) {
    const one = await startService(url, { redisUrl, more: { ADAPTATION: adaptation } })
    try {
      const { session } = await one.bootstrap('switched')
      const body = who.who.types(text(used), used, { tempo: 1.12 })
      const answer = await one.call('POST', '/users/switched/verify', { session, body })
      expect(answer.json.authentication.confidenceBiometrics).toBeGreaterThan(0.75)
      expect(answer.json.authentication.confidenceBiometrics).toBeLessThan(0.99)
      expect(counts(answer), adaptation).toEqual([5, used])
    } finally {
      await one.close()
    }
  }
})
