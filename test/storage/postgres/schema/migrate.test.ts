import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { postgresAuthentications } from '../../../../src/storage/postgres/attempt/authentication.js'
import { connectPostgres } from '../../../../src/storage/postgres/connection/client.js'
import { migrate, requireSchema } from '../../../../src/storage/postgres/schema/migrate.js'
import { shippedSchema } from '../../../../src/storage/postgres/schema/shipped-schema.js'
import { until } from '../../../patience.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import { attempt, organization, person } from '../../fixtures.js'

let fresh: FreshDatabase
beforeEach(async () => {
  fresh = await freshDatabase({ empty: true })
})
afterEach(() => fresh.drop())

describe('migrate', () => {
  it('applies everything once and nothing the second time', async () => {
    expect((await migrate(fresh.url)).length).toBeGreaterThanOrEqual(3)
    expect(await migrate(fresh.url)).toEqual([])
  })

  it('changes nothing under a newer history, and refuses a history with a gap', async () => {
    await migrate(fresh.url)
    const history = postgres(fresh.url, { max: 1, onnotice: () => {} })
    await history`insert into keystride_history.migration (name, run_on) values ('999_newer', now())`
    expect(await migrate(fresh.url)).toEqual([])
    await history`delete from keystride_history.migration where id = 2`
    await expect(migrate(fresh.url)).rejects.toThrow(/grown apart/)
    await history.end()
  })

  it('refuses a database from before the first release, and changes nothing', async () => {
    const old = postgres(fresh.url, { max: 1, onnotice: () => {} })
    await old.unsafe(`create schema keystride_history; create schema keystride; create table keystride.account (id int);
      insert into keystride.account values (1);
      create table keystride_history.migration (id serial primary key, name varchar(255) not null, run_on timestamp not null);
      insert into keystride_history.migration (name, run_on)
        values ('1763700001000_organizations', now()), ('1763700002000_members', now())`)
    const says =
      /^the database was made by a development version before 0\.1\.0, .* start with an empty database .* nothing was changed$/
    await expect(migrate(fresh.url)).rejects.toThrow(says)
    for (const newer of [true, false]) await expect(requireSchema(fresh.url, { newer })).rejects.toThrow(says)
    expect(
      await old`select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname like 'keystride%' and c.relkind = 'r' order by 1`.values(),
    ).toEqual([['account'], ['migration']])
    expect(await old`select * from keystride.account`).toHaveLength(1)
    await old.end()
  })

  it('has migrations whose names sort in the order in which they apply', async () => {
    const names = shippedSchema().migrations.map(({ name }) => name)
    expect(names.filter((name) => !/^\d{3}_[a-z]+(_[a-z]+)*$/.test(name))).toEqual([])
    expect(new Set(names.map((name) => name.slice(0, 3))).size).toBe(names.length)
  })

  it('leaves keystride_system no right to create in the schema, and the login none to call a function it does not use', async () => {
    await migrate(fresh.url)
    const sql = postgres(fresh.url, { max: 1, onnotice: () => {} })
    const [row] = await sql`select has_schema_privilege('keystride_system', 'keystride', 'create') as creates,
      has_function_privilege('keystride.keep_locks()', 'execute') as calls`
    expect(row).toEqual({ creates: false, calls: false })
    await sql.end()
  })

  it('runs concurrently: each migration is applied by one process', async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => migrate(fresh.url)))
    const applied = all.flat()
    expect(new Set(applied).size).toBe(applied.length)
    expect(applied.length).toBeGreaterThanOrEqual(3)
  })

  it('runs in several databases of one server concurrently', async () => {
    const others = [await freshDatabase({ empty: true }), await freshDatabase({ empty: true })]
    const all = await Promise.all([fresh, ...others].map(({ url }) => migrate(url)))
    for (const applied of all) expect(applied.length).toBeGreaterThanOrEqual(3)
    for (const other of others) await other.drop()
  })

  it('creates the partitions of the coming months, and an attempt is stored in that of its month', async () => {
    await migrate(fresh.url)
    const database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
    const names = await database.asSystem(
      (sql) => sql`
      select c.relname from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'keystride.authentication'::regclass`,
    )
    expect(names).toHaveLength(5)
    const made = (at: string) =>
      database.asSystem(
        async (sql) => (await sql`select keystride.ensure_partitions(3, ${at}::timestamptz) as n`)[0]?.n,
      )
    expect(await made('2031-01-31T23:59:59Z')).toBe(4)
    expect(await made('2031-02-01T00:00:00Z')).toBe(1)

    const org = await organization(database)
    const ada = await person(database, org)
    const one = attempt(ada)
    // A UUIDv7 of 2031-02-01T00:00:00.000Z: the first of its partition.
    const id = `${Date.UTC(2031, 1, 1)
      .toString(16)
      .padStart(12, '0')
      .replace(/^(.{8})/, '$1-')}-7000-8000-000000000000`
    expect(await postgresAuthentications(database).record(org, { ...one, id })).toBe('recorded')
    const [row] = await database.asSystem(
      (sql) => sql`
      select tableoid::regclass::text as partition from keystride.authentication where id = ${id}`,
    )
    expect(row).toEqual({ partition: 'keystride.authentication_2031_02' })
    await database.close()
  })

  describe('changes a table that another connection reads for long', () => {
    let dump: postgres.Sql
    let reader: postgres.Sql
    const shipped = shippedSchema()
    const more = {
      ...shipped,
      migrations: [
        ...shipped.migrations,
        { name: '999_more', text: 'alter table keystride.member add column more int' },
      ],
    }
    beforeEach(async () => {
      await migrate(fresh.url)
      dump = postgres(fresh.url, { max: 1, onnotice: () => {}, connection: { application_name: 'long dump' } })
      await dump.unsafe('begin; lock table keystride.member in access share mode')
      reader = postgres(fresh.url, { max: 1, onnotice: () => {}, connection: { statement_timeout: 5000 } })
    })
    afterEach(async () => {
      await reader.end()
      await dump.end()
    })

    it('after that one has ended, and delays no reader for long meanwhile', async () => {
      const lines: string[] = []
      const migrated = migrate(fresh.url, (line) => lines.push(line), more)
      await until(async () => lines.length > 0)
      expect(lines).toEqual([expect.stringMatching(/^the migration waits for tables .* pid \d+ \(long dump\)$/)])
      for (let n = 0; n < 300; n++) await reader`select 1 from keystride.member limit 1`
      await dump.unsafe('rollback')
      expect(await migrated).toContain('999_more')
    })

    it('not at all if it stays in use, and names the connection', async () => {
      await expect(migrate(fresh.url, () => {}, more, 500)).rejects.toThrow(
        /^the schema was not changed, because its tables are in use by pid \d+ \(long dump\): end these/,
      )
      expect(await migrate(fresh.url)).toEqual([])
    })
  })

  it('prints what an administrator must run if the login may not create roles', async () => {
    const admin = postgres(fresh.url, { max: 1, onnotice: () => {} })
    const name = `keystride_plain_${process.pid}`
    await admin.unsafe(`create role ${name} login password 'plain'`)
    await admin.unsafe(`grant create on database ${new URL(fresh.url).pathname.slice(1)} to ${name}`)
    const plain = new URL(fresh.url)
    plain.username = name
    plain.password = 'plain'
    await expect(migrate(plain.href)).rejects.toThrow(/an administrator must run once: .*grant keystride_app to/)
    await admin.unsafe(`revoke create on database ${new URL(fresh.url).pathname.slice(1)} from ${name}`)
    await admin.unsafe(`drop role ${name}`)
    await admin.end()
  })
})
