import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { freshDatabase } from '../servers/database.js'
import { type Answer, startService, type TestService } from '../service.js'
import { type Enrolled, enroll } from './enrolled.js'

const RESET = 'RESET_BIOMETRIC_PROFILE'

let service: TestService
let database: Database
beforeAll(async () => {
  const { url } = await freshDatabase()
  service = await startService(url)
  database = connectPostgres({ url, max: 2, patience: 10 })
}, 60_000)
afterAll(async () => {
  await database.close()
  await service.close()
})

const act = async (userRef: string, action: string) =>
  expect((await service.dashboard('POST', `/users/${userRef}/actions`, { body: { action } })).status).toBe(200)
const linkTo = async (kind: string, userRef: string): Promise<string> => {
  const { status, json } = await service.callLinks('POST', `/api/links/${kind}-profile/${userRef}`)
  expect(status).toBe(200)
  return json.key
}
const page = async (key: string) => (await fetch(`${service.auth}/b/${key}`)).status
/** Sends patterns until one is not classified as a machine's. */
async function sincere(send: (body: unknown) => Promise<Answer>, { fresh }: Enrolled): Promise<Answer> {
  for (;;) {
    const answer = await send(fresh())
    if (answer.json.reason !== 'detection-bot') return answer
  }
}
const typeBy = (key: string, who: Enrolled) =>
  sincere((body) => service.callLinks('POST', '/typing-patterns', { body, headers: { 'x-link-key': key } }), who)
async function enrolls(userRef: string, who: Enrolled) {
  const { session } = await service.bootstrap(userRef)
  return sincere((body) => service.call('POST', `/users/${userRef}/typing-patterns`, { session, body }), who)
}
const references = (userRef: string) =>
  database.asSystem(async (sql) =>
    (
      await sql<{ id: string }[]>`
          select r.id from keystride.reference_pattern r join keystride.member m on m.id = r.member_id
          where m.member_ref = ${userRef} order by r.id`
    ).map(({ id }) => id),
  )
const refusal = ({ status, json }: Answer) => [status, json.reason]
const LOCKED = [409, 'invalid-action']

async function staysLocked(userRef: string, who: Enrolled) {
  const { session } = await service.bootstrap(userRef)
  const { json } = await service.call('POST', `/users/${userRef}/verify`, { session, body: who.fresh() })
  expect(json).toMatchObject({ action: 'refused', refusedBecause: 'typing-locked' })
}

// Regression: five patterns by a reset link, or a queued reset, ended an administrator's lock.
it.each([0, 4])(
  'a reset link that has collected %i patterns replaces no profile while an administrator has locked it',
  async (collected) => {
    const userRef = `link-${collected}`
    const [who, thief] = [await enroll(service, userRef), await enroll(service, `thief-${collected}`, 0)]
    const key = await linkTo('reset', userRef)
    for (let n = 0; n < collected; n++) expect((await typeBy(key, thief)).status).toBe(200)
    await act(userRef, 'lock')
    const before = await references(userRef)
    expect(await page(key)).toBe(404)
    for (let n = 0; n < 5; n++) expect(refusal(await typeBy(key, thief))).toEqual(LOCKED)
    expect(await references(userRef)).toEqual(before)
    await staysLocked(userRef, who)
    await act(userRef, 'unlock')
    expect(await page(key)).toBe(200)
    expect((await typeBy(key, thief)).json).toMatchObject({ completed: collected === 4 })
  },
)

it("a queued reset waits for the end of an administrator's lock", async () => {
  const who = await enroll(service, 'queued')
  await act('queued', RESET)
  await act('queued', 'lock')
  const before = await references('queued')
  expect(refusal(await enrolls('queued', who))).toEqual(LOCKED)
  expect(await references('queued')).toEqual(before)
  expect((await service.bootstrap('queued')).json).toMatchObject({ pendingAction: RESET, biometricStatus: 'ok' })
  await staysLocked('queued', who)
  await act('queued', 'unlock')
  expect((await enrolls('queued', who)).json).toMatchObject({ nPatternsRef: 1 })
})

it('a complete link and enrollment add nothing to a profile that an administrator has locked', async () => {
  const who = await enroll(service, 'part', 3)
  const key = await linkTo('complete', 'part')
  await act('part', 'lock')
  expect(refusal(await typeBy(key, who))).toEqual(LOCKED)
  expect(refusal(await enrolls('part', who))).toEqual(LOCKED)
  expect(await references('part')).toHaveLength(3)
  await act('part', 'unlock')
  expect((await typeBy(key, who)).json).toMatchObject({ nPatterns: 4 })
})

it('a reset by an administrator opens typing, and not the code', async () => {
  const who = await enroll(service, 'renewed')
  await act('renewed', 'lock')
  await act('renewed', 'reset-profile')
  expect((await enrolls('renewed', who)).json).toMatchObject({ nPatternsRef: 1 })
  const { session } = await service.bootstrap('renewed')
  await service.call('PUT', '/users/renewed/security-code', { session, body: { securityCode: '749205' } })
  const { json } = await service.call('POST', '/users/renewed/verify', { session, body: { securityCode: '749205' } })
  expect(json).toMatchObject({ action: 'refused', refusedBecause: 'code-locked' })
})
