import { randomBytes } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import { linkOwner } from '../../../../src/domain/profile-link.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { postgresPendingActions } from '../../../../src/storage/postgres/person/pending-action.js'
import { postgresProfiles } from '../../../../src/storage/postgres/person/profile.js'
import { endEveryLink, postgresProfileLinks } from '../../../../src/storage/postgres/person/profile-link.js'
import type { NewLink } from '../../../../src/storage/profile-link.js'
import { NOW, organization, type Person, person, reference } from '../../../harness/fixtures.js'
import { sharedDatabase } from '../../../servers/database.js'

/** Concurrent calls. `test/simulator/stores.test.ts` compares single calls with the stores in memory. */
const TARGET = 3
const RULES = { target: TARGET, limit: 10, rejectReplay: true }
const { database } = await sharedDatabase()
const store = postgresProfiles(database)
const links = postgresProfileLinks(database)
let org: string
let ada: Person
beforeEach(async () => {
  org = await organization(database)
  ada = await person(database, org)
})

const member = async () => {
  const found = await postgresAccounts(database).find(org, 'ada', null)
  if (!found?.member) throw new Error('ada is stored')
  return found.member
}
const stored = () => store.references(org, ada.memberId)
const add = () => store.add(org, reference(ada.memberId), RULES)
/** `count` references; their ids. */
async function complete(count = TARGET): Promise<string[]> {
  for (let n = 0; n < count; n++) await add()
  return (await stored()).map(({ id }) => id)
}
async function queued(action: 'RESET_BIOMETRIC_PROFILE' | 'UPDATE_BIOMETRIC_PROFILE'): Promise<string> {
  const id = uuid()
  await postgresPendingActions(database).change(org, ada.memberId, { kind: 'queue', id, action }, NOW)
  return id
}
const times = <T>(n: number, call: () => Promise<T>) => Promise.all(Array.from({ length: n }, call))
const nOf = (all: readonly { outcome: string }[], outcome: string) =>
  all.filter((one) => one.outcome === outcome).length

describe('concurrent calls on a profile', () => {
  it('add references up to the limit', async () => {
    const all = await times(20, () => store.add(org, reference(ada.memberId), { ...RULES, limit: 3 }))
    expect([nOf(all, 'added'), nOf(all, 'closed')]).toEqual([3, 17])
    expect(await stored()).toHaveLength(3)
  })

  it('remove a reference once, and keep the count equal to the rows while others are added', async () => {
    const [first = '', ...ids] = await complete(5)
    const removed = await times(20, () => store.removeOne(org, ada.memberId, first))
    expect(removed.filter((one) => one !== null)).toHaveLength(1)
    await Promise.all([...ids.map((id) => store.removeOne(org, ada.memberId, id)), times(5, add)])
    expect((await member()).nPatternsRef).toBe(5)
    expect(await stored()).toHaveLength(5)
  })

  it('learn one pattern of fifty', async () => {
    await complete()
    const rules = { profileVersion: TARGET, max: 2, intervalMs: 1000 }
    const all = await times(50, () => store.adapt(org, reference(ada.memberId), rules))
    expect(all.filter(Boolean)).toHaveLength(1)
    expect(await stored()).toHaveLength(TARGET + 1)
  })

  it('replace the target number of references under one queued update', async () => {
    await complete()
    const pendingId = await queued('UPDATE_BIOMETRIC_PROFILE')
    const all = await times(20, () => store.replaceOldest(org, reference(ada.memberId), { ...RULES, pendingId }))
    expect(nOf(all, 'added')).toBe(TARGET)
    expect(await stored()).toHaveLength(TARGET)
  })

  it('empty the profile once by a queued reset', async () => {
    await complete()
    const pendingId = await queued('RESET_BIOMETRIC_PROFILE')
    const all = await times(10, () => store.reset(org, ada.memberId, NOW, pendingId))
    expect(all.map((one) => one?.nPatternsDeleted).sort()).toEqual([...Array(9).fill(0), TARGET])
    expect(await member()).toMatchObject({ generation: 1, nPatternsRef: 0, pending: null, everReset: true })
  })
})

describe('a successor of a profile', () => {
  beforeEach(() => complete())
  const rows = async () => (await database.scoped(org, (sql) => sql`select 1 from keystride.reference_pattern`)).length
  const next = () => ({ ...reference(ada.memberId, undefined, 1), createdAt: NOW + 60_000 })
  const collect = (rules: { owner?: string; linkId?: string; intervalMs?: number } = {}) =>
    store.addToSuccessor(org, next(), { ...RULES, owner: 'link 1', asReset: false, ...rules })
  const link = (memberId: string, kind: NewLink['kind'] = 'reset-profile'): NewLink => ({
    ...{ id: uuid(), memberId, kind, aim: 'target', sha256: randomBytes(32), redirectUri: null, validityS: 60 },
  })

  it('is completed once, for any number of concurrent patterns', async () => {
    const all = await times(20, collect)
    expect([nOf(all, 'added'), nOf(all, 'closed')]).toEqual([TARGET, 20 - TARGET])
    expect(await member()).toMatchObject({ generation: 1, nPatternsRef: TARGET })
    expect(await rows()).toBe(TARGET)
  })

  it('waits between patterns of one owner; those of another are dropped and delay nobody', async () => {
    const hourly = (owner: string) => collect({ owner, intervalMs: 3600_000 })
    expect(await hourly('link 1')).toMatchObject({ outcome: 'added' })
    expect(await hourly('link 1')).toMatchObject({ outcome: 'too-soon' })
    const others = { successor: { owner: 'link 2', nVisible: 1 } }
    expect(await hourly('link 2')).toMatchObject({ outcome: 'added', member: others })
    expect(await hourly('link 2')).toMatchObject({ outcome: 'too-soon' })
  })

  it('is an enrollment in the ledger when it is complete; an updated reference is none', async () => {
    const enrollments = async () =>
      (await database.scoped(org, (sql) => sql`select 1 from keystride.usage_event where kind = 'enroll'`)).length
    expect(await enrollments()).toBe(1)
    for (let n = 0; n < TARGET; n++) await collect()
    expect(await enrollments()).toBe(2)
    const pendingId = await queued('UPDATE_BIOMETRIC_PROFILE')
    await store.replaceOldest(org, next(), { ...RULES, pendingId })
    await store.add(org, next(), RULES)
    expect(await stored()).toHaveLength(TARGET + 1)
    expect(await enrollments()).toBe(2)
  })

  it('starts from zero if the collected patterns have an older format', async () => {
    await collect()
    await database.asSystem(
      (sql) => sql`update keystride.member set successor_format = 0 where organization_id = ${org}`,
    )
    expect(await collect()).toMatchObject({ member: { successor: { nVisible: 1 } } })
    expect(await rows()).toBe(TARGET + 1)
  })

  it('of a link is deleted when every link is ended, and the current profile stays', async () => {
    const before = JSON.stringify(await stored())
    const bob = await person(database, org, 'bob')
    const [its, his] = [link(ada.memberId), link(bob.memberId, 'create-profile')]
    for (const one of [its, his]) await links.make(org, one)
    const rules = { owner: linkOwner(its.id), linkId: its.id }
    await collect(rules)
    expect(await rows()).toBe(TARGET + 1)
    await endEveryLink(database)
    for (const one of [its, his]) expect(await links.find(one.sha256)).toBeNull()
    expect(await member()).toMatchObject({ successor: null, nPatternsRef: TARGET })
    expect(JSON.stringify(await stored())).toBe(before)
    expect(await collect(rules)).toEqual({ outcome: 'link-ended' })
  })

  it('of a link takes no pattern after the link’s end, and ends the link with the last pattern', async () => {
    const its = link(ada.memberId)
    const rules = { owner: linkOwner(its.id), linkId: its.id }
    expect(await collect(rules)).toEqual({ outcome: 'link-ended' })
    await links.make(org, its)
    const all = await times(20, () => collect(rules))
    expect([nOf(all, 'added'), nOf(all, 'link-ended')]).toEqual([TARGET, 20 - TARGET])
    expect(all.filter((one) => one.outcome === 'added' && one.completes)).toHaveLength(1)
    expect(await links.find(its.sha256)).toBeNull()
  })
})
