import { expect, it } from 'vitest'
import { INVALID_PATTERNS_MAX } from '../../../../src/domain/invalid-patterns.js'
import { postgresInvalidPatterns } from '../../../../src/storage/postgres/attempt/invalid-patterns.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { organization, person } from '../../../harness/fixtures.js'
import { sharedDatabase } from '../../../servers/database.js'

const MINUTE = 60_000
const { database } = await sharedDatabase()
const store = postgresInvalidPatterns(database)

it('twenty refused patterns in a quarter of an hour block the member until a quarter of an hour after the first one', async () => {
  const org = await organization(database)
  const { memberId } = await person(database, org)
  const closedForMs = async () => (await postgresAccounts(database).find(org, 'ada', null))?.member?.patternsClosedForMs
  /** Counts concurrently; the number of calls that were open. */
  const count = async (times: number) => {
    const all = await Promise.all(Array.from({ length: times }, () => store.count(org, memberId)))
    return all.filter((forMs) => forMs === 0).length
  }
  /** Moves the stored times back by `ms`. */
  const later = (ms: number) =>
    database.scoped(
      org,
      (sql) => sql`
        update keystride.member set patterns_closed_until = patterns_closed_until - ${ms} * interval '1 millisecond',
          invalid_patterns = array(select at - ${ms} * interval '1 millisecond' from unnest(invalid_patterns) at)`,
    )
  expect([await count(INVALID_PATTERNS_MAX / 2), await closedForMs()]).toEqual([INVALID_PATTERNS_MAX / 2, 0])
  await later(10 * MINUTE)
  expect(await count(100)).toBe(INVALID_PATTERNS_MAX / 2)
  expect(await closedForMs()).toBeGreaterThan(0)
  expect(await closedForMs()).toBeLessThanOrEqual(5 * MINUTE)
  await later(5 * MINUTE)
  expect(await closedForMs()).toBe(0)
  // The second half of the earlier patterns is ten minutes younger than the first.
  expect(await count(30)).toBe(INVALID_PATTERNS_MAX / 2)
  expect(await closedForMs()).toBeGreaterThan(5 * MINUTE)
  expect(await closedForMs()).toBeLessThanOrEqual(10 * MINUTE)
})
