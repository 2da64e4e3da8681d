import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { postgresSessions } from '../../../../src/storage/postgres/attempt/session.js'
import { connectPostgres, type Database, requireSettings } from '../../../../src/storage/postgres/connection/client.js'
import { poolerBetween } from '../../../../src/storage/postgres/connection/pooler.js'
import { migrate } from '../../../../src/storage/postgres/schema/migrate.js'
import { unzipped } from '../../../api/dashboard/archive-file.js'
import { enroll, stranger } from '../../../harness/enrolled.js'
import { organization } from '../../../harness/fixtures.js'
import { until } from '../../../harness/patience.js'
import { startService, type TestService } from '../../../harness/service.js'
import { type FreshDatabase, freshDatabase, HOSTILE_SETTINGS } from '../../../servers/database.js'
import { type Pgbouncer, startPgbouncer, whyNoPgbouncer } from '../../../servers/pgbouncer.js'
import { sessionContract } from '../../session.contract.js'

const why = whyNoPgbouncer()
if (why !== null) console.warn(`\n*** ${why} ***\n`)

describe.skipIf(why !== null)('behind a PgBouncer in transaction mode', () => {
  let pooler: Pgbouncer
  let fresh: FreshDatabase
  let url: string
  let database: Database
  let organizationId: string
  beforeAll(async () => {
    fresh = await freshDatabase()
    pooler = await startPgbouncer(inject('databaseUrl'))
    url = pooler.through(fresh.url)
    database = connectPostgres({ url, max: 12, prepare: false, patience: 10 })
    organizationId = await organization(database)
  })
  afterAll(async () => {
    await database?.close()
    await fresh?.drop()
    await pooler?.close()
  })

  describe('sessions', () => {
    sessionContract(
      () => postgresSessions(database),
      () => organizationId,
    )
  })

  it('a pooler is detected, and the server itself is not taken for one', async () => {
    expect(await poolerBetween(url)).toBe(true)
    expect(await poolerBetween(fresh.url)).toBe(false)
  })

  it('every transaction sees its own organization, on any connection', async () => {
    const organizations = [organizationId, await organization(database), await organization(database)]
    const seen = await Promise.all(
      Array.from({ length: 150 }, async (_, n) => {
        const id = organizations[n % 3] ?? ''
        const rows = await database.scoped(
          id,
          (sql) => sql<{ id: string }[]>`select organization_id as id from keystride.organization`,
        )
        return rows.length === 1 && rows[0]?.id === id
      }),
    )
    expect(seen.every((right) => right)).toBe(true)
    const bare = await Promise.all(
      Array.from({ length: 9 }, () =>
        database.call(
          (sql) => sql`
          select current_user = session_user as own, current_setting('keystride.organization_id', true) as org,
            (select count(*)::int from keystride.organization) as visible`,
        ),
      ),
    )
    for (const [row] of bare) expect([row?.own, row?.org || '', row?.visible]).toEqual([true, '', 0])
  })

  it('an empty database is migrated by several processes, each migration by one, and no lock is left', async () => {
    const empty = await freshDatabase({ empty: true })
    const all = await Promise.all(Array.from({ length: 4 }, () => migrate(pooler.through(empty.url))))
    expect(new Set(all.flat()).size).toBe(all.flat().length)
    expect(all.filter((applied) => applied.length > 0)).toHaveLength(1)
    const direct = new pg.Client({ connectionString: empty.url })
    await direct.connect()
    const { rows } = await direct.query(`
      select * from pg_locks where locktype = 'advisory'
        and database = (select oid from pg_database where datname = current_database())`)
    await direct.end()
    expect(rows).toEqual([])
    await empty.drop()
  })

  it('settings that it does not pass on are set for the login by a migration, and stop a start until then', async () => {
    const other = await freshDatabase({ empty: true, settings: HOSTILE_SETTINGS })
    const through = pooler.through(other.url)
    const started = async () => {
      const sessions = connectPostgres({ url: through, max: 2, prepare: false, patience: 10 })
      await requireSettings(sessions).finally(() => sessions.close())
    }
    const refused =
      /default_transaction_isolation is serializable instead of read committed.*: run "keystride migrate", then end the connections/
    await expect(started()).rejects.toThrow(refused)
    await expect(started()).rejects.not.toThrow(/TimeZone|DateStyle/)
    await expect(migrate(through)).rejects.toThrow(
      /They are set for the login now: end the connections .*run this again/,
    )
    await pooler.kill()
    await pooler.restart()
    expect(await migrate(through)).not.toEqual([])
    await started()
    await other.drop()
  })

  describe('the service', () => {
    let own: FreshDatabase
    let service: TestService
    beforeAll(async () => {
      own = await freshDatabase()
      service = await startService(pooler.through(own.url))
    })
    afterAll(async () => {
      await service?.close()
      await own?.drop()
    })
    const verify = async (userRef: string, body: unknown) => {
      const { session } = await service.bootstrap(userRef)
      return (await service.call('POST', `/users/${userRef}/verify`, { session, body })).json
    }

    it('enrolls, judges typing and codes, exports and forgets', async () => {
      const ann = await enroll(service, 'ann')
      expect((await verify('ann', ann.fresh())).action).toBe('verified')
      expect((await verify('ann', stranger())).action).toBe('rejected')
      const { session } = await service.bootstrap('ann')
      const code = { securityCode: '749205' }
      expect((await service.call('PUT', '/users/ann/security-code', { session, body: code })).status).toBe(200)
      expect((await verify('ann', code)).authentication.authMethod).toBe('security_code')

      const window = { date_from: new Date(Date.now() - 3_600_000), date_to: new Date(Date.now() + 60_000) }
      const { json } = await service.dashboard('POST', '/management/export-log', { body: window })
      const archives = async () => (await service.dashboard('POST', '/management/logs-archives')).json.data
      await until(async () => (await archives())[0].status === 'ready')
      const answer = await fetch(`${service.core.replace('/core', '/dashboard')}/management/download-archive`, {
        method: 'POST',
        headers: { apikey: service.apikey, 'content-type': 'application/json' },
        body: JSON.stringify({ id: json.id }),
      })
      const { content } = unzipped(new Uint8Array(await answer.arrayBuffer()))
      // The header, three attempts, and the end of the last line.
      expect(content.toString().split('\r\n')).toHaveLength(5)

      expect((await service.call('DELETE', '/users/ann')).status).toBe(200)
      expect((await service.bootstrap('ann')).status).toBe(404)
    })

    it('refuses while the pooler is away and recovers when it is back', async () => {
      await pooler.kill()
      await until(async () => (await service.call('GET', '/status')).json.status === 'NOK')
      expect(await service.call('GET', '/users/ann')).toMatchObject({ status: 503, json: { reason: 'api-failed' } })
      await pooler.restart()
      await until(async () => (await service.call('GET', '/status')).json.status === 'OK')
      expect((await service.bootstrap('ann')).status).toBe(404)
    })
  })
})
