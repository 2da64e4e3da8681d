import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Account, Member } from '../../../src/domain/account.js'
import { NO_ATTEMPTS } from '../../../src/domain/attempts.js'
import { writeHabits } from '../../../src/domain/context/circumstances.js'
import { type CachedPerson, createPersonCache, PERSON_BYTES } from '../../../src/flows/attempt/person-cache.js'
import { member as memberWith } from '../../domain/members.js'

const ORGANIZATION = 'o1'
const account: Account = {
  id: 'a1',
  userRef: 'zoë@example.com',
  type: 'nominative',
  displayName: 'Zoë “Z” \u{1f511}',
  memberSelection: 'ask',
  groups: ['staff'],
  tag: { __proto__x: 'y', team: 'ß\n' },
  createdAt: 1,
}
const member: Member = memberWith(5, {
  ...{ id: 'm1', memberRef: account.userRef, generation: 2, everReset: true, completedAt: 7, createdAt: 2 },
  ...{ lastSuccessAt: 1_795_388_088_092, lastTypedAt: 8, preferredLanguage: 'fr' },
  ...{ attemptsVersion: 4, rowVersion: 6, profileVersion: 5, sampleFormat: 1 },
  code: { set: true, temporary: false, expiresAt: null, used: false, version: 3 },
  attempts: { ...NO_ATTEMPTS, biometric: { streak: 1, closedUntil: 9, off: false, recentFailures: [4, 5] } },
  pending: { id: 'q1', action: 'RESET_BIOMETRIC_PROFILE', queuedAt: 3, nReplaced: 0 },
  habits: writeHabits({ n: 2, values: { os: [['Linux', 45, 1_795_388_088_092]] }, hours: [[166, 78]], places: [] }),
})
const template = { bytes: new Uint8Array(600), n: 5 }
const person: CachedPerson = { account, member, nth: 3, template, references: ['r1', 'r2'], hasAdaptive: true }
const whoIs = (userRef: string) => ({ organizationId: ORGANIZATION, userRef, memberRef: null })
const who = whoIs(account.userRef)
const named = (userRef: string): CachedPerson => ({ ...person, account: { ...account, userRef } })

describe('the person cache', () => {
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  // Regression: a person whom another machine deleted stayed until other people needed the place.
  it('drops a person 15 minutes after the last attempt, although nobody asks again', () => {
    let at = 1
    vi.spyOn(performance, 'now').mockImplementation(() => at)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const pass = (minutes: number) => {
      for (let n = 0; n < minutes; n++) {
        at += 60_000
        vi.advanceTimersByTime(60_000)
      }
    }
    const people = createPersonCache(1e6)
    people.keep(who, person)
    people.keep(whoIs('ann'), named('ann'))
    const both = people.bytes()
    pass(10)
    people.keep(who, person)
    expect(people.bytes()).toBe(both)
    pass(6)
    const one = people.bytes()
    expect(one).toBeGreaterThan(0)
    expect(one).toBeLessThan(both)
    expect([people.recall(who) === null, people.recall(whoIs('ann'))]).toEqual([false, null])
    pass(11)
    expect([people.bytes(), vi.getTimerCount()]).toEqual([0, 0])
  })

  it('returns a person as stored, with the same template object', () => {
    const people = createPersonCache(1e6)
    people.keep(who, person)
    expect(people.recall(who)).toMatchObject(person)
    expect(people.recall(who)?.template).toBe(template)
    expect(people.profileOf(who, member)).toMatchObject({ references: ['r1', 'r2'], hasAdaptive: true })
  })

  it('returns nothing for another member, user or organization, and no profile of another version', () => {
    const people = createPersonCache(1e6)
    people.keep(who, person)
    for (const other of [{ ...who, memberRef: 'somebody' }, whoIs('ann'), { ...who, organizationId: 'o2' }])
      expect([people.recall(other), people.profileOf(other, member)]).toEqual([null, null])
    expect(people.recall({ ...who, memberRef: account.userRef })).not.toBeNull()
    for (const change of [{ id: 'm2' }, { generation: member.generation + 1 }, { profileVersion: 0 }])
      expect(people.profileOf(who, { ...member, ...change })).toBeNull()
  })

  it('keeps the later of two commits in either order of arrival', () => {
    const people = createPersonCache(1e6)
    const later = { ...person, member: { ...member, rowVersion: 7, attemptsVersion: 5 } }
    people.keep(who, later)
    people.keep(who, person)
    expect(people.recall(who)?.member.rowVersion).toBe(7)
  })

  it('evicts the least recently used person at its byte limit, and counts bytes', () => {
    const people = createPersonCache(1e6)
    people.keep(who, person)
    const each = people.bytes()
    expect(each).toBeGreaterThan(PERSON_BYTES + 200)
    const few = createPersonCache(Math.floor(3.5 * each))
    for (const ref of ['u1', 'u2', 'u3']) few.keep(whoIs(ref), named(ref))
    few.recall(whoIs('u1'))
    few.keep(whoIs('u4'), named('u4'))
    expect(['u1', 'u2', 'u3', 'u4'].map((ref) => few.recall(whoIs(ref)) !== null)).toEqual([true, false, true, true])
    expect(few.bytes()).toBeLessThanOrEqual(3.5 * each)
    for (const ref of ['u1', 'u3', 'u4']) few.forget(whoIs(ref))
    expect(few.bytes()).toBe(0)
  })

  it('keeps no member of a shared account, no member with blocked patterns, and no entry above its limit', () => {
    const people = createPersonCache(1e6)
    people.keep(who, { ...person, account: { ...account, type: 'generic' } })
    people.keep(who, { ...person, member: { ...member, patternsClosedForMs: 1 } })
    expect(people.recall(who)).toBeNull()
    const small = createPersonCache(PERSON_BYTES)
    small.keep(who, person)
    expect([small.recall(who), small.bytes()]).toEqual([null, 0])
  })
})
