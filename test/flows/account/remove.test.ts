import { describe, expect, it } from 'vitest'
import type { Member } from '../../../src/domain/account.js'
import type { KnownPatterns } from '../../../src/flows/attempt/known-patterns.js'
import { EMPTY_ROW } from '../../../src/flows/attempt/sketch-row.js'
import { startFlows } from '../real-flows.js'

const flows = await startFlows()

// Regression: deleted people stayed in memory until other people needed the place.
describe('a deletion removes from the caches of the process', () => {
  const ref = (userRef: string, memberRef: string | null = null) => ({
    organizationId: flows.organizationId,
    userRef,
    memberRef,
  })
  const isCached = (member: Member) => flows.needs.memory.find(member) !== null

  /** Creates the account, and caches its people as verifies would. */
  async function cached(userRef: string, memberRefs: readonly (string | null)[]): Promise<Member[]> {
    for (const memberRef of memberRefs) {
      const type = memberRef === null ? 'nominative' : 'generic'
      await flows.accounts.create(ref(userRef, memberRef), { type, displayName: null, withCode: false })
    }
    const roster = await flows.stores.accounts.roster(flows.organizationId, userRef)
    if (roster === null) throw new Error('the account was not created')
    for (const member of roster.members) {
      const { id, generation, profileVersion, attemptsVersion } = member
      const known: KnownPatterns = {
        references: EMPTY_ROW,
        confirmed: EMPTY_ROW,
        failed: EMPTY_ROW,
        latestAt: 0,
        nInTail: null,
        generation,
        profileVersion,
        attemptsVersion,
      }
      flows.needs.memory.keep(id, known)
      const template = { bytes: new Uint8Array(600), n: 5 }
      const { account } = roster
      flows.needs.people.keep(ref(userRef), { account, member, nth: 1, template, references: [], hasAdaptive: false })
    }
    expect(roster.members.map(isCached)).toEqual(memberRefs.map(() => true))
    return [...roster.members]
  }

  it('the account and member of one person, and their known patterns', async () => {
    const [ann] = await cached('ann', [null])
    const before = flows.needs.people.bytes()
    expect(flows.needs.people.recall(ref('ann'))).not.toBeNull()
    await flows.accounts.remove(ref('ann'))
    expect([flows.needs.people.recall(ref('ann')), ann && isCached(ann)]).toEqual([null, false])
    expect(flows.needs.people.bytes()).toBeLessThan(before)
  })

  it('the known patterns of one member, and of all members with their account', async () => {
    const desk = await cached('desk', ['bob', 'eve', 'joe'])
    await flows.accounts.remove(ref('desk', 'eve'))
    expect(desk.map((member) => [member.memberRef, isCached(member)]).sort()).toEqual([
      ['bob', true],
      ['eve', false],
      ['joe', true],
    ])
    await flows.accounts.remove(ref('desk'))
    expect(desk.map(isCached)).toEqual([false, false, false])
  })
})
