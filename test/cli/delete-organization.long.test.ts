import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createClient } from '@redis/client'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectPostgres, type Database, type Transaction } from '../../src/storage/postgres/connection/client.js'
import { type Keystride, keystrideHere } from '../harness/command.js'
import { enroll } from '../harness/enrolled.js'
import { until } from '../harness/patience.js'
import { sharedBackEnds, startService, type TestService } from '../harness/service.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'

const command = fileURLToPath(new URL('../../bin/keystride.mjs', import.meta.url))
const redisUrl = sharedBackEnds.at(-1)?.redisUrl ?? null

let fresh: FreshDatabase
let service: TestService
let database: Database
let keystride: Keystride
/** Starts the service without background jobs, because these change rows of every organization. */
const start = async () => {
  service = await startService(fresh.url, { redisUrl, more: { ROLES: 'core,links,dashboard' } })
}
beforeAll(async () => {
  fresh = await freshDatabase()
  await start()
  database = connectPostgres({ url: fresh.url, max: 3, patience: 10 })
  // With the patience of the tested service, a deletion would wait longer for the statements of requests.
  keystride = keystrideHere({ ...service.env, STORE_PATIENCE: '1' })
})
afterAll(async () => {
  await database?.close()
  await service?.close()
  await fresh?.drop()
})

/** The service, called with another organization's key. */
function as(apikey: string): TestService {
  const call: TestService['call'] = (method, path, options) =>
    service.call(method, path, { ...options, headers: { ...options?.headers, apikey } })
  const bootstrap: TestService['bootstrap'] = async (userRef) => {
    const answer = await call('GET', `/users/${userRef}`)
    return { ...answer, session: answer.headers.get('x-service-session') ?? '' }
  }
  return { ...service, apikey, call, bootstrap }
}

/** An organization with rows in every table. */
async function populated(name: string): Promise<{ organizationId: string; apikey: string }> {
  const made = await service.another(name)
  const own = as(made.apikey)
  const dashboard = (path: string, body: unknown) =>
    service.dashboard('POST', path, { body, apikey: made.apikey }).then(({ status }) => status)
  const { session, ...ann } = await enroll(own, 'ann')
  await own.call('PUT', '/users/ann/security-code', { session, body: { securityCode: '749205' } })
  await own.call('POST', '/users/ann/verify', { session, body: ann.fresh() })
  const gone = await enroll(own, 'gone', 1)
  await own.call('PUT', '/users/gone/security-code', { session: gone.session, body: { securityCode: '749205' } })
  await own.call('POST', '/users/gone/verify', { session: gone.session, body: { securityCode: '112358' } })
  await own.call('DELETE', '/users/gone')
  await own.call('POST', '/organization/typing-words', { body: { word: `${name}word`, language: 'en' } })
  await service.callLinks('POST', '/api/links/reset-profile/ann', { headers: { apikey: made.apikey }, body: {} })
  const archive = { date_from: '2026-01-01T00:00:00Z', date_to: '2026-01-02T00:00:00Z' }
  expect(await dashboard('/management/export-log', archive)).toBe(202)
  await database.asSystem((sql) => insertBackgroundRows(sql, made.organizationId))
  return made
}

/** Inserts rows that background jobs or external servers cause otherwise. */
async function insertBackgroundRows(sql: Transaction, id: string): Promise<void> {
  await sql`
    insert into keystride.session (organization_id, user_ref, sha256, member_ref, expires_at)
    values (${id}, 'ann', sha256(${id}::text::bytea), 'ann', now() + interval '1 hour')`
  await sql`
    insert into keystride.refused_pattern (organization_id, member_id, id, generation, sealed, seen_at)
    select organization_id, id, gen_random_uuid(), 0, 'sealed', now() from keystride.member where organization_id = ${id}`
  await sql`
    insert into keystride.sso_artifact (organization_id, kind, sha256, sealed, expires_at)
    values (${id}, 'Code', sha256(${id}::text::bytea), 'sealed', now() + interval '1 hour')`
  await sql`
    insert into keystride.one_time_password (organization_id, user_ref, tries_left, expires_at, sent_at, wrong_since)
    values (${id}, 'ann', 3, now(), '{}', now())`
  await sql`
    insert into keystride.sso_key (organization_id, id, follows, sealed, signs_from)
    values (${id}, gen_random_uuid(), gen_random_uuid(), 'sealed', now())`
  await sql`
    insert into keystride.sso_stranger (organization_id, member_id)
    select organization_id, id from keystride.member where organization_id = ${id}`
  await sql`
    insert into keystride.sso_account (organization_id, issuer, sha256, user_ref)
    values (${id}, 'https://up.example.org', sha256(${id}::text::bytea), 'ann')`
  await sql`insert into keystride.alerting (organization_id, derived_until) values (${id}, now())`
  await sql`insert into keystride.alert_channel (organization_id, channel, settings) values (${id}, 'email', '{}')`
  await sql`
    insert into keystride.notification (organization_id, id, event, kind, at)
    values (${id}, gen_random_uuid(), 'made', 'bot', now())`
  await sql`
    insert into keystride.alert_delivery (organization_id, id, notification_id, channel)
    select organization_id, gen_random_uuid(), id, 'email' from keystride.notification where organization_id = ${id}`
  await sql`
    insert into keystride.alert_attempt select organization_id, id, now(), 'delivered', 1 from keystride.alert_delivery
    where organization_id = ${id}`
  await sql`
    insert into keystride.export_piece select organization_id, id, 1, 1, 'sealed' from keystride.export_archive
    where organization_id = ${id}`
  await sql`
    insert into keystride.admin_action select organization_id, gen_random_uuid(), now(), id, user_ref, '', 'RESET',
      gen_random_uuid(), gen_random_uuid(), null from keystride.account where organization_id = ${id}`
  await sql`insert into keystride.api_usage values (${id}, '2026-01-01', 'other', 1)`
  await sql`insert into keystride.request_log values (${id}, gen_random_uuid(), 'core', 'get', '/status', 200, 1)`
  for (const table of ['attempt_count', 'attempt_day', 'attempt_recent'])
    await sql`
      insert into keystride.${sql(table)} values (${id}, 'all', '2026-01-01', '', 1, 1, 0, 0, 0, 0, 0, 0, 0)`
  await sql`insert into keystride.attempt_counted (organization_id, until) values (${id}, now()) on conflict do nothing`
  await sql`insert into keystride.user_totaled values (${id}, 7, now()) on conflict do nothing`
  await sql`insert into keystride.headcount_change (organization_id) values (${id})`
  await sql`insert into keystride.placement (organization_id, state, other) values (${id}, 'left', 'two')`
  await sql`insert into keystride.moved_row (organization_id, relation, key) values (${id}, 'policy', '{}')`
}

/** The number and checksum of the rows that contain the organization's id, by table, for every table. */
async function rowsOf(organizationId: string): Promise<Record<string, string>> {
  const own = await database.asSystem(async (sql) => {
    const tables = await sql<{ name: string }[]>`
      select relname as name from pg_class where relkind in ('r', 'p') and not relispartition
        and relnamespace = 'keystride'::regnamespace`
    const sums: Record<string, string> = {}
    for (const { name } of tables) {
      const [row] = await sql`
        select count(*) || ' ' || md5(coalesce(string_agg(t::text, '' order by t::text), '')) as sum
        from keystride.${sql(name)} t where t::text like ${`%${organizationId}%`}`
      sums[name] = String(row?.sum)
    }
    return sums
  })
  const [jobs] = await database.call(
    (sql) => sql`select count(*)::text as n from pgboss.job where data::text like ${`%${organizationId}%`}`,
  )
  return { ...own, 'pgboss.job': `${jobs?.n} jobs` }
}

async function redisKeysOf(organizationId: string): Promise<string[]> {
  if (redisUrl === null) return []
  const client = await createClient({ url: redisUrl }).connect()
  const found: string[] = []
  for await (const keys of client.scanIterator({ MATCH: `*${organizationId}*`, COUNT: 1000 })) found.push(...keys)
  client.destroy()
  return found
}

/** Runs `organization delete` with `lines` on standard input. */
const deleteAnswering = (organizationId: string, lines: string) =>
  new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
    const env = { ...process.env, ...service.env, STORE_PATIENCE: '1' }
    const child = execFile(
      process.execPath,
      [command, 'organization', 'delete', organizationId],
      { env },
      (error, stdout, stderr) => resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
    child.stdin?.end(lines)
  })

const counts = (rows: Record<string, string>) => Object.entries(rows).map(([name, sum]) => [name, sum.split(' ')[0]])

describe('keystride organization delete', () => {
  const isGone = async (organizationId: string) =>
    expect(counts(await rowsOf(organizationId)).filter(([, n]) => n !== '0')).toEqual([])

  it('deletes every row and Redis key of the organization, and changes no row of another', async () => {
    const [gone, kept] = [await populated('gone'), await populated('kept')]
    expect(counts(await rowsOf(gone.organizationId)).filter(([, n]) => n === '0')).toEqual([])
    // Flushes the usage counts.
    await service.close()
    const before = await rowsOf(kept.organizationId)
    const keys = await redisKeysOf(kept.organizationId)
    if (redisUrl !== null) expect((await redisKeysOf(gone.organizationId)).length).toBeGreaterThan(0)

    const ran = await keystride('organization', 'delete', gone.organizationId, '--yes')
    expect(ran).toEqual({ status: 0, stdout: 'deleted "gone"\n', stderr: '' })
    await isGone(gone.organizationId)
    expect(await redisKeysOf(gone.organizationId)).toEqual([])
    expect(await rowsOf(kept.organizationId)).toEqual(before)
    expect((await redisKeysOf(kept.organizationId)).sort()).toEqual(keys.sort())

    await start()
    expect((await as(kept.apikey).call('GET', '/users/ann')).status).toBe(200)
    expect((await as(gone.apikey).call('GET', '/users/ann')).status).toBe(401)
    expect((await keystride('organization', 'delete', gone.organizationId, '--yes')).status).toBe(1)
  })

  it('deletes an organization for which a job inserts a row at the same time', async () => {
    const { organizationId } = await service.another('of a job')
    const job = new pg.Client({ connectionString: fresh.url })
    await job.connect()
    await job.query('begin')
    await job.query('set local role keystride_system')
    await job.query(
      `insert into keystride.alerting (organization_id, derived_until) values ('${organizationId}', now())`,
    )
    await job.query('reset role')
    const ran = keystride('organization', 'delete', organizationId, '--yes')
    await until(async () => {
      await job.query('select pg_stat_clear_snapshot()')
      const waiting = await job.query(`
        select from pg_stat_activity where wait_event_type = 'Lock' and query like '%delete from keystride.organization%'`)
      return waiting.rowCount === 1
    })
    await job.query('commit')
    await job.end()
    expect(await ran).toMatchObject({ status: 0 })
    await isGone(organizationId)
  })

  it('asks for the organization’s name, and deletes nothing without it', async () => {
    const { organizationId } = await service.another('Acme & Sons')
    const before = await rowsOf(organizationId)
    for (const lines of ['', 'yes\n', 'acme & sons\n']) {
      const { status, stdout, stderr } = await deleteAnswering(organizationId, lines)
      expect([lines, status, stdout]).toEqual([lines, 1, ''])
      expect(stderr).toContain('This deletes "Acme & Sons" with 0 accounts and 0 users.')
      expect(stderr).toContain('keystride: that is not its name: nothing was deleted\n')
    }
    expect(await rowsOf(organizationId)).toEqual(before)
    expect(await deleteAnswering(organizationId, 'Acme & Sons\n')).toMatchObject({ status: 0 })
    await isGone(organizationId)
  })

  it('continues after an interruption, and deletes many accounts in batches', async () => {
    const { organizationId } = await populated('halfway')
    // The state after a kill between two batches.
    await database.asSystem(async (sql) => {
      for (const table of [
        'api_key',
        'replay_mark',
        'comparison_set',
        'reference_pattern',
        'profile_link',
        'session',
        'member',
      ])
        await sql`delete from keystride.${sql(table)} where organization_id = ${organizationId}`
      await sql`
        insert into keystride.account (organization_id, id, user_ref, type, created_at)
        select ${organizationId}, gen_random_uuid(), 'user-' || n, 'nominative', now() from generate_series(1, 1200) n`
    })
    expect(await keystride('organization', 'delete', organizationId, '--yes')).toMatchObject({ status: 0 })
    await isGone(organizationId)
  })

  it('is the only way to delete rows of the ledger, of erasures and of organizations', async () => {
    const { organizationId } = await populated('ledger')
    const deletion = (table: string) => (sql: Transaction) =>
      sql`delete from keystride.${sql(table)} where organization_id = ${organizationId}`
    for (const table of ['usage_event', 'erasure'])
      await expect(database.asSystem(deletion(table))).rejects.toThrow(`permission denied for table ${table}`)
    await expect(database.scoped(organizationId, deletion('organization'))).rejects.toThrow('permission denied')
    // The trigger refuses even a role with the delete privilege, which the table's owner grants here.
    await database.call((sql) => sql`grant delete on keystride.usage_event to keystride_system`)
    await expect(database.asSystem(deletion('usage_event'))).rejects.toThrow('usage_event is append-only')
    await database.call((sql) => sql`revoke delete on keystride.usage_event from keystride_system`)
  })
})
