import pg from 'pg'
import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AccountPlan, AccountStore } from '../../../../src/storage/account.js'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { postgresProfiles } from '../../../../src/storage/postgres/person/profile.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import { NOW, organization, reference } from '../../fixtures.js'

const RULES = { target: 2, limit: 3, rejectReplay: true }
const CONNECTIONS = 4
const MORE = 600
let fresh: FreshDatabase
let database: Database
let admin: pg.Client

beforeAll(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: CONNECTIONS, patience: 10 })
  admin = new pg.Client({ connectionString: fresh.url })
  await admin.connect()
  // Autovacuum analyzes once a minute, which would hide the cost of outdated statistics.
  for (const table of ['account', 'member'])
    await admin.query(`alter table keystride.${table} set (autovacuum_enabled = false)`)
})
afterAll(async () => {
  await admin.end()
  await database.close()
  await fresh.drop()
})

// Regression: for each added member, an import read all members, until autovacuum updated the statistics a minute later.
it('the cost of a call does not depend on the number of people created since the tables were empty', async () => {
  const store = postgresAccounts(database)
  const profiles = postgresProfiles(database)
  const org = await organization(database)
  const some = await createPeople(store, org, 20)
  const looks = async () => {
    for (const { userRef, memberId } of some) {
      await store.find(org, userRef, null)
      await store.roster(org, userRef)
      await profiles.add(org, reference(memberId), RULES)
      await store.change(org, userRef, () => NOTHING)
    }
  }
  // Often enough that the server caches generic plans.
  for (let round = 0; round < 3; round++) await looks()
  const created = await rowsRead()
  await createPeople(store, org, MORE)
  expect((await rowsRead()) - created).toBeLessThan(MORE * 30)
  await expect.poll(analyzed, { timeout: 10_000 }).toBe(2)
  const before = await rowsRead()
  await looks()
  const read = (await rowsRead()) - before
  expect(read).toBeGreaterThan(some.length * 4)
  expect(read).toBeLessThan(some.length * 50)
})

const NOTHING = {
  settings: { tag: {} },
  move: { kind: 'none' },
  newMember: { id: uuid(), displayName: null, createdAt: NOW },
} as const satisfies AccountPlan

async function createPeople(store: AccountStore, org: string, n: number) {
  const people: { userRef: string; memberId: string }[] = []
  for (let i = 0; i < n; i++) {
    const [userRef, memberId] = [uuid(), uuid()]
    const member = { id: memberId, memberRef: userRef, displayName: null, createdAt: NOW }
    await store.create(org, { id: uuid(), userRef, type: 'nominative', displayName: null, member, createdAt: NOW })
    people.push({ userRef, memberId })
  }
  return people
}

async function analyzed(): Promise<number> {
  const { rows } = await admin.query<{ n: number }>(`
    select count(*)::int as n from pg_class
    where oid in ('keystride.account'::regclass, 'keystride.member'::regclass) and reltuples >= 256`)
  return rows[0]?.n ?? 0
}

/** Number of rows and index entries of account and member read so far. */
async function rowsRead(): Promise<number> {
  // Each connection has its own counters, and flushes them late unless it is forced to.
  const tell = () => database.call((sql) => sql`select pg_stat_force_next_flush(), pg_sleep(0.02)`)
  for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 2 * CONNECTIONS }, tell))
  const { rows } = await admin.query<{ n: number }>(`
    select (select sum(idx_tup_read) from pg_stat_user_indexes where relname in ('account', 'member'))::int
      + (select sum(seq_tup_read) from pg_stat_user_tables where relname in ('account', 'member'))::int as n`)
  return rows[0]?.n ?? 0
}
