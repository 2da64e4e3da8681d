import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HINTS, newUser, type RealFlows, startFlows } from '../real-flows.js'

let flows: RealFlows
beforeAll(async () => {
  flows = await startFlows()
})
afterAll(() => flows.close())

const visitor = (userRef: string) => ({ organizationId: flows.organizationId, userRef, memberRef: null })

describe('a bootstrap', () => {
  it('gives an unknown user a session and words, and no state', async () => {
    const begun = await flows.bootstrap(visitor('nobody-yet'), null, HINTS)
    expect(begun).toMatchObject({ state: null, unknown: true, targetRefPatterns: 5, next: null, pendingAction: null })
    expect(begun.sessionToken.length).toBeGreaterThanOrEqual(32)
    expect(begun.words.suggestedWords.length).toBeGreaterThan(3)
  })

  it('echoes a live session of the same user, and replaces any other token', async () => {
    const [ann, bob] = [await newUser(flows), await newUser(flows)]
    const { sessionToken } = await flows.bootstrap(ann, null, HINTS)
    expect((await flows.bootstrap(ann, sessionToken, HINTS)).sessionToken).toBe(sessionToken)
    expect((await flows.bootstrap(bob, sessionToken, HINTS)).sessionToken).not.toBe(sessionToken)
    const chosen = 'a'.repeat(43)
    expect((await flows.bootstrap(ann, chosen, HINTS)).sessionToken).not.toBe(chosen)
  })

  it('gives the state of an account without references', async () => {
    const begun = await flows.bootstrap(await newUser(flows), null, HINTS)
    expect(begun).toMatchObject({ unknown: false, state: { biometricStatus: 'not-ready', nPatternsRef: 0 } })
  })

  it('refuses the member of another account', async () => {
    const who = { ...(await newUser(flows)), memberRef: 'somebody-else' }
    await expect(flows.bootstrap(who, null, HINTS)).rejects.toMatchObject({ kind: 'member-mismatch' })
  })

  it('names the action that an administrator queued', async () => {
    const who = await newUser(flows)
    const { state } = await flows.bootstrap(who, null, HINTS)
    const event = { kind: 'queue' as const, id: v7(), action: 'RESET_BIOMETRIC_PROFILE' as const }
    await flows.stores.pendingActions.change(who.organizationId, state?.member?.id ?? '', event, Date.now())
    expect((await flows.bootstrap(who, null, HINTS)).pendingAction).toBe(event.action)
  })
})
