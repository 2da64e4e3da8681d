import { expect, it } from 'vitest'
import { type Enrolled, enroll, enrollOne, linkTo, typeBy, verifyOf } from '../harness/enrolled.js'
import { type Answer, sharedService } from '../harness/service.js'
import { ownRows, referencesOf } from './own-rows.js'

const RESET = 'RESET_BIOMETRIC_PROFILE'

const service = await sharedService()
const rows = ownRows(service)

const act = async (userRef: string, action: string) =>
  expect((await service.dashboard('POST', `/users/${userRef}/actions`, { body: { action } })).status).toBe(200)
const page = async (key: string) => (await fetch(`${service.auth}/b/${key}`)).status
const typesBy = (key: string, { fresh }: Enrolled) => typeBy(service, key, fresh)
const enrolls = async (who: Enrolled) => enrollOne(service, who, (await service.bootstrap(who.userRef)).session)
const references = (userRef: string) => referencesOf(rows, userRef)
const refusal = ({ status, json }: Answer) => [status, json.reason]
const LOCKED = [409, 'invalid-action']

async function staysLocked({ userRef, fresh }: Enrolled) {
  const { json } = await verifyOf(service, userRef, fresh())
  expect(json).toMatchObject({ action: 'refused', refusedBecause: 'typing-locked' })
}

// Regression: five patterns by a reset link, or a queued reset, ended an administrator's lock.
it.each([0, 4])(
  'a reset link that has collected %i patterns replaces no profile while an administrator has locked it',
  async (collected) => {
    const userRef = `link-${collected}`
    const [who, thief] = [await enroll(service, userRef), await enroll(service, `thief-${collected}`, 0)]
    const key = await linkTo(service, 'reset', userRef)
    for (let n = 0; n < collected; n++) expect((await typesBy(key, thief)).status).toBe(200)
    await act(userRef, 'lock')
    const before = await references(userRef)
    expect(await page(key)).toBe(404)
    for (let n = 0; n < 5; n++) expect(refusal(await typesBy(key, thief))).toEqual(LOCKED)
    expect(await references(userRef)).toEqual(before)
    await staysLocked(who)
    await act(userRef, 'unlock')
    expect(await page(key)).toBe(200)
    expect((await typesBy(key, thief)).json).toMatchObject({ completed: collected === 4 })
  },
)

it("a queued reset waits for the end of an administrator's lock", async () => {
  const who = await enroll(service, 'queued')
  await act('queued', RESET)
  await act('queued', 'lock')
  const before = await references('queued')
  expect(refusal(await enrolls(who))).toEqual(LOCKED)
  expect(await references('queued')).toEqual(before)
  expect((await service.bootstrap('queued')).json).toMatchObject({ pendingAction: RESET, biometricStatus: 'ok' })
  await staysLocked(who)
  await act('queued', 'unlock')
  expect((await enrolls(who)).json).toMatchObject({ nPatternsRef: 1 })
})

it('a complete link and enrollment add nothing to a profile that an administrator has locked', async () => {
  const who = await enroll(service, 'part', 3)
  const key = await linkTo(service, 'complete', 'part')
  await act('part', 'lock')
  for (const answer of [await typesBy(key, who), await enrolls(who)]) expect(refusal(answer)).toEqual(LOCKED)
  expect(await references('part')).toHaveLength(3)
  await act('part', 'unlock')
  expect((await typesBy(key, who)).json).toMatchObject({ nPatterns: 4 })
})

it('a reset by an administrator opens typing, and not the code', async () => {
  const who = await enroll(service, 'renewed')
  await act('renewed', 'lock')
  await act('renewed', 'reset-profile')
  expect((await enrolls(who)).json).toMatchObject({ nPatternsRef: 1 })
  const { session } = await service.bootstrap('renewed')
  const code = { securityCode: '749205' }
  await service.call('PUT', '/users/renewed/security-code', { session, body: code })
  const { json } = await verifyOf(service, 'renewed', code, session)
  expect(json).toMatchObject({ action: 'refused', refusedBecause: 'code-locked' })
})
