import { v7 as newId } from 'uuid'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../../src/domain/refusal.js'
import { createAccountFlows } from '../../../src/flows/account/accounts.js'
import { createSecurityCodeFlows } from '../../../src/flows/account/security-code.js'
import { sha256Hex } from '../../../src/flows/process/tokens.js'
import { createProfileFlows } from '../../../src/flows/profile/profiles.js'
import { createUserActions } from '../../../src/flows/profile/user-actions.js'
import type { Designation } from '../../../src/flows/session/person.js'
import { HINTS, newUser, startFlows } from '../real-flows.js'

const flows = await startFlows()

const sessionOf = async (who: Designation) => (await flows.bootstrap(who, null, HINTS)).sessionToken
const isLive = async ({ organizationId, userRef }: Designation, token: string) =>
  (await flows.stores.sessions.find(organizationId, userRef, sha256Hex(token))) !== null

describe('a session that begins during an action of an administrator', () => {
  it.each(['lock', 'clear-security-code', 'reset-profile'] as const)('ends with it: %s', async (action) => {
    const { stores, needs } = flows
    const who = await newUser(flows)
    let begun = ''
    const after =
      <A extends unknown[], T>(write: (...given: A) => Promise<T>) =>
      async (...given: A) => {
        const written = await write(...given)
        begun = await sessionOf(who)
        expect(await isLive(who, begun)).toBe(true)
        return written
      }
    const signedOn: string[] = []
    const actions = createUserActions({
      ...needs,
      ssoArtifacts: { endAll: async (_, userRef) => void signedOn.push(userRef) },
      attemptLocks: { ...stores.attemptLocks, close: after(stores.attemptLocks.close) },
      securityCodes: { clear: after(stores.securityCodes.clear) },
      profileFlows: createProfileFlows({
        ...needs,
        profiles: { ...stores.profiles, reset: after(stores.profiles.reset) },
      }),
      pendingActionFlows: { queue: () => Promise.reject(), clear: () => Promise.reject() },
    })
    const earlier = await sessionOf(who)
    await actions.perform(who, action, { apiKeyId: newId(), requestId: newId() })
    expect([await isLive(who, earlier), begun === '', await isLive(who, begun)]).toEqual([false, false, false])
    // The sessions of single sign-on end twice: before the action and after it.
    expect(signedOn).toEqual(action === 'clear-security-code' ? [] : [who.userRef, who.userRef])
  })
})

it('a code that was set stays set if the sessions begun meanwhile cannot be ended', async () => {
  const { needs, stores, organizationId } = flows
  const who = await newUser(flows)
  const token = await sessionOf(who)
  let ends = 0
  const codes = createSecurityCodeFlows({
    ...needs,
    codeHash: {
      hash: async (_, code) => `hash of ${code}`,
      matches: async (_, code, kept) => kept === `hash of ${code}`,
    },
    randomDigits: (count) => '7'.repeat(count),
    sessions: {
      ...stores.sessions,
      endAll: async (...given) => {
        if (++ends === 2) throw new Refusal('degraded', 'Redis is late')
        await stores.sessions.endAll(...given)
      },
    },
  })
  await codes.choose(who, token, '749205')
  expect(ends).toBe(2)
  const { member } = (await stores.accounts.find(organizationId, who.userRef, null)) ?? {}
  expect(member?.code.set).toBe(true)
})

it('the sessions of a person who is gone end when the deletion is repeated', async () => {
  const { organizationId, needs, stores } = flows
  const ended: unknown[][] = []
  const accounts = createAccountFlows({
    ...needs,
    securityCodes: { issueFirst: async () => null },
    sessions: { ...stores.sessions, endAll: async (...given) => void ended.push(given) },
    ssoArtifacts: { ...stores.ssoArtifacts, endAll: async (...given) => void ended.push(given) },
  })
  const who = { organizationId, userRef: 'gone', memberRef: null }
  await expect(accounts.remove(who)).rejects.toMatchObject({ kind: 'user-not-found' })
  expect(ended).toEqual([
    [organizationId, 'gone', null],
    [organizationId, 'gone'],
  ])
})
