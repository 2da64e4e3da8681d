import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { migrate, requireSchema } from '../../../../src/storage/postgres/schema/migrate.js'
import { shippedSchema } from '../../../../src/storage/postgres/schema/shipped-schema.js'
import { until } from '../../../harness/patience.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'

describe('the migration of empty databases', () => {
  it('applies everything once, in one of several processes, in several databases of one server at once', async () => {
    const databases = [await freshDatabase({ empty: true }), await freshDatabase({ empty: true })]
    const applied = await Promise.all([0, 1, 0, 1, 0].map((n) => migrate(databases[n]?.url ?? '')))
    for (const n of [0, 1]) {
      const all = applied.filter((_, i) => i % 2 === n)
      expect(all.filter((one) => one.length >= 3)).toHaveLength(1)
      expect(all.flat()).toHaveLength(new Set(all.flat()).size)
      expect(await migrate(databases[n]?.url ?? '')).toEqual([])
    }
    await Promise.all(databases.map((one) => one.drop()))
  })

  it.each([
    ['of numbered', '020_organization', '030_person'],
    ['of timed', '1763700001000_organizations', '1763700002000_members'],
  ])(
    'refuses a development database %s migrations from before the first release, and changes nothing',
    async (_, one, two) => {
      const { url, drop } = await freshDatabase({ empty: true })
      const old = postgres(url, { max: 1, onnotice: () => {} })
      await old.unsafe(`create schema keystride_history; create schema keystride; create table keystride.account (id int);
      insert into keystride.account values (1);
      create table keystride_history.migration (id serial primary key, name varchar(255) not null, run_on timestamp not null);
      insert into keystride_history.migration (name, run_on)
        values ('${one}', now()), ('${two}', now())`)
      const says = /^the database was made by a development version before 0\.1\.0, .* nothing was changed$/
      await expect(migrate(url)).rejects.toThrow(says)
      for (const newer of [true, false]) await expect(requireSchema(url, { newer })).rejects.toThrow(says)
      expect(
        await old`select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname like 'keystride%' and c.relkind = 'r' order by 1`.values(),
      ).toEqual([['account'], ['migration']])
      expect(await old`select * from keystride.account`).toHaveLength(1)
      await old.end()
      await drop()
    },
  )
})

it('the migrations have names that sort in the order in which they apply', () => {
  const names = shippedSchema().migrations.map(({ name }) => name)
  expect(names.filter((name) => !/^\d{3}_[a-z]+(_[a-z]+)*$/.test(name))).toEqual([])
  expect(new Set(names.map((name) => name.slice(0, 3))).size).toBe(names.length)
})

describe('the migration of a migrated database', () => {
  let fresh: FreshDatabase
  let sql: postgres.Sql
  beforeEach(async () => {
    fresh = await freshDatabase()
    sql = postgres(fresh.url, { max: 1, onnotice: () => {} })
  })
  afterEach(async () => {
    await sql.end()
    await fresh.drop()
  })

  it('changes nothing under a newer history, and refuses a history with a gap', async () => {
    await sql`insert into keystride_history.migration (name, run_on) values ('999_newer', now())`
    expect(await migrate(fresh.url)).toEqual([])
    await sql`delete from keystride_history.migration where id = 2`
    await expect(migrate(fresh.url)).rejects.toThrow(/grown apart/)
  })

  it('leaves keystride_system no right to create in the schema, and the login none to call a function it does not use', async () => {
    const [row] = await sql`select has_schema_privilege('keystride_system', 'keystride', 'create') as creates,
      has_function_privilege('keystride.keep_locks()', 'execute') as calls`
    expect(row).toEqual({ creates: false, calls: false })
  })

  describe('changes a table that another connection reads for long', () => {
    const shipped = shippedSchema()
    const text = 'alter table keystride.member add column more int'
    const more = { ...shipped, migrations: [...shipped.migrations, { name: '999_more', text }] }
    let dump: postgres.Sql
    beforeEach(async () => {
      dump = postgres(fresh.url, { max: 1, onnotice: () => {}, connection: { application_name: 'long dump' } })
      await dump.unsafe('begin; lock table keystride.member in access share mode')
    })
    afterEach(() => dump.end())

    it('after that one has ended, and lets others read meanwhile', async () => {
      const lines: string[] = []
      const migrated = migrate(fresh.url, (line) => lines.push(line), more)
      await until(() => lines.length > 0)
      expect(lines).toEqual([expect.stringMatching(/^waiting for tables .* pid \d+ \(long dump\)$/)])
      // A reader behind a migration that keeps its place in the line would wait for the end of the dump, which comes later.
      for (let n = 0; n < 100; n++) await sql`select 1 from keystride.member limit 1`
      await dump.unsafe('rollback')
      expect(await migrated).toContain('999_more')
    })

    it('not at all if it stays in use, and names the connection', async () => {
      await expect(migrate(fresh.url, () => {}, more, 500)).rejects.toThrow(
        /^nothing was changed, because the tables are in use by pid \d+ \(long dump\): end these/,
      )
      expect(await migrate(fresh.url)).toEqual([])
    })
  })
})

it('the migration prints what an administrator must run if the login may not create roles', async () => {
  const { url, drop } = await freshDatabase({ empty: true })
  const admin = postgres(url, { max: 1, onnotice: () => {} })
  const name = `keystride_plain_${process.pid}`
  await admin.unsafe(`create role ${name} login password 'plain'`)
  await admin.unsafe(`grant create on database ${new URL(url).pathname.slice(1)} to ${name}`)
  const plain = Object.assign(new URL(url), { username: name, password: 'plain' })
  await expect(migrate(plain.href)).rejects.toThrow(/an administrator must run once: .*grant keystride_app to/)
  await admin.unsafe(`revoke create on database ${new URL(url).pathname.slice(1)} from ${name}`)
  await admin.unsafe(`drop role ${name}`)
  await admin.end()
  await drop()
})
