import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { INVALID_PATTERNS_MAX } from '../../../../src/domain/invalid-patterns.js'
import type { InvalidPatternStore } from '../../../../src/storage/invalid-patterns.js'
import { postgresInvalidPatterns } from '../../../../src/storage/postgres/attempt/invalid-patterns.js'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import { organization, type Person, person } from '../../fixtures.js'

const MINUTE = 60_000

let fresh: FreshDatabase
let databases: [Database, Database]
let stores: [InvalidPatternStore, InvalidPatternStore]
let org: string
let ada: Person

beforeAll(async () => {
  fresh = await freshDatabase()
  databases = [connectPostgres({ url: fresh.url, max: 4, patience: 10 }), connectPostgres({ url: fresh.url, max: 4 })]
  stores = [postgresInvalidPatterns(databases[0]), postgresInvalidPatterns(databases[1])]
})
afterAll(async () => {
  for (const database of databases) await database.close()
  await fresh.drop()
})
beforeEach(async () => {
  org = await organization(databases[0])
  ada = await person(databases[0], org)
})

const member = async (of = ada) => (await postgresAccounts(databases[0]).find(org, of.userRef, null))?.member
const count = (times: number) =>
  Promise.all(Array.from({ length: times }, (_, i) => stores[i % 2 === 0 ? 0 : 1].count(org, ada.memberId)))
/** Moves the stored times back by `ms`. */
const later = (ms: number) =>
  databases[0].scoped(
    org,
    (sql) => sql`
      update keystride.member set patterns_closed_until = patterns_closed_until - ${ms} * interval '1 millisecond',
        invalid_patterns = array(select at - ${ms} * interval '1 millisecond' from unnest(invalid_patterns) at)`,
  )

describe('refused patterns', () => {
  it('block the member at the twentieth, for a quarter of an hour from the first', async () => {
    expect(await count(INVALID_PATTERNS_MAX - 1)).toEqual(Array(INVALID_PATTERNS_MAX - 1).fill(0))
    expect((await member())?.patternsClosedForMs).toBe(0)
    expect(await count(1)).toEqual([0])
    const closedForMs = (await member())?.patternsClosedForMs ?? 0
    expect(closedForMs).toBeGreaterThan(14 * MINUTE)
    expect(closedForMs).toBeLessThanOrEqual(15 * MINUTE)
  })

  it('are counted twenty times in a hundred concurrent calls of two processes', async () => {
    const all = await Promise.allSettled(
      Array.from({ length: 100 }, (_, i) => stores[i % 2 === 0 ? 0 : 1].count(org, ada.memberId)),
    )
    const told = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    // A loaded machine refuses some of them.
    const refused = all.length - told.length
    const counted = told.filter((closedForMs) => closedForMs === 0).length
    expect(counted).toBeLessThanOrEqual(INVALID_PATTERNS_MAX)
    expect(counted + refused).toBeGreaterThanOrEqual(INVALID_PATTERNS_MAX)
    for (const closedForMs of told) expect(closedForMs).toBeLessThanOrEqual(15 * MINUTE)
  })

  it('are never more than twenty within any quarter of an hour', async () => {
    await count(10)
    await later(10 * MINUTE)
    expect((await count(12)).filter((closedForMs) => closedForMs === 0)).toHaveLength(10)
    expect((await member())?.patternsClosedForMs).toBeLessThanOrEqual(5 * MINUTE)
    await later(5 * MINUTE)
    expect((await member())?.patternsClosedForMs).toBe(0)
    const all = await count(30)
    expect(all.filter((closedForMs) => closedForMs === 0)).toHaveLength(10)
    expect((await member())?.patternsClosedForMs).toBeGreaterThan(9 * MINUTE)
  })

  it('change no attempts, other members or other organizations', async () => {
    const bo = await person(databases[0], org, 'bo')
    await count(25)
    expect(await member()).toMatchObject({ attemptsVersion: 0 })
    expect((await member(bo))?.patternsClosedForMs).toBe(0)
    const foreign = await organization(databases[0])
    expect(await stores[0].count(foreign, bo.memberId)).toBe(0)
    expect(await stores[0].count(org, bo.memberId)).toBe(0)
  })
})
