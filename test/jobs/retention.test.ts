import { randomBytes } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import { describe, expect, it } from 'vitest'
import { createRetention, KEPT_DAYS, REQUESTS_KEPT_MS } from '../../src/jobs/retention.js'
import { postgresSessions } from '../../src/storage/postgres/attempt/session.js'
import { postgresRetention } from '../../src/storage/postgres/insight/retention.js'
import { postgresUsage } from '../../src/storage/postgres/insight/usage.js'
import { postgresAccounts } from '../../src/storage/postgres/person/account.js'
import { postgresProfileLinks } from '../../src/storage/postgres/person/profile-link.js'
import { organization, person, sha256Hex } from '../harness/fixtures.js'
import { until } from '../harness/patience.js'
import { ownDatabase } from '../servers/database.js'

const DAY_MS = 86_400_000
const { database } = await ownDatabase(4)
const org = await organization(database)
const ada = await person(database, org)

const round = (now: number) =>
  createRetention({
    retention: postgresRetention(database),
    usage: postgresUsage(database),
    profileLinks: postgresProfileLinks(database),
    now: () => now,
  })(new AbortController().signal)
const partitions = async () =>
  (
    await database.call(
      (sql) => sql<{ name: string }[]>`
        select c.relname as name from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'keystride.authentication'::regclass order by 1`,
    )
  ).map(({ name }) => name)

/** A UUIDv7 with that time. */
const idAt = (at: number) =>
  `${at
    .toString(16)
    .padStart(12, '0')
    .replace(/^(.{8})/, '$1-')}-7${randomBytes(2).toString('hex').slice(1)}-8000-${randomBytes(6).toString('hex')}`
const signedIn = (at: number) =>
  database.scoped(
    org,
    (sql) => sql`
      insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
        account_type, session_id, method, authenticated, recommended_action, reason, confidence, confidence_biometrics,
        policy_id, n_patterns_ref, n_patterns_ref_used)
      values (${org}, ${idAt(at)}, ${new Date(at)}, ${ada.accountId}, ${ada.memberId}, 'ada', 'ada', 'nominative', '', 'biometric',
        true, 'auth', '', 1, 1, ${uuid()}, 5, 5)`,
  )
const signIns = async () =>
  (
    await database.scoped(
      org,
      (sql) => sql<{ day: string }[]>`
        select to_char(created_at at time zone 'utc', 'YYYY-MM-DD') as day from keystride.authentication order by id`,
    )
  ).map(({ day }) => day)
const rows = async (table: string) =>
  (await database.asSystem((sql) => sql.unsafe(`select 1 from keystride.${table}`))).length

describe('retention', () => {
  it('vacuums the tables after an erasure, not without one', async () => {
    const vacuumed = async () =>
      (
        await database.call(
          (sql) => sql<{ name: string }[]>`
            select relname as name from pg_catalog.pg_stat_all_tables where schemaname = 'keystride' and last_vacuum is not null`,
        )
      ).map(({ name }) => name)
    await round(Date.now())
    expect(await vacuumed()).toEqual([])
    await person(database, org, 'eve')
    await postgresAccounts(database).remove(org, 'eve')
    await round(Date.now())
    await until(async () => {
      const names = await vacuumed()
      return ['account', 'member', 'erasure', 'user_total'].every((name) => names.includes(name))
    })
  })

  it('creates the month after next in advance, and drops a whole month 400 days after its end', async () => {
    await round(Date.UTC(2031, 0, 31, 23, 59, 59))
    expect(await partitions()).toEqual(
      expect.arrayContaining(['2031_01', '2031_02', '2031_03', '2031_04'].map((month) => `authentication_${month}`)),
    )
    await signedIn(Date.UTC(2031, 0, 1))
    await signedIn(Date.UTC(2031, 0, 31))
    await signedIn(Date.UTC(2031, 1, 1))
    const ends = Date.UTC(2031, 1, 1) + KEPT_DAYS * DAY_MS
    await round(ends - 1)
    expect(await signIns()).toEqual(['2031-01-01', '2031-01-31', '2031-02-01'])
    await round(ends)
    expect(await signIns()).toEqual(['2031-02-01'])
    expect(await partitions()).not.toContain('authentication_2031_01')
    expect(await partitions()).toEqual(
      expect.arrayContaining(['authentication_2031_02', 'authentication_2032_05', 'authentication_default']),
    )
  })

  it('deletes rows of the same age in a month without its own partition', async () => {
    const at = Date.UTC(2015, 4, 5)
    await signedIn(at)
    await round(at + KEPT_DAYS * DAY_MS)
    expect(await signIns()).toContain('2015-05-05')
    await round(at + KEPT_DAYS * DAY_MS + 1)
    expect(await signIns()).not.toContain('2015-05-05')
  })

  it('is idempotent, also for several concurrent processes', async () => {
    const now = Date.UTC(2033, 5, 15)
    const retention = postgresRetention(database)
    const made = await Promise.all(Array.from({ length: 4 }, () => retention.makeAhead(2, now).catch(() => 0)))
    expect(made.reduce((sum, n) => sum + n, 0)).toBe(3)
    await round(now)
    expect([await retention.makeAhead(3, now), await retention.dropOld(KEPT_DAYS, now)]).toEqual([0, 0])
  })

  it('leaves a month that is being read, and drops it in the next round', async () => {
    const now = Date.UTC(2040, 0, 15)
    const retention = postgresRetention(database)
    await retention.makeAhead(0, now)
    const later = now + 500 * DAY_MS
    await database.scoped(org, async (sql) => {
      await sql`select count(*) from keystride.authentication`
      await expect(retention.dropOld(KEPT_DAYS, later)).rejects.toThrow()
      expect(await partitions()).toContain('authentication_2040_01')
    })
    expect(await retention.dropOld(KEPT_DAYS, later)).toBeGreaterThan(0)
    expect(await partitions()).not.toContain('authentication_2040_01')
  })

  it('deletes replay marks, refused patterns and their times, requests, sessions, links, counts and actions past their retention, and no other', async () => {
    const now = Date.now()
    const old = new Date(now - KEPT_DAYS * DAY_MS - 1000)
    const young = new Date(now - KEPT_DAYS * DAY_MS + 60_000)
    for (const at of [old, young])
      await database.asSystem(async (sql) => {
        await sql`
          insert into keystride.replay_mark values (${org}, ${randomBytes(16)}, '{}', ${ada.memberId}, ${at}, ${uuid()}, 0)`
        await sql`
          insert into keystride.refused_pattern values (${org}, ${ada.memberId}, ${uuid()}, 0, ${randomBytes(20)}, ${at})`
        await sql`
          insert into keystride.attempt_count values (${org}, 'all', ${at}, '', 1, 1, 0, 0, 1, 1, 1, 0, 0)`
        await sql`
          insert into keystride.attempt_day values (${org}, 'all', ${at}, '', 1, 1, 0, 0, 1, 1, 1, 0, 0)`
        await sql`
          insert into keystride.admin_action (organization_id, id, at, account_id, user_ref, member_ref, action, api_key_id, request_id)
          values (${org}, ${uuid()}, ${at}, ${ada.accountId}, 'ada', 'ada', 'unlock', ${uuid()}, ${uuid()})`
      })
    for (const at of [now - REQUESTS_KEPT_MS - 1000, now - REQUESTS_KEPT_MS + 60_000])
      await postgresUsage(database).add(
        [],
        [{ organizationId: org, id: idAt(at), api: 'core', method: 'get', route: '/x', status: 404, durationMs: 1 }],
      )
    for (const lifetimeMs of [-1000, 900_000])
      await postgresSessions(database).mint(org, { sha256: sha256Hex(), userRef: 'ada', memberRef: 'ada', lifetimeMs })
    const bob = await person(database, org, 'bob')
    for (const [memberId, validityS] of [
      [ada.memberId, 0],
      [bob.memberId, 60],
    ] as const)
      await postgresProfileLinks(database).make(org, {
        ...{ id: uuid(), memberId, kind: 'create-profile', aim: 'target', redirectUri: null, validityS },
        sha256: randomBytes(32),
      })
    await database.asSystem(async (sql) => {
      await sql`
        update keystride.member set invalid_patterns = array[now() - interval '2 days'] where id = ${ada.memberId}`
      await sql`update keystride.member set invalid_patterns = array[now()] where id = ${bob.memberId}`
    })
    await round(now)
    const tables = [
      ...['replay_mark', 'refused_pattern', 'attempt_count', 'attempt_day', 'admin_action'],
      ...['request_log', 'session', 'profile_link'],
    ]
    expect(await Promise.all(tables.map(rows))).toEqual(tables.map(() => 1))
    const refused = await database.asSystem(
      (sql) => sql`select id from keystride.member where invalid_patterns <> '{}'`,
    )
    expect(refused.map(({ id }) => id)).toEqual([bob.memberId])
  })
})
