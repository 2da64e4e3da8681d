import { randomBytes } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { afterFailure, NO_ATTEMPTS } from '../../../../src/domain/attempts.js'
import { linkOwner } from '../../../../src/domain/profile-link.js'
import { postgresAuthentications } from '../../../../src/storage/postgres/attempt/authentication.js'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { postgresPendingActions } from '../../../../src/storage/postgres/person/pending-action.js'
import { postgresProfiles } from '../../../../src/storage/postgres/person/profile.js'
import { endEveryLink, postgresProfileLinks } from '../../../../src/storage/postgres/person/profile-link.js'
import type { ProfileStore } from '../../../../src/storage/profile.js'
import type { NewLink, ProfileLinkStore } from '../../../../src/storage/profile-link.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import { attempt, mark, NOW, organization, type Person, person, reference } from '../../fixtures.js'

/** Number of reset links that are begun and abandoned. */
const ABANDONED = Number(process.env.ABANDONED_LINKS ?? 200)
const TARGET = 3
const RULES = { target: TARGET, rejectReplay: true, owner: 'link 1', asReset: false }
const LATER = NOW + 60_000
let fresh: FreshDatabase
let database: Database
let store: ProfileStore
let links: ProfileLinkStore
let org: string
let ada: Person

beforeAll(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 4, patience: 10 })
  store = postgresProfiles(database)
  links = postgresProfileLinks(database)
})
afterAll(async () => {
  await database.close()
  await fresh.drop()
})
beforeEach(async () => {
  org = await organization(database)
  ada = await person(database, org)
  for (let n = 0; n < TARGET; n++) await store.add(org, reference(ada.memberId), { ...RULES, limit: 10 })
})

const member = async () => {
  const found = await postgresAccounts(database).find(org, 'ada', null)
  if (!found?.member) throw new Error('ada is stored')
  return found.member
}
/** The references of a verify, to the byte. */
const compared = async () => JSON.stringify(await store.references(org, ada.memberId))
const rows = async () => (await database.scoped(org, (sql) => sql`select 1 from keystride.reference_pattern`)).length
const next = (generation = 1) => ({ ...reference(ada.memberId, undefined, generation), createdAt: LATER })
const link = (memberId: string): NewLink => ({
  id: uuid(),
  memberId,
  kind: 'reset-profile',
  aim: 'target',
  sha256: randomBytes(32),
  redirectUri: null,
  validityS: 60,
})
const collect = (rules: Partial<typeof RULES> & { linkId?: string; intervalMs?: number } = {}, generation = 1) =>
  store.addToSuccessor(org, next(generation), { ...RULES, ...rules })

describe('a successor', () => {
  it('keeps the current profile until it is complete, and then replaces it', async () => {
    const before = await compared()
    for (const n of [1, 2]) {
      expect(await collect()).toMatchObject({
        outcome: 'added',
        member: { successor: { owner: 'link 1', nVisible: n } },
      })
      expect(await compared()).toBe(before)
      expect(await member()).toMatchObject({ generation: 0, nPatternsRef: TARGET, profileVersion: TARGET })
    }
    const last = next()
    expect(await store.addToSuccessor(org, { ...last, mode: 'sensitive' }, RULES)).toMatchObject({
      outcome: 'added',
      member: {
        generation: 1,
        nPatternsRef: TARGET,
        nVisible: 2,
        nSensitive: 1,
        successor: null,
        completedAt: LATER,
        everReset: false,
        attemptsVersion: 1,
      },
    })
    const references = await store.references(org, ada.memberId)
    expect(references.map(({ generation }) => generation)).toEqual([1, 1, 1])
    expect(references.map(({ id }) => id)).toContain(last.id)
    expect(await rows()).toBe(TARGET)
  })

  it('waits between patterns of one owner; those of another are dropped and delay nobody', async () => {
    const hourly = (owner: string) => collect({ owner, intervalMs: 3600_000 })
    expect(await hourly('link 1')).toMatchObject({ outcome: 'added' })
    expect(await hourly('link 1')).toMatchObject({ outcome: 'too-soon' })
    expect(await hourly('link 2')).toMatchObject({
      outcome: 'added',
      member: { successor: { owner: 'link 2', nVisible: 1 } },
    })
    expect(await hourly('link 2')).toMatchObject({ outcome: 'too-soon' })
  })

  it('is an enrollment in the ledger when it is complete; an updated reference is none', async () => {
    const enrollments = async () =>
      (await database.scoped(org, (sql) => sql`select 1 from keystride.usage_event where kind = 'enroll'`)).length
    expect(await enrollments()).toBe(1)
    for (let n = 0; n < TARGET; n++) await collect()
    expect(await enrollments()).toBe(2)
    const queued = { kind: 'queue', id: uuid(), action: 'UPDATE_BIOMETRIC_PROFILE' } as const
    await postgresPendingActions(database).change(org, ada.memberId, queued, LATER)
    await store.replaceOldest(org, next(), { ...RULES, pendingId: queued.id })
    await store.add(org, next(), { ...RULES, limit: 10 })
    expect(await store.references(org, ada.memberId)).toHaveLength(TARGET + 1)
    expect(await enrollments()).toBe(2)
  })

  it('is completed once, for any number of concurrent patterns', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => collect()))
    expect(all.filter(({ outcome }) => outcome === 'added')).toHaveLength(TARGET)
    expect(all.filter(({ outcome }) => outcome === 'closed')).toHaveLength(20 - TARGET)
    expect(await member()).toMatchObject({ generation: 1, nPatternsRef: TARGET })
    expect(await rows()).toBe(TARGET)
  })

  it('removes adaptive references and queued actions, and prevents the record of verdicts on the old references', async () => {
    await store.adapt(org, reference(ada.memberId), { profileVersion: TARGET, max: 2, intervalMs: 1000 })
    const queued = { kind: 'queue', id: uuid(), action: 'UPDATE_BIOMETRIC_PROFILE' } as const
    await postgresPendingActions(database).change(org, ada.memberId, queued, NOW)
    const before = attempt(ada, { attemptsVersion: (await member()).attemptsVersion })
    for (let n = 0; n < TARGET; n++) await collect()
    expect(await member()).toMatchObject({ pending: null, generation: 1 })
    expect(await rows()).toBe(TARGET)
    expect(await postgresAuthentications(database).record(org, before)).toBe('conflict')
  })

  it('clears the typing lock only if it is a reset', async () => {
    const counters = afterFailure(afterFailure(NO_ATTEMPTS, 'biometric', NOW), 'security_code', NOW)
    await postgresAuthentications(database).record(org, attempt(ada, { counters }))
    for (let n = 0; n < TARGET; n++) await collect()
    expect(await member()).toMatchObject({ attempts: counters, everReset: false })
    for (let n = 0; n < TARGET; n++) await collect({ asReset: true }, 2)
    expect(await member()).toMatchObject({
      generation: 2,
      everReset: true,
      attempts: { biometric: NO_ATTEMPTS.biometric, security_code: counters.security_code },
    })
  })

  it('never mixes patterns of two owners: the later one starts from zero', async () => {
    await collect()
    await collect()
    expect(await collect({ owner: 'link 2' })).toMatchObject({
      member: { successor: { owner: 'link 2', nVisible: 1 } },
    })
    expect(await rows()).toBe(TARGET + 1)
    expect(await member()).toMatchObject({ generation: 0, nPatternsRef: TARGET })
  })

  it('starts from zero if the collected patterns have an older format', async () => {
    await collect()
    await database.asSystem(
      (sql) => sql`update keystride.member set successor_format = 0 where organization_id = ${org}`,
    )
    expect(await collect()).toMatchObject({ member: { successor: { nVisible: 1 } } })
    expect(await rows()).toBe(TARGET + 1)
  })

  it('of a link is deleted when the link is revoked or replaced, one of another owner is not', async () => {
    const before = await compared()
    for (const end of [() => links.revoke(org, [ada.memberId]), () => links.make(org, link(ada.memberId))]) {
      const its = link(ada.memberId)
      await links.make(org, its)
      await collect({ owner: linkOwner(its.id) })
      expect(await rows()).toBe(TARGET + 1)
      await end()
      expect(await member()).toMatchObject({ successor: null, nPatternsRef: TARGET })
      expect(await rows()).toBe(TARGET)
      expect(await compared()).toBe(before)
    }
    await collect()
    await links.revoke(org, [ada.memberId])
    expect(await member()).toMatchObject({ successor: { owner: 'link 1', nVisible: 1 } })
    expect(await links.make(org, link(uuid()))).toBe(false)
  })

  it('of a link is deleted when every link is ended, and the current profile stays', async () => {
    const before = await compared()
    const bob = await person(database, org, 'bob')
    const [its, his] = [link(ada.memberId), { ...link(bob.memberId), kind: 'create-profile' as const }]
    for (const one of [its, his]) await links.make(org, one)
    await collect({ owner: linkOwner(its.id), linkId: its.id })
    expect(await rows()).toBe(TARGET + 1)
    await endEveryLink(database)
    for (const one of [its, his]) expect(await links.find(one.sha256)).toBeNull()
    expect(await member()).toMatchObject({ successor: null, nPatternsRef: TARGET })
    expect(await rows()).toBe(TARGET)
    expect(await compared()).toBe(before)
    expect(await collect({ owner: linkOwner(its.id), linkId: its.id })).toEqual({ outcome: 'link-ended' })
  })

  it('of a link takes no pattern after the link’s end, and ends the link with the last pattern', async () => {
    const its = link(ada.memberId)
    const rules = { owner: linkOwner(its.id), linkId: its.id }
    expect(await collect(rules)).toEqual({ outcome: 'link-ended' })
    await links.make(org, its)
    const all = await Promise.all(Array.from({ length: 20 }, () => collect(rules)))
    expect(all.filter(({ outcome }) => outcome === 'added')).toHaveLength(TARGET)
    expect(all.filter((one) => one.outcome === 'added' && one.completes)).toHaveLength(1)
    expect(all.filter(({ outcome }) => outcome === 'link-ended')).toHaveLength(20 - TARGET)
    expect(await links.find(its.sha256)).toBeNull()
  })

  it('loses a pattern by removeOne, and is removed with the last one', async () => {
    const [first, second] = [next(), next()]
    for (const one of [first, second]) await store.addToSuccessor(org, one, RULES)
    expect(await store.removeOne(org, ada.memberId, first.id)).toMatchObject({
      nPatternsRef: TARGET,
      successor: { nVisible: 1 },
    })
    expect(await store.removeOne(org, ada.memberId, second.id)).toMatchObject({ nPatternsRef: TARGET, successor: null })
  })

  it('is deleted by a reset, so that no earlier pattern counts afterwards', async () => {
    const late = next()
    await collect()
    await store.reset(org, ada.memberId, NOW)
    expect(await member()).toMatchObject({ generation: 1, nPatternsRef: 0, successor: null })
    expect(await rows()).toBe(0)
    expect(await store.addToSuccessor(org, late, RULES)).toMatchObject({ outcome: 'closed' })
    expect(await compared()).toBe('[]')
  })

  it('takes no pattern of another generation, of an absent member, or a replay', async () => {
    expect(await collect({}, 0)).toMatchObject({ outcome: 'closed' })
    expect(await collect({}, 2)).toMatchObject({ outcome: 'closed' })
    expect(await store.addToSuccessor(org, { ...next(), memberId: uuid() }, RULES)).toEqual({ outcome: 'absent' })
    const known = mark()
    expect(await store.addToSuccessor(org, { ...next(), replayMark: known }, RULES)).toMatchObject({ outcome: 'added' })
    expect(await store.addToSuccessor(org, { ...next(), replayMark: known }, RULES)).toEqual({ outcome: 'replay' })
  })

  it(`abandoned at any step, ${ABANDONED} times, keeps the old profile unchanged`, async () => {
    const before = await compared()
    const others = await Promise.all(Array.from({ length: 20 }, (_, i) => person(database, org, `p${i}`)))
    await Promise.all(
      others.map(async ({ memberId }, i) => {
        for (let n = 0; n < TARGET; n++) await store.add(org, reference(memberId), { ...RULES, limit: 10 })
        const old = JSON.stringify(await store.references(org, memberId))
        for (let n = 0; n < ABANDONED / others.length; n++) {
          const its = link(memberId)
          await links.make(org, its)
          for (let step = 0; step <= (i + n) % (TARGET - 1); step++)
            await store.addToSuccessor(org, { ...next(), memberId }, { ...RULES, owner: linkOwner(its.id) })
          if (n % 3 === 0) await links.revoke(org, [memberId])
        }
        expect(JSON.stringify(await store.references(org, memberId))).toBe(old)
      }),
    )
    expect(await compared()).toBe(before)
  })
})
