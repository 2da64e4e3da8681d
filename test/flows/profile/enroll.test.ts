import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Refusal } from '../../../src/domain/refusal.js'
import { type MadeUpPerson, person } from '../../../src/typist/made-up-person.js'
import { text } from '../../api/enrolled.js'
import { HINTS, newUser, type RealFlows, startFlows } from '../real-flows.js'

let flows: RealFlows
beforeAll(async () => {
  flows = await startFlows()
})
afterAll(() => flows.close())

type User = Awaited<ReturnType<typeof newUser>>
const bytes = (body: unknown) => Buffer.from(JSON.stringify(body))

/** Enrolls until `count` patterns are stored. A made-up person is sometimes classified as a machine, and types again. */
async function enrolled(who: User, typist: MadeUpPerson, count: number) {
  const { sessionToken } = await flows.bootstrap(who, null, HINTS)
  const stored: { body: Buffer; patternId: string; status: string }[] = []
  for (let n = 0; stored.length < count; n++) {
    const body = bytes(typist.types(text(n), n))
    try {
      const { patternId, biometricStatus } = await flows.enroll(who, sessionToken, body, HINTS)
      stored.push({ body, patternId: patternId ?? '', status: biometricStatus })
    } catch (error) {
      if (!(error instanceof Refusal) || error.kind !== 'bot-detected') throw error
    }
  }
  return { sessionToken, stored }
}

describe('an enrollment', () => {
  it('stores one reference per call, and completes the profile with the fifth', async () => {
    const { stored } = await enrolled(await newUser(flows), person(901), 5)
    expect(stored.map(({ status }) => status)).toEqual([...Array(4).fill('in-progress'), 'ok'])
    expect(new Set(stored.map(({ patternId }) => patternId)).size).toBe(5)
  })

  it('refuses a further pattern of a complete profile in a session without a typed sign-in', async () => {
    const typist = person(902)
    const who = await newUser(flows)
    const { sessionToken } = await enrolled(who, typist, 5)
    const further = flows.enroll(who, sessionToken, bytes(typist.types(text(50), 50)), HINTS)
    await expect(further).rejects.toMatchObject({ kind: expect.stringMatching(/profile-complete|bot-detected/) })
  })

  it('refuses a pattern that was stored before, also for another user', async () => {
    const who = await newUser(flows)
    const { sessionToken, stored } = await enrolled(who, person(903), 2)
    const again = stored[0]?.body ?? bytes({})
    await expect(flows.enroll(who, sessionToken, again, HINTS)).rejects.toMatchObject({ kind: 'replay-detected' })
    const other = await newUser(flows)
    const begun = await flows.bootstrap(other, null, HINTS)
    await expect(flows.enroll(other, begun.sessionToken, again, HINTS)).rejects.toMatchObject({
      kind: 'replay-detected',
    })
  })

  it('refuses an invalid pattern, a pattern that names another member, and a foreign session', async () => {
    const [who, other] = [await newUser(flows), await newUser(flows)]
    const { sessionToken } = await flows.bootstrap(who, null, HINTS)
    const enroll = (user: User, token: string, body: unknown) => flows.enroll(user, token, bytes(body), HINTS)
    await expect(enroll(who, sessionToken, { kevt: [] })).rejects.toMatchObject({ kind: 'pattern-invalid' })
    const named = { ...(person(904).types(text(1), 1) as object), member_ref: 'somebody-else' }
    await expect(enroll(who, sessionToken, named)).rejects.toMatchObject({ kind: 'member-mismatch' })
    const foreign = enroll(other, sessionToken, person(905).types(text(1), 1))
    await expect(foreign).rejects.toMatchObject({ kind: 'session-missing' })
  })
})
