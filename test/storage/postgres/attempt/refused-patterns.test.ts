import { randomBytes } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { REFUSED_PER_DAY } from '../../../../src/domain/refused-patterns.js'
import { postgresAuthentications } from '../../../../src/storage/postgres/attempt/authentication.js'
import { postgresRefusedPatterns } from '../../../../src/storage/postgres/attempt/refused-patterns.js'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import type { RefusedPattern, RefusedPatternStore } from '../../../../src/storage/refused-patterns.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import { attempt, mark, organization, type Person, person } from '../../fixtures.js'

const DAY_MS = 86_400_000
let fresh: FreshDatabase
let database: Database
let store: RefusedPatternStore
let org: string
let ada: Person
beforeAll(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 12, patience: 10 })
  store = postgresRefusedPatterns(database)
})
afterAll(async () => {
  await database.close()
  await fresh.drop()
})
beforeEach(async () => {
  org = await organization(database)
  ada = await person(database, org)
})

/** A refused pattern; its id contains its time. */
const refused = (changes: Partial<RefusedPattern> = {}): RefusedPattern => {
  const createdAt = changes.createdAt ?? Date.now()
  const id = uuid({ msecs: createdAt })
  return {
    id,
    memberId: ada.memberId,
    generation: 0,
    sealed: randomBytes(20),
    replayMark: mark(),
    createdAt,
    ...changes,
  }
}
const seenSince = (since: number) =>
  postgresAuthentications(database).tested(org, {
    userRef: 'ada',
    memberId: ada.memberId,
    since,
    limit: 1000,
    known: [],
  })
const versionOf = async () => (await postgresAccounts(database).find(org, 'ada', null))?.member?.attemptsVersion

describe('a refused pattern', () => {
  it('is a known pattern of its member, with its generation, and increments the version that attempts are judged on', async () => {
    const pattern = refused({ generation: 3 })
    await store.remember(org, pattern)
    expect(await seenSince(0)).toEqual([
      {
        patternId: pattern.id,
        createdAt: pattern.createdAt,
        authenticated: false,
        sealed: Buffer.from(pattern.sealed),
        refused: { generation: 3 },
      },
    ])
    expect(await versionOf()).toBe(1)
    const stale = attempt(ada, { attemptsVersion: 0 })
    expect(await postgresAuthentications(database).record(org, stale)).toBe('conflict')
  })

  it('makes an attempt with its mark a replay, and is returned for comparison with similar marks', async () => {
    const pattern = refused()
    await store.remember(org, pattern)
    const authentications = postgresAuthentications(database)
    const again = attempt(ada, { attemptsVersion: 1, replayMark: pattern.replayMark })
    expect(await authentications.record(org, again)).toBe('replay')
    const alike = { ...mark(), bands: pattern.replayMark.bands }
    expect(await authentications.resembling(org, ada.memberId, alike, { now: Date.now(), most: 10 })).toEqual([
      {
        exact: Buffer.from(pattern.replayMark.exact),
        nBandsShared: 8,
        pattern: {
          binding: { accountId: ada.accountId, memberId: ada.memberId, patternId: pattern.id, generation: 0 },
          sealed: Buffer.from(pattern.sealed),
        },
      },
    ])
  })

  it('is stored once, and not if an attempt has its mark', async () => {
    const [pattern, tested] = [refused(), attempt(ada)]
    expect(await postgresAuthentications(database).record(org, tested)).toBe('recorded')
    await store.remember(org, pattern)
    await store.remember(org, refused({ replayMark: pattern.replayMark }))
    if (tested.replayMark === null) throw new Error('the attempt has a mark')
    await store.remember(org, refused({ replayMark: tested.replayMark }))
    expect((await seenSince(0)).flatMap(({ patternId, refused }) => (refused === null ? [] : [patternId]))).toEqual([
      pattern.id,
    ])
    expect(await versionOf()).toBe(2)
  })

  it('is not stored above the daily limit, even in concurrent calls, and the first ones stay', async () => {
    const yesterday = refused({ createdAt: Date.now() - DAY_MS - 60_000 })
    await store.remember(org, yesterday)
    const first = refused()
    await store.remember(org, first)
    await Promise.all(Array.from({ length: 3 * REFUSED_PER_DAY }, () => store.remember(org, refused())))
    const kept = (await seenSince(0)).map(({ patternId }) => patternId)
    expect(kept).toHaveLength(REFUSED_PER_DAY + 1)
    expect(kept).toEqual(expect.arrayContaining([yesterday.id, first.id]))
    const marks = await database.scoped(org, (sql) => sql`select 1 from keystride.replay_mark`)
    expect(marks).toHaveLength(REFUSED_PER_DAY + 1)
    await store.remember(org, refused({ createdAt: Date.now() + DAY_MS + 60_000 }))
    expect(await seenSince(0)).toHaveLength(REFUSED_PER_DAY + 2)
  })

  it('is not stored for an unknown member, one of another organization, or an archived one', async () => {
    const other = await organization(database)
    await store.remember(other, refused())
    await store.remember(org, refused({ memberId: uuid() }))
    await store.remember(org, refused())
    await database.scoped(org, (sql) => sql`update keystride.member set archived_at = now() where id = ${ada.memberId}`)
    await store.remember(org, refused())
    const rows = await database.asSystem(
      (sql) =>
        sql`select 1 from keystride.refused_pattern where organization_id = any (${`{${org},${other}}`}::uuid[])`,
    )
    expect(rows).toHaveLength(1)
  })
})
