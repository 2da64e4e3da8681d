import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { debianPostgres, whyNoStandby } from '../../bench/shared/debian-postgres.js'
import { backupRoleSql } from '../../src/storage/postgres/schema/backup-role.js'
import { migrate } from '../../src/storage/postgres/schema/migrate.js'

const why = whyNoStandby()
if (why !== null) console.warn(`\n*** ${why} ***\n`)

const page = readFileSync(fileURLToPath(new URL('../../docs/deployment.md', import.meta.url)), 'utf8')
const [block = ''] = [...page.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = '']) => sql)

describe.skipIf(why !== null)('an empty server with the statements of docs/deployment.md', { timeout: 90_000 }, () => {
  const debian = debianPostgres()
  afterAll(() => debian.remove())

  it('is migrated by a login that is no superuser, may be backed up, and may be watched', async () => {
    const server = await debian.serve(await debian.initialize('data'))
    // The first login of the cluster has the name that the page gives to the service's.
    await server.run('create role administrator superuser login')
    const client = new pg.Client({ connectionString: server.url.replace('keystride@', 'administrator@') })
    await client.connect()
    await client.query('alter role keystride rename to bootstrap')
    const statements = block.split(';').filter((statement) => statement.trim() !== '')
    expect(statements).toHaveLength(6)
    for (const statement of statements) await client.query(statement)
    const url = server.url.replace(/postgres$/, 'keystride')

    expect((await migrate(url)).length).toBeGreaterThan(10)
    expect(await backupRoleSql(url)).toBeNull()
    const { rows } = await client.query(
      `select rolsuper, rolcreaterole, rolbypassrls, pg_has_role('keystride', 'pg_monitor', 'member') as monitors
       from pg_roles where rolname = 'keystride'`,
    )
    expect(rows).toEqual([{ rolsuper: false, rolcreaterole: false, rolbypassrls: false, monitors: true }])
    await client.end()
    await server.kill()
  })
})
