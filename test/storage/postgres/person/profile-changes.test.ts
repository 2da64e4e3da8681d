import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NO_ATTEMPTS } from '../../../../src/domain/attempts.js'
import type { PendingAction } from '../../../../src/domain/pending-action.js'
import { PENDING_ACTION_LIFETIME_MS } from '../../../../src/domain/pending-action.js'
import { postgresAttemptLocks } from '../../../../src/storage/postgres/attempt/attempt-lock.js'
import { postgresAuthentications } from '../../../../src/storage/postgres/attempt/authentication.js'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { postgresPendingActions } from '../../../../src/storage/postgres/person/pending-action.js'
import { postgresProfiles } from '../../../../src/storage/postgres/person/profile.js'
import type { ProfileStore } from '../../../../src/storage/profile.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import { attempt, mark, NOW, organization, type Person, person, reference } from '../../fixtures.js'

const TARGET = 3
const RULES = { target: TARGET, rejectReplay: true }
const ADAPT = { profileVersion: TARGET, max: 2, intervalMs: 1000 }
let fresh: FreshDatabase
let database: Database
let store: ProfileStore
let org: string
let ada: Person

beforeAll(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 4, patience: 10 })
  store = postgresProfiles(database)
})
afterAll(async () => {
  await database.close()
  await fresh.drop()
})
beforeEach(async () => {
  org = await organization(database)
  ada = await person(database, org)
})

const member = async () => {
  const found = await postgresAccounts(database).find(org, 'ada', null)
  if (!found?.member) throw new Error('ada is stored')
  return found.member
}
const stored = async () => (await store.references(org, ada.memberId)).map(({ id, kind }) => [id, kind])
/** `count` references, a second apart; their ids. */
async function complete(count = TARGET): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const one = { ...reference(ada.memberId), createdAt: NOW + n * 1000 }
    await store.add(org, one, { ...RULES, limit: 10 })
    ids.push(one.id)
  }
  return ids
}
const queue = (action: PendingAction, at = NOW, id = uuid()) =>
  postgresPendingActions(database).change(org, ada.memberId, { kind: 'queue', id, action }, at)

describe('removeOne', () => {
  it('removes one reference, and the profile counts as reset without any', async () => {
    const [only = ''] = await complete(1)
    expect(await store.removeOne(org, ada.memberId, uuid())).toBeNull()
    expect(await store.removeOne(org, ada.memberId, only)).toMatchObject({ nPatternsRef: 0, everReset: true })
    expect(await store.removeOne(org, ada.memberId, only)).toBeNull()
    expect(await store.removeOne(org, uuid(), only)).toBeNull()
  })

  it('of one reference by twenty concurrent calls is done by one, and the count equals the rows', async () => {
    const [first = ''] = await complete()
    const all = await Promise.all(Array.from({ length: 20 }, () => store.removeOne(org, ada.memberId, first)))
    expect(all.filter((one) => one !== null)).toHaveLength(1)
    expect((await member()).nPatternsRef).toBe(2)
    expect(await stored()).toHaveLength(2)
  })

  it('of all references, concurrent with additions, keeps the count equal to the rows', async () => {
    const ids = await complete(5)
    const adding = Array.from({ length: 5 }, () => store.add(org, reference(ada.memberId), { ...RULES, limit: 10 }))
    await Promise.all([...ids.map((id) => store.removeOne(org, ada.memberId, id)), ...adding])
    expect((await member()).nPatternsRef).toBe(5)
    expect(await stored()).toHaveLength(5)
  })

  it('prevents the record of a verdict on the removed reference', async () => {
    const [first = ''] = await complete()
    const verdictBefore = attempt(ada, { attemptsVersion: (await member()).attemptsVersion })
    await store.removeOne(org, ada.memberId, first)
    expect(await postgresAuthentications(database).record(org, verdictBefore)).toBe('conflict')
  })

  it('removes the adaptive references, which were compared with it', async () => {
    const [first = ''] = await complete()
    await store.adapt(org, reference(ada.memberId), ADAPT)
    await store.removeOne(org, ada.memberId, first)
    expect((await stored()).map(([, kind]) => kind)).toEqual(['enrolled', 'enrolled'])
  })
})

describe('adapt', () => {
  it('keeps the newest few, counts none of them, and lists them after the enrolled', async () => {
    const ids = await complete()
    const learned = Array.from({ length: 3 }, (_, i) => ({ ...reference(ada.memberId), createdAt: NOW + i * 1000 }))
    for (const [i, one] of learned.entries()) {
      expect(await store.adapt(org, one, { ...ADAPT, profileVersion: TARGET + i })).toBe(true)
    }
    expect(await stored()).toEqual([
      ...ids.map((id) => [id, 'enrolled']),
      ...learned.slice(1).map(({ id }) => [id, 'adaptive']),
    ])
    expect(await member()).toMatchObject({ nPatternsRef: TARGET, adaptedAt: NOW + 2000, attemptsVersion: 0 })
  })

  it('keeps one of fifty concurrent patterns', async () => {
    await complete()
    const all = await Promise.all(Array.from({ length: 50 }, () => store.adapt(org, reference(ada.memberId), ADAPT)))
    expect(all.filter(Boolean)).toHaveLength(1)
    expect(await stored()).toHaveLength(TARGET + 1)
  })

  it('keeps nothing within the interval, for changed references, or for another generation', async () => {
    await complete()
    expect(await store.adapt(org, reference(ada.memberId), { ...ADAPT, profileVersion: TARGET - 1 })).toBe(false)
    expect(await store.adapt(org, reference(ada.memberId, undefined, 1), ADAPT)).toBe(false)
    expect(await store.adapt(org, reference(uuid()), ADAPT)).toBe(false)
    expect(await store.adapt(org, reference(ada.memberId), ADAPT)).toBe(true)
    const soon = { ...reference(ada.memberId), createdAt: NOW + 999 }
    expect(await store.adapt(org, soon, { ...ADAPT, profileVersion: TARGET + 1 })).toBe(false)
  })

  it('is undone to the byte without the adaptive references, in a hundred of a hundred cases', async () => {
    await complete()
    const enrolled = async () => (await store.references(org, ada.memberId)).filter(({ kind }) => kind === 'enrolled')
    const before = JSON.stringify(await enrolled())
    for (let i = 0; i < 100; i++) {
      const one = { ...reference(ada.memberId), createdAt: NOW + i * 1000 }
      expect(await store.adapt(org, one, { ...ADAPT, profileVersion: TARGET + i })).toBe(true)
      expect(JSON.stringify(await enrolled())).toBe(before)
    }
  })

  it('keeps no pattern twice, and a kept one may be enrolled by its id', async () => {
    const [first = ''] = await complete()
    expect(await store.adapt(org, { ...reference(ada.memberId), id: first }, ADAPT)).toBe(false)
    const learned = reference(ada.memberId)
    await store.adapt(org, learned, ADAPT)
    const linked = { ...learned, replayMark: mark() }
    expect(await store.add(org, linked, { ...RULES, limit: 10 })).toMatchObject({
      outcome: 'added',
      member: { nPatternsRef: TARGET + 1 },
    })
    expect((await stored()).map(([, kind]) => kind)).toEqual(Array(TARGET + 1).fill('enrolled'))
    expect(await store.add(org, { ...linked, replayMark: mark() }, { ...RULES, limit: 10 })).toMatchObject({
      outcome: 'closed',
    })
  })

  it('is deleted by a reset, and not counted as deleted', async () => {
    await complete()
    await store.adapt(org, reference(ada.memberId), ADAPT)
    expect(await store.reset(org, ada.memberId, NOW)).toMatchObject({ nPatternsDeleted: TARGET })
    expect(await stored()).toEqual([])
    const rows = await database.scoped(org, (sql) => sql`select 1 from keystride.reference_pattern`)
    expect(rows).toHaveLength(0)
  })

  it('is deleted with the account', async () => {
    await complete()
    await store.adapt(org, reference(ada.memberId), ADAPT)
    expect(await postgresAccounts(database).remove(org, 'ada')).toEqual({ nPatternsDeleted: TARGET })
  })
})

describe('replaceOldest', () => {
  const replacement = () => ({ ...reference(ada.memberId), createdAt: NOW + 60_000 })

  it('replaces the oldest ones, keeps their number, and ends the update with the last', async () => {
    const ids = await complete(4)
    const pendingId = (await queue('UPDATE_BIOMETRIC_PROFILE'))?.pending?.id ?? ''
    for (let n = 1; n <= TARGET; n++) {
      const outcome = await store.replaceOldest(org, replacement(), { ...RULES, pendingId })
      expect(outcome).toMatchObject({ outcome: 'added', member: { nPatternsRef: 4, nVisible: 4 } })
      expect(await stored()).toHaveLength(4)
    }
    expect((await stored()).map(([id]) => id).filter((id) => ids.includes(id ?? ''))).toEqual([ids[3]])
    expect((await member()).pending).toBeNull()
    expect(await store.replaceOldest(org, replacement(), { ...RULES, pendingId })).toMatchObject({ outcome: 'closed' })
  })

  it('replaces the target number in twenty concurrent calls', async () => {
    await complete()
    const pendingId = (await queue('UPDATE_BIOMETRIC_PROFILE'))?.pending?.id ?? ''
    const all = await Promise.all(
      Array.from({ length: 20 }, () => store.replaceOldest(org, replacement(), { ...RULES, pendingId })),
    )
    expect(all.filter(({ outcome }) => outcome === 'added')).toHaveLength(TARGET)
    expect(await stored()).toHaveLength(TARGET)
  })

  it('updates the counts of the capture modes', async () => {
    await complete()
    const pendingId = (await queue('UPDATE_BIOMETRIC_PROFILE'))?.pending?.id ?? ''
    const sensitive = { ...replacement(), mode: 'sensitive' as const }
    expect(await store.replaceOldest(org, sensitive, { ...RULES, pendingId })).toMatchObject({
      member: { nVisible: 2, nSensitive: 1 },
    })
  })

  it('deletes adaptive references, and prevents the record of a verdict on the old references', async () => {
    await complete()
    await store.adapt(org, reference(ada.memberId), ADAPT)
    const pendingId = (await queue('UPDATE_BIOMETRIC_PROFILE'))?.pending?.id ?? ''
    const before = attempt(ada, { attemptsVersion: (await member()).attemptsVersion })
    await store.replaceOldest(org, replacement(), { ...RULES, pendingId })
    expect((await stored()).map(([, kind]) => kind)).toEqual(['enrolled', 'enrolled', 'enrolled'])
    expect(await postgresAuthentications(database).record(org, before)).toBe('conflict')
  })

  it('replaces nothing under another, a later or a lapsed action, or with a replay', async () => {
    await complete()
    const first = (await queue('UPDATE_BIOMETRIC_PROFILE'))?.pending?.id ?? ''
    const known = mark()
    const spent = { ...replacement(), replayMark: known }
    expect(await store.replaceOldest(org, spent, { ...RULES, pendingId: first })).toMatchObject({ outcome: 'added' })
    const replay = { ...replacement(), replayMark: known }
    expect(await store.replaceOldest(org, replay, { ...RULES, pendingId: first })).toEqual({ outcome: 'replay' })
    const late = { ...replacement(), createdAt: NOW + PENDING_ACTION_LIFETIME_MS + 1 }
    expect(await store.replaceOldest(org, late, { ...RULES, pendingId: first })).toMatchObject({ outcome: 'closed' })
    const second = (await queue('RESET_BIOMETRIC_PROFILE'))?.pending?.id ?? ''
    for (const pendingId of [first, second]) {
      const outcome = await store.replaceOldest(org, replacement(), { ...RULES, pendingId })
      expect(outcome).toMatchObject({ outcome: 'closed', member: { nPatternsRef: TARGET } })
    }
  })
})

describe('a queued reset', () => {
  it('empties the profile once, for any number of calls', async () => {
    await complete()
    const pendingId = (await queue('RESET_BIOMETRIC_PROFILE'))?.pending?.id ?? ''
    const all = await Promise.all(Array.from({ length: 10 }, () => store.reset(org, ada.memberId, NOW, pendingId)))
    expect(all.map((one) => one?.nPatternsDeleted).sort()).toEqual([...Array(9).fill(0), TARGET])
    expect(await member()).toMatchObject({ generation: 1, nPatternsRef: 0, pending: null, everReset: true })
  })

  it('empties nothing if it was cleared, replaced or has lapsed', async () => {
    await complete()
    const first = (await queue('RESET_BIOMETRIC_PROFILE'))?.pending?.id ?? ''
    await store.reset(org, ada.memberId, NOW + PENDING_ACTION_LIFETIME_MS + 1, first)
    await queue('RESET_BIOMETRIC_PROFILE')
    await store.reset(org, ada.memberId, NOW, first)
    await postgresPendingActions(database).change(org, ada.memberId, { kind: 'clear' }, NOW)
    await store.reset(org, ada.memberId, NOW, first)
    expect(await member()).toMatchObject({ generation: 0, nPatternsRef: TARGET, attempts: NO_ATTEMPTS })
  })
})

describe('pending actions', () => {
  it('are removed when the profile is emptied', async () => {
    await complete()
    await queue('UPDATE_BIOMETRIC_PROFILE')
    await store.reset(org, ada.memberId, NOW)
    expect((await member()).pending).toBeNull()
  })

  it('report an absent member', async () => {
    const gone = postgresPendingActions(database).change(org, uuid(), { kind: 'clear' }, NOW)
    expect(await gone).toBeNull()
  })
})

describe('a member who returns to a shared account', () => {
  it('has nothing queued, collected or learned earlier', async () => {
    const accounts = postgresAccounts(database)
    const bob = { id: uuid(), memberRef: 'bob', displayName: null, createdAt: NOW }
    const desk = {
      id: uuid(),
      userRef: 'desk',
      type: 'generic',
      displayName: null,
      member: bob,
      createdAt: NOW,
    } as const
    await accounts.create(org, desk)
    const one = () => ({ ...reference(bob.id), createdAt: NOW })
    for (let n = 0; n < TARGET; n++) await store.add(org, one(), { ...RULES, limit: 10 })
    await store.adapt(org, one(), ADAPT)
    await store.addToSuccessor(org, { ...one(), generation: 1 }, { ...RULES, owner: 'link', asReset: true })
    const queued = { kind: 'queue', id: uuid(), action: 'UPDATE_BIOMETRIC_PROFILE' } as const
    await postgresPendingActions(database).change(org, bob.id, queued, NOW)
    expect(await accounts.archiveMember(org, 'desk', 'bob', NOW)).toEqual({ nPatternsDeleted: TARGET + 1 })
    await accounts.change(org, 'desk', () => ({
      settings: {},
      move: { kind: 'add', memberRef: 'bob' },
      newMember: { id: uuid(), displayName: null, createdAt: NOW },
    }))
    expect((await accounts.find(org, 'desk', 'bob'))?.member).toMatchObject({
      id: bob.id,
      nPatternsRef: 0,
      successor: null,
      pending: null,
      adaptedAt: null,
      lastTypedAt: null,
    })
    expect(await store.references(org, bob.id)).toEqual([])
  })
})

describe('the last typing success', () => {
  it('is of typing, not of a code', async () => {
    const profiles = postgresAuthentications(database)
    const byCode = attempt(ada, { replayMark: null })
    const code = { ...byCode, method: 'security_code' as const, patternId: null, sealed: null }
    expect(await profiles.record(org, code)).toBe('recorded')
    expect(await member()).toMatchObject({ lastSuccessAt: NOW, lastTypedAt: null })
    expect(await profiles.record(org, attempt(ada, { attemptsVersion: 1 }))).toBe('recorded')
    expect(await member()).toMatchObject({ lastTypedAt: NOW })
  })
})

describe("a profile under an administrator's lock", () => {
  const closed = () => postgresAttemptLocks(database).close(org, ada.memberId)
  const next = (generation = 0) => ({ ...reference(ada.memberId, undefined, generation), createdAt: NOW + 60_000 })

  it('takes no reference, and a queued reset leaves it as it is', async () => {
    await complete()
    const [reset, update] = [uuid(), uuid()]
    await queue('UPDATE_BIOMETRIC_PROFILE', NOW, update)
    await closed()
    const before = await stored()
    const locked = { outcome: 'locked' }
    expect(await store.add(org, next(), { ...RULES, limit: 10 })).toEqual(locked)
    expect(await store.replaceOldest(org, next(), { ...RULES, pendingId: update })).toEqual(locked)
    for (let n = 0; n < TARGET; n++)
      expect(await store.addToSuccessor(org, next(1), { ...RULES, owner: 'link 1', asReset: true })).toEqual(locked)
    await queue('RESET_BIOMETRIC_PROFILE', NOW, reset)
    expect(await store.reset(org, ada.memberId, NOW, reset)).toMatchObject({ nPatternsDeleted: 0 })
    expect(await stored()).toEqual(before)
    expect((await member()).attempts.biometric.off).toBe(true)
  })

  it('is opened by a reset that an administrator makes', async () => {
    await complete()
    await closed()
    expect(await store.reset(org, ada.memberId, NOW)).toMatchObject({ nPatternsDeleted: TARGET })
    expect((await member()).attempts.biometric).toEqual(NO_ATTEMPTS.biometric)
    expect(await store.add(org, next(1), { ...RULES, limit: 10 })).toMatchObject({ outcome: 'added' })
  })
})
