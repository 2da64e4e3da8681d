import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { afterFailure, NO_ATTEMPTS } from '../../../../src/domain/attempts.js'
import { postgresAuthentications } from '../../../../src/storage/postgres/attempt/authentication.js'
import { postgresRefusedPatterns } from '../../../../src/storage/postgres/attempt/refused-patterns.js'
import { postgresSessions } from '../../../../src/storage/postgres/attempt/session.js'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { postgresAlerts } from '../../../../src/storage/postgres/insight/alerts.js'
import { postgresExports } from '../../../../src/storage/postgres/insight/exports.js'
import { postgresNotifications } from '../../../../src/storage/postgres/insight/notifications.js'
import { postgresOutbox } from '../../../../src/storage/postgres/insight/outbox.js'
import { postgresStatistics } from '../../../../src/storage/postgres/insight/statistics.js'
import { postgresUsage } from '../../../../src/storage/postgres/insight/usage.js'
import { postgresApiKeys } from '../../../../src/storage/postgres/organization/api-key.js'
import { postgresTypingWords } from '../../../../src/storage/postgres/organization/typing-words.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { postgresComparisonSets } from '../../../../src/storage/postgres/person/comparison-set.js'
import { postgresProfiles } from '../../../../src/storage/postgres/person/profile.js'
import { postgresProfileLinks } from '../../../../src/storage/postgres/person/profile-link.js'
import { postgresUserLog } from '../../../../src/storage/postgres/person/user-log.js'
import { postgresOneTimePasswords } from '../../../../src/storage/postgres/sso/one-time-password.js'
import { postgresSsoAccounts } from '../../../../src/storage/postgres/sso/sso-account.js'
import { postgresSsoArtifacts } from '../../../../src/storage/postgres/sso/sso-artifact.js'
import { postgresSsoKeys } from '../../../../src/storage/postgres/sso/sso-key.js'
import { postgresStrangerTries } from '../../../../src/storage/postgres/sso/stranger-tries.js'
import { figure } from '../../../harness/figure.js'
import { attempt, mark, NOW, organization, person, reference, sha256Hex } from '../../../harness/fixtures.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'

let fresh: FreshDatabase
let database: Database
let login: postgres.Sql
let orgA: string
let orgB: string
let tables: string[]

/** Fills every table for organization A; organization B has no other row. */
beforeAll(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
  login = postgres(fresh.url, { max: 1 })
  orgA = await organization(database)
  orgB = await organization(database)
  const ada = await person(database, orgA)
  const key = { id: uuid(), organizationId: orgA, label: 'k', scopes: ['core'] as const, createdAt: NOW }
  await postgresApiKeys(database).add(key, randomBytes(32))
  const rules = { target: 5, limit: 10, rejectReplay: true }
  await postgresProfiles(database).add(orgA, reference(ada.memberId), rules)
  await postgresAuthentications(database).record(orgA, attempt(ada))
  const pattern = { id: uuid(), memberId: ada.memberId, generation: 0, sealed: randomBytes(20), createdAt: NOW }
  await postgresRefusedPatterns(database).remember(orgA, { ...pattern, replayMark: mark(), entry: randomBytes(9) })
  const versions = { generation: 0, profileVersion: 1, attemptsVersion: 2 }
  const set = { memberId: ada.memberId, ...versions, hasAdaptive: false, oldestAt: NOW, base: randomBytes(20) }
  await postgresComparisonSets(database).put(orgA, set)
  // A deleted person with a failure: an event in the ledger, and counters that stay after the account is deleted.
  const eve = await person(database, orgA, 'eve')
  await postgresAuthentications(database).record(
    orgA,
    attempt(eve, { counters: afterFailure(NO_ATTEMPTS, 'biometric', NOW) }),
  )
  await postgresAccounts(database).remove(orgA, 'eve')
  const session = { sha256: sha256Hex(), userRef: 'ada', memberRef: 'ada', lifetimeMs: 900_000 }
  await postgresSessions(database).mint(orgA, session)
  const artifact = { kind: 'Code', sealed: randomBytes(20), uidSha256: null, grantSha256: null, userRef: 'ada' }
  await postgresSsoArtifacts(database).put(orgA, { ...artifact, sha256: sha256Hex(), lifetimeMs: 60_000 })
  const limits = { lifetimeMs: 60_000, tries: 3, sendsPerHour: 5, wrongPerDay: 10 }
  await postgresOneTimePasswords(database).issue(orgA, 'ada', randomBytes(32), limits)
  await postgresSsoAccounts(database).bind(orgA, { issuer: 'https://id.example', sha256: sha256Hex() }, 'ada', true)
  await postgresStrangerTries(database).member(orgA, 'ada')
  await postgresSsoKeys(database).add(orgA, { id: uuid(), sealed: randomBytes(20), signsFrom: NOW }, null)
  const word = { id: uuid(), word: 'zephyr', language: 'en', core: false, enabled: true } as const
  await postgresTypingWords(database).change(orgA, word.language, () => ({ put: word }))
  const link = { id: uuid(), memberId: ada.memberId, kind: 'create-profile', aim: 'target' } as const
  await postgresProfileLinks(database).make(orgA, {
    ...link,
    sha256: randomBytes(32),
    redirectUri: null,
    validityS: 60,
  })
  // A blocked person with an alert, and an attempt to deliver it.
  await postgresAlerts(database).changeRules(orgA, { blocked: { syslog: true } })
  const place = { host: 'logs.example', port: 514, transport: 'udp' } as const
  const logs = { channel: 'syslog', ...place, facility: 'auth', app_name: 'k' } as const
  await postgresAlerts(database).setChannel(orgA, { settings: logs, secret: null })
  const blocked = attempt(await person(database, orgA, 'bob'))
  const refused = { ...blocked, authenticated: false, recommendedAction: 'block', id: uuid() } as const
  await postgresAuthentications(database).record(orgA, refused)
  await postgresNotifications(database).derive(0)
  for (const claimed of await postgresOutbox(database).claim(10)) {
    const tried = { at: NOW, outcome: 'unreachable', durationMs: 1 }
    await postgresOutbox(database).settle(claimed, tried, { state: 'waiting', channelForMs: 0 })
  }
  await postgresStatistics(database).countAttempts()
  // Attempts of this hour are not counted yet, so the test inserts a count.
  await database.asSystem(async (sql) => {
    for (const table of ['attempt_count', 'attempt_recent', 'attempt_day'])
      await sql`
        insert into keystride.${sql(table)} values (${orgA}, 'all', now(), '', 1, 1, 0, 0, 1, 1, 1, 0, 0)
        on conflict do nothing`
  })
  await database.asSystem(async (sql) => {
    await sql`insert into keystride.placement (organization_id, state, other) values (${orgA}, 'leaving', 'two')`
    await sql`insert into keystride.moved_row (organization_id, relation, key) values (${orgA}, 'policy', '{}')`
  })
  await database.asSystem((sql) => sql`select keystride.slide_totals(now() + interval '2 hours')`)
  await postgresUsage(database).add(
    [{ organizationId: orgA, day: '2026-06-15', class: 'other', n: 1 }],
    [{ organizationId: orgA, id: uuid(), api: 'core', method: 'get', route: '/x', status: 200, durationMs: 1 }],
  )
  const window = { from: NOW, to: NOW }
  const exports = postgresExports(database)
  const archive = { id: uuid(), kind: 'usage', window, createdAt: NOW, expiresAt: Date.now() + 60_000 } as const
  await exports.add(orgA, archive, 1)
  const claim = await exports.claim(orgA, archive.id, randomBytes(32))
  if (claim !== null) await exports.append(orgA, claim, 0, randomBytes(20))
  const asked = { apiKeyId: key.id, requestId: uuid(), id: uuid(), action: 'unlock', at: NOW } as const
  await postgresUserLog(database).record(orgA, { ...asked, ...ada, memberRef: 'ada' })
  tables = (
    await login<{ name: string }[]>`
      select c.relname as name from pg_catalog.pg_class c
      where c.relnamespace = 'keystride'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      order by 1`
  ).map(({ name }) => name)
})
afterAll(async () => {
  await login.end()
  await database.close()
  await fresh.drop()
})

/** Number of rows of A that an unfiltered select returns, by table. */
async function rowsOfA(sql: Pick<postgres.Sql, 'unsafe'>): Promise<Record<string, number>> {
  const seen: Record<string, number> = {}
  for (const table of tables) {
    const rows = await sql.unsafe(`select organization_id from keystride.${table}`)
    seen[table] = rows.filter((row) => row.organization_id === orgA).length
  }
  return seen
}
const none = () => Object.fromEntries(tables.map((table) => [table, 0]))

describe('row level security', () => {
  it('is enabled and forced on every table and partition', async () => {
    const open = await login`
      select relname from pg_catalog.pg_class
      where relnamespace = 'keystride'::regnamespace and relkind in ('r', 'p')
        and not (relrowsecurity and relforcerowsecurity)`
    expect([...open]).toEqual([])
  })

  it('lets an organization read its own rows of every table', async () => {
    const seen = await database.scoped(orgA, rowsOfA)
    expect(tables.length).toBeGreaterThanOrEqual(12)
    expect(tables.filter((table) => seen[table] === 0)).toEqual([])
  })

  it('hides all of them from another organization, without any filter', async () => {
    const seen = await database.scoped(orgB, rowsOfA)
    expect(seen).toEqual(none())
    const rows = Object.values(seen).reduce((sum, n) => sum + n, 0)
    figure('T02', `${rows} rows of another one without a filter, over ${tables.length} tables`, '0', rows === 0)
  })

  it('hides all rows if no organization is set, and from the login without a role, although it owns the tables', async () => {
    expect(await database.scoped('', rowsOfA)).toEqual(none())
    for (const organization of ['', orgA]) {
      await login`select set_config('keystride.organization_id', ${organization}, false)`
      expect(await rowsOfA(login)).toEqual(none())
    }
    await login`select set_config('keystride.organization_id', '', false)`
  })

  it('prevents writes into another organization', async () => {
    const foreign = database.scoped(
      orgB,
      (sql) => sql`
        insert into keystride.account (organization_id, id, user_ref, type, created_at)
        values (${orgA}, ${uuid()}, 'eve', 'nominative', now())`,
    )
    await expect(foreign).rejects.toThrow('row-level security')
    const changed = await database.scoped(orgB, (sql) => sql`update keystride.member set ever_reset = true`)
    expect(changed.count).toBe(0)
    const deleted = await database.scoped(orgB, (sql) => sql`delete from keystride.session`)
    expect(deleted.count).toBe(0)
  })

  it('applies to one transaction: afterwards the connection has no role and no organization', async () => {
    const one = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
    await one.scoped(orgA, (sql) => sql`select 1`)
    await expect(one.scoped(orgA, (sql) => sql`select nonsense`)).rejects.toThrow('nonsense')
    const [row] = await one.call(
      (sql) => sql`select current_user = session_user as own, current_setting('keystride.organization_id') as org`,
    )
    expect(row).toEqual({ own: true, org: '' })
    await one.close()
  })

  it('is not the only bound: the ordinary role changes no count, no ledger and no record of actions, and others only read', async () => {
    const all = 'DELETE INSERT SELECT UPDATE'
    const rights = await database.asSystem(
      (sql) => sql<{ role: string; name: string; has: string }[]>`
        select a.grantee::regrole::text as role, c.relname as name, string_agg(a.privilege_type, ' ' order by a.privilege_type) as has
        from pg_catalog.pg_class c, aclexplode(c.relacl) a
        where c.relnamespace = 'keystride'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
          and a.grantee <> c.relowner
        group by a.grantee, c.relname order by 2`,
    )
    const fewer = (role: string) =>
      Object.fromEntries(
        rights.filter((one) => one.role === role && one.has !== all).map(({ name, has }) => [name, has]),
      )
    const others = rights.filter(({ role }) => !['keystride_app', 'keystride_system'].includes(role))
    expect(others.filter(({ has }) => has !== 'SELECT')).toEqual([])
    const attempts = ['attempt_count', 'attempt_counted', 'attempt_day', 'attempt_recent', 'user_total', 'user_totaled']
    const usage = ['api_usage', 'headcount', 'headcount_change', 'lock_tombstone', 'request_log', 'usage_event']
    const moves = ['moved_row', 'placement']
    expect(fewer('keystride_app')).toEqual({
      ...Object.fromEntries([...attempts, ...usage, ...moves].map((name) => [name, 'SELECT'])),
      admin_action: 'INSERT SELECT',
      alert_delivery: 'SELECT UPDATE',
      erasure: 'INSERT SELECT',
      notification: 'DELETE SELECT UPDATE',
      organization: 'INSERT SELECT UPDATE',
    })
    expect(fewer('keystride_system')).toMatchObject({
      admin_action: 'DELETE INSERT SELECT',
      erasure: 'INSERT SELECT',
      usage_event: 'INSERT SELECT',
    })
  })

  it('denies the ordinary role every function that works across organizations', async () => {
    const calls = [
      `select * from keystride.resolve_api_key('\\x00')`,
      `select * from keystride.find_profile_link('\\x00')`,
      `select * from keystride.find_people_and_sets('{00000000-0000-0000-0000-000000000000}', '{ada}', '{null}', '{false}')`,
      `select keystride.record_attempts(${Array(38).fill('null').join()})`,
      `select keystride.sweep_sessions(1)`,
      `select keystride.ensure_partitions(1)`,
      `select keystride.count_attempts()`,
      `select keystride.count_days()`,
      `select keystride.slide_totals()`,
      `select keystride.add_usage('[]', '[]')`,
      `select keystride.append_checkpoints()`,
      `select * from keystride.abandoned_exports()`,
      `select keystride.forget_exports(now())`,
      `select keystride.derive_notifications(null)`,
      `select keystride.note_outage(now(), now())`,
      `select * from keystride.claim_deliveries(1)`,
      `select * from keystride.outbox_state()`,
      `select keystride.forget_notifications(now())`,
      `select keystride.drop_partitions(400)`,
      `select keystride.forget_old(now(), 400)`,
      `select * from keystride.organizations_with_ended_links()`,
    ]
    for (const call of calls)
      await expect(database.scoped(orgA, (sql) => sql.unsafe(call))).rejects.toThrow('permission denied')
  })

  it('has the organization first in every primary key, unique constraint and foreign key', async () => {
    const other = await login`
      select c.conrelid::regclass::text as table, c.conname from pg_catalog.pg_constraint c
      join pg_catalog.pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
      where c.connamespace = 'keystride'::regnamespace and c.contype in ('p', 'u', 'f')
        and a.attname <> 'organization_id'`
    expect([...other]).toEqual([])
  })
})
