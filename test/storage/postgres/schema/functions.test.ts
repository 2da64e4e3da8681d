import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrate, requireSchema } from '../../../../src/storage/postgres/schema/migrate.js'
import { type ShippedSchema, shippedSchema } from '../../../../src/storage/postgres/schema/shipped-schema.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'

const silent = () => {}
const shipped = shippedSchema()

let fresh: FreshDatabase
let client: pg.Client
async function begin() {
  fresh = await freshDatabase()
  client = new pg.Client({ connectionString: fresh.url })
  await client.connect()
}
async function end() {
  await client.end()
  await fresh.drop()
}

/** The shipped schema at another version, with these texts in place of the functions' own; null removes a function. */
const version = (name: string, texts: Record<string, string | null> = {}): ShippedSchema => ({
  ...shipped,
  version: name,
  functions: Object.entries({
    ...Object.fromEntries(shipped.functions.map((one) => [one.name, one.text])),
    ...texts,
  }).flatMap(([name, text]) => (text === null ? [] : [{ name, text }])),
})

const windows = (body: string, parameters = '') => `-- A test's.
create or replace function keystride.totaled_windows(${parameters}) ${body};
revoke execute on function keystride.totaled_windows from public;
grant execute on function keystride.totaled_windows to session_user;`
/** Owner, comment, declaration, language with security and search path, further settings, body, callers. */
const FORM =
  /^(?:set local role \w+;\n\n)?(?:-- .+\n)+create or replace (?:function|procedure) keystride\.(\w+)\([^$]*\nlanguage \w+(?: (?:stable|immutable|volatile|parallel safe|security definer|set search_path = pg_catalog, pg_temp))*\n(?: {2}(?:--|set) .*\n)*as \$\$\n[\s\S]*?\n\$\$;\nrevoke execute on \w+ keystride\.\1 from public(?:, keystride_app)?;\n(?:grant execute on \w+ keystride\.\1 to .+;\n)?$/
const textOf = (name: string) => shipped.functions.find((one) => one.name === name)?.text ?? ''

async function signatures(name: string): Promise<string[]> {
  const { rows } = await client.query<{ found: string }>(
    `select concat(pg_get_function_identity_arguments(oid), ' > ', pg_get_function_result(oid), ' ', proacl) as found
     from pg_proc where pronamespace = 'keystride'::regnamespace and proname = $1`,
    [name],
  )
  return rows.map(({ found }) => found)
}
const windowsNow = async () => (await client.query('select keystride.totaled_windows() as days')).rows[0]?.days

describe('functions of the schema', () => {
  beforeAll(begin)
  afterEach(() => migrate(fresh.url, silent))
  afterAll(end)

  // Regression: on a server that compiles plans, a background job took more than five seconds of a core.
  it('are without jit where they forbid sequential scans', async () => {
    const { rows } = await client.query<{ name: string; bare: boolean }>(`
      select proname as name, not 'jit=off' = any (proconfig) as bare from pg_proc
      where pronamespace = 'keystride'::regnamespace and 'enable_seqscan=off' = any (proconfig) order by 1`)
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.filter(({ bare }) => bare)).toEqual([])
  })

  it('are in one file each, which has their name and the form of all files', async () => {
    const { rows } = await client.query<{ name: string }>(
      `select proname as name from pg_proc where pronamespace = 'keystride'::regnamespace order by proname collate "C"`,
    )
    expect(rows.map(({ name }) => name)).toEqual(shipped.functions.map(({ name }) => name).sort())
    expect(shipped.functions.filter(({ name, text }) => FORM.exec(text)?.[1] !== name).map(({ name }) => name)).toEqual(
      [],
    )
  })

  it('are applied again when their text has changed, and only these', async () => {
    const versions = () =>
      client.query('select oid, ctid from pg_proc where pronamespace = $1::regnamespace', ['keystride'])
    const before = await versions()
    const next = version(shipped.version, {
      totaled_windows: windows('returns int[] language sql immutable return array[1]'),
    })
    expect(await migrate(fresh.url, silent, next)).toEqual(['1 functions'])
    expect(await windowsNow()).toEqual([1])
    const after = await versions()
    expect(after.rows.map(({ oid }) => oid).sort()).toEqual(before.rows.map(({ oid }) => oid).sort())
    const untouched = after.rows.filter((row) =>
      before.rows.some(({ oid, ctid }) => oid === row.oid && ctid === row.ctid),
    )
    expect(untouched).toHaveLength(before.rows.length - 1)
    expect(await migrate(fresh.url, silent, next)).toEqual([])
  })

  it('may be called only by the roles that their file grants it to, whatever an earlier version granted', async () => {
    const text = textOf('totaled_windows')
    const open = text.replace(
      /^grant .*$/m,
      'grant execute on function keystride.totaled_windows to public, keystride_app;',
    )
    await migrate(fresh.url, silent, version(shipped.version, { totaled_windows: open }))
    expect(await signatures('totaled_windows')).toEqual([expect.stringMatching(/[{,]=X.*keystride_app=X/)])
    await migrate(fresh.url, silent)
    expect(await signatures('totaled_windows')).toEqual([
      expect.stringMatching(/^ > integer\[\] \{(\w+)=X\/\1,keystride_system=X\/\1\}$/),
    ])
  })

  it('replace a function with other arguments, another result or another owner', async () => {
    for (const text of [
      windows('returns int[] language sql immutable return array[1]', 'n int default 1'),
      windows('returns bigint[] language sql immutable return array[1::bigint]', 'n int default 1'),
      `set local role keystride_system; ${windows('returns bigint[] language sql immutable return array[1::bigint]', 'm int default 1')}`,
    ]) {
      await migrate(fresh.url, silent, version(shipped.version, { totaled_windows: text }))
      expect(await signatures('totaled_windows')).toHaveLength(1)
      expect((await windowsNow()).map(Number)).toEqual([1])
    }
    await migrate(fresh.url, silent)
    expect(await windowsNow()).toEqual([7, 30, 90])
  })

  it('are dropped when their file is gone; others in the schema stay', async () => {
    await client.query(`create function keystride.a_stranger() returns int language sql return 1`)
    const more = version(shipped.version, {
      one_more: `create or replace function keystride.one_more() returns int language sql return 1;`,
    })
    await migrate(fresh.url, silent, more)
    expect(await signatures('one_more')).toHaveLength(1)
    expect(await migrate(fresh.url, silent)).toEqual(['1 functions'])
    expect(await signatures('one_more')).toEqual([])
    expect(await signatures('a_stranger')).toHaveLength(1)
  })

  it('stay unchanged if one of them cannot be applied, and the message names its file', async () => {
    const broken = version(shipped.version, {
      append_checkpoints: `${textOf('append_checkpoints')}-- changed`,
      counts: windows('x').replaceAll('totaled_windows', 'counts'),
    })
    const { rows } = await client.query('select name, sha256 from keystride_history.function order by name')
    await expect(migrate(fresh.url, silent, broken)).rejects.toThrow(/^counts\.sql: syntax error/)
    expect((await client.query('select name, sha256 from keystride_history.function order by name')).rows).toEqual(rows)
    const unknown = 'returns int[] language sql stable as $$ select array_agg(nothing) from keystride.member $$'
    const unchecked = version(shipped.version, { totaled_windows: windows(unknown) })
    await expect(migrate(fresh.url, silent, unchecked)).rejects.toThrow(
      /^totaled_windows\.sql: column "nothing" does not exist/,
    )
    expect(await windowsNow()).toEqual([7, 30, 90])
  })

  it('may call each other in any order, in their bodies and signatures', async () => {
    const sql = (name: string, parameters: string, body: string) =>
      `create or replace function keystride.${name}(${parameters}) returns int language sql as $$ select ${body} $$;`
    const several = version(shipped.version, {
      a_first: sql('a_first', 'one int', 'keystride.b_second(null::keystride.member) + keystride.c_third()'),
      b_second: sql('b_second', 'one keystride.member', 'keystride.c_third()'),
      c_third: sql('c_third', '', '1'),
    })
    expect(await migrate(fresh.url, silent, several)).toEqual(['3 functions'])
    expect((await client.query('select keystride.a_first(1) as n')).rows).toEqual([{ n: 2 }])
  })
})

describe('functions of two versions', () => {
  const of = (name: string, days: number) =>
    version(name, { totaled_windows: windows(`returns int[] language sql immutable return array[${days}]`) })
  const [older, newer] = [of('0.9.1', 1), of('0.10.0', 2)]

  beforeEach(begin)
  afterEach(end)

  it('become those of the newer one, and an older process that starts later, or at the same time, keeps these', async () => {
    await migrate(fresh.url, silent, older)
    expect(await windowsNow()).toEqual([1])
    expect(await migrate(fresh.url, silent, newer)).toEqual(['1 functions'])
    for (const one of [older, newer]) expect(await migrate(fresh.url, silent, one)).toEqual([])
    expect(await windowsNow()).toEqual([2])
    await Promise.all([older, of('0.11.0', 3), older].map((one) => migrate(fresh.url, silent, one)))
    expect(await windowsNow()).toEqual([3])
  })

  it('of one version are those of the last start, unless the database has a migration that this one does not know', async () => {
    await migrate(fresh.url, silent, newer)
    await migrate(fresh.url, silent, of('0.10.0-rc.1', 3))
    expect(await windowsNow()).toEqual([3])
    await client.query(`insert into keystride_history.migration (name, run_on) values ('999_newer', now())`)
    expect(await migrate(fresh.url, silent, newer)).toEqual([])
    expect(await windowsNow()).toEqual([3])
  })

  it('stop a service without migrations if they are older, and a command also if they are newer', async () => {
    const wants = (shipped: ShippedSchema, newer: boolean) => requireSchema(fresh.url, { newer, shipped })
    await migrate(fresh.url, silent, older)
    for (const accepted of [true, false]) {
      await expect(wants(older, accepted)).resolves.toBeUndefined()
      await expect(wants(newer, accepted)).rejects.toThrow(
        'the database\'s functions are of version 0.9.1, wanted are those of 0.10.0: run "keystride migrate" first',
      )
    }
    await migrate(fresh.url, silent, newer)
    await expect(wants(older, true)).resolves.toBeUndefined()
    await expect(wants(older, false)).rejects.toThrow(
      "the database's functions are of version 0.10.0, newer than the wanted 0.9.1: use that version of Keystride",
    )
  })
})
