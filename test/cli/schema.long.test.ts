import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startProcess } from '../faults/service-process.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { type Keystride, keystrideWith } from './command.js'

let fresh: FreshDatabase
let env: Record<string, string>
let keystride: Keystride
beforeEach(async () => {
  fresh = await freshDatabase({ empty: true })
  env = { DATABASE_URL: fresh.url, ENCRYPTION_KEY: Buffer.alloc(32, 3).toString('base64') }
  keystride = keystrideWith(env)
})
afterEach(() => fresh.drop())

async function query<Row>(text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: fresh.url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

const schemaObjects = () =>
  query(`select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema'
    union all select nspname, null from pg_namespace where nspname like 'keystride%' or nspname = 'pgboss'`)

const forgetLast = () =>
  query<{ name: string }>(`delete from keystride_history.migration
    where id = (select max(id) from keystride_history.migration) returning name`)

describe('the database schema', () => {
  it.each([
    [['config', 'check', '--connect']],
    [['organization', 'list']],
    [['organization', 'create', 'Acme']],
    [['key', 'rotate']],
    [['erasures', 'export']],
  ])('%j refuses an empty database, and creates nothing in it', async (args) => {
    const { status, stderr } = await keystride(...args)
    expect(status).toBe(1)
    expect(stderr).toMatch(
      /^keystride: the database has no schema of Keystride, wanted is \d+_\S+: run "keystride migrate" first\n$/,
    )
    expect(await schemaObjects()).toEqual([])
  })

  it('stops commands other than migrate if it is older or newer than expected', async () => {
    expect((await keystride('migrate')).stdout).toMatch(/^Applied: /)
    expect((await keystride('organization', 'list')).status).toBe(0)
    const [last] = await forgetLast()
    const older = await keystride('config', 'check', '--connect')
    expect(older.status).toBe(1)
    expect(older.stderr).toMatch(
      new RegExp(
        `^keystride: the database's schema is at \\d+_\\S+, wanted is ${last?.name}: run "keystride migrate" first\n$`,
      ),
    )
    await query(`insert into keystride_history.migration (name, run_on)
      values ('${last?.name}', now()), ('9999999999999_newer', now())`)
    const newer = await keystride('organization', 'list')
    expect(newer.status).toBe(1)
    expect(newer.stderr).toMatch(/is at 9999999999999_newer, newer than the wanted /)
  })

  it('stops commands other than migrate if the job queue has an older schema', async () => {
    await keystride('migrate')
    await query('update pgboss.version set version = version - 1')
    const older = await keystride('organization', 'list')
    expect(older.status).toBe(1)
    expect(older.stderr).toBe(
      'keystride: the schema of the job queue is at another version: run "keystride migrate" first\n',
    )
  })

  it('must be migrated or newer for a service with MIGRATE=off, which otherwise names the command to run', async () => {
    const off = { ...env, MIGRATE: 'off' }
    for (const processes of ['1', '2'])
      await expect(startProcess({ ...off, PROCESSES: processes })).rejects.toThrow(
        /has no schema of Keystride, wanted is \d+_\S+: run "keystride migrate" first/,
      )
    expect(await schemaObjects()).toEqual([])
    await keystride('migrate')
    await query(`insert into keystride_history.migration (name, run_on) values ('9999999999999_newer', now())`)
    const service = await startProcess(off)
    expect((await fetch(`${service.core}/status`)).status).toBe(200)
    expect((await service.stop()).status).toBe(0)
  })
})
