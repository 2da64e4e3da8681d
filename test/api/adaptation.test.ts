import { expect, it } from 'vitest'
import { UPDATE_CONFIDENCE } from '../../src/domain/adaptation.js'
import { authenticated, type Enrolled, enroll, text, verifyOf } from '../harness/enrolled.js'
import { type Answer, sharedService } from '../harness/service.js'
import { ownRows, referencesOf } from './own-rows.js'
import { secondService } from './second-service.js'

const service = await sharedService()
const rows = ownRows(service)

/** Verifies, each time in a new session, until the confidence reaches `UPDATE_CONFIDENCE`. Returns the id of the pattern. */
async function verified({ userRef, fresh }: Enrolled): Promise<string> {
  for (;;) {
    const { authentication } = (await verifyOf(service, userRef, fresh())).json
    if (authentication.confidenceBiometrics >= UPDATE_CONFIDENCE) return authentication.patternTestId
  }
}
const counts = ({ json }: Answer) => [json.authentication.nPatternsRef, json.authentication.nPatternsRefUsed]
const learned = (userRef: string) => referencesOf(rows, userRef, 'adaptive')
const dayPasses = (userRef: string) =>
  rows(
    (sql) => sql`
      update keystride.member set adapted_at = adapted_at - interval '24 hours' where member_ref = ${userRef}`,
  )

it('a clean pass is learned once a day, at most the latest three, and is not counted as an enrolled reference', async () => {
  const who = await enroll(service, 'learner')
  const days: string[] = []
  for (let day = 1; day <= 5; day++) {
    days.push(await verified(who))
    await verified(who)
    expect(await learned('learner')).toEqual(days.slice(-3))
    await dayPasses('learner')
  }
  expect((await service.bootstrap('learner')).json).toMatchObject({ nPatternsRef: 5, biometricStatus: 'ok' })
  const { json } = await service.call('DELETE', '/users/learner/typing-patterns')
  expect(json).toMatchObject({ n_patterns_deleted: 5, nPatternsRef: 0 })
  expect(await learned('learner')).toEqual([])
})

it('an adaptive reference is removed by the id of the tested pattern', async () => {
  const id = await verified(await enroll(service, 'unlearner'))
  const gone = await service.call('DELETE', `/users/unlearner/typing-patterns/${id}`)
  expect(gone.json).toMatchObject({ success: true, nPatternsRef: 5, biometricStatus: 'ok' })
  expect(await learned('unlearner')).toEqual([])
})

it('an adaptive reference can be linked as an enrolled one by its id, and is then counted', async () => {
  const who = await enroll(service, 'linker')
  const patternId = await verified(who)
  const link = (session: string) =>
    service.call('POST', '/user-action/linker', { session, body: { action: 'LINK_PATTERN_ID', patternId } })
  expect((await link((await service.bootstrap('linker')).session)).status).toBe(409)
  expect((await link(await authenticated(service, who))).json).toMatchObject({ nPatternsRef: 6, patternId })
  expect(await learned('linker')).toEqual([])
})

it('adaptive references are scored only if the enrolled ones alone would challenge, and ADAPTATION is on', async () => {
  const who = await enroll(service, 'switched')
  await verified(who)
  // A threshold that the person's own typing does not always reach, so that slower typing is challenged.
  const { id, ...policy } = (await service.dashboard('GET', '/default-policy')).json.data
  const strict = { ...policy, decision_threshold: 0.99, priority: 'usability' }
  expect((await service.dashboard('PUT', `/policies/${id}`, { body: strict })).status).toBe(200)
  const off = await secondService(service, { ADAPTATION: 'off' })
  for (const [one, used] of [
    [service, 6],
    [off, 5],
  ] as const) {
    const answer = await verifyOf(one, 'switched', who.who.types(text(used), used, { tempo: 1.12 }))
    const { data } = (await service.dashboard('GET', `/authentications/${answer.json.authentication.id}`)).json
    expect(data.confidence_biometrics).toBeGreaterThan(0.75)
    expect(data.confidence_biometrics).toBeLessThan(0.99)
    expect(counts(answer)).toEqual([5, used])
  }
  await off.close()
})
