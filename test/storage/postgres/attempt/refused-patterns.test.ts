import { randomBytes } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { REFUSED_PER_DAY } from '../../../../src/domain/refused-patterns.js'
import { postgresAuthentications } from '../../../../src/storage/postgres/attempt/authentication.js'
import { postgresRefusedPatterns } from '../../../../src/storage/postgres/attempt/refused-patterns.js'
import type { RefusedPattern } from '../../../../src/storage/refused-patterns.js'
import { attempt, mark, organization, type Person, person } from '../../../harness/fixtures.js'
import { sharedDatabase } from '../../../servers/database.js'

const DAY_MS = 86_400_000
const { database } = await sharedDatabase()
const store = postgresRefusedPatterns(database)
let org: string
let ada: Person
beforeAll(async () => {})
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
    entry: randomBytes(9),
    ...changes,
  }
}
const seenSince = (since: number) =>
  postgresAuthentications(database).tested(org, {
    userRef: 'ada',
    memberId: ada.memberId,
    since,
    limits: { confirmed: 1000, failed: 1000 },
    known: [],
  })

describe('a refused pattern', () => {
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
})
