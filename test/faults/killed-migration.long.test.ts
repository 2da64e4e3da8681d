import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { expect, it } from 'vitest'
import { migrate } from '../../src/storage/postgres/schema/migrate.js'
import { figure, LONG } from '../harness/figure.js'
import { until } from '../harness/patience.js'
import { startProxy } from '../harness/tcp-proxy.js'
import { startChild } from '../servers/child.js'
import { freshDatabase } from '../servers/database.js'

const KILLS = LONG ? 50 : 4
const migration = fileURLToPath(new URL('../../build/src/storage/postgres/schema/migrate.js', import.meta.url))

/** A process that ends after its migration. */
function migrating(url: string) {
  const script = `import { migrate } from ${JSON.stringify(migration)}
    await migrate(${JSON.stringify(url)})`
  const child = startChild(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
  return { child, gone: once(child, 'exit'), ended: () => child.exitCode !== null || child.signalCode !== null }
}

/** The schema as lines: columns, constraints, indexes, functions, triggers, policies, rights. */
const SCHEMA = `
  with mine as (select oid from pg_namespace where nspname in ('keystride', 'keystride_history', 'pgboss'))
  select format('%s.%s %s %s %s', c.oid::regclass, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
      pg_get_expr(d.adbin, d.adrelid)) as line
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum where c.relnamespace in (select oid from mine)
  union all select format('%s %s %s', c.oid::regclass, c.relkind, c.relacl) from pg_class c
    where c.relnamespace in (select oid from mine)
  union all select format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) from pg_constraint
    where connamespace in (select oid from mine)
  union all select pg_get_indexdef(indexrelid) from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace in (select oid from mine)
  union all select format('%s %s %s', md5(pg_get_functiondef(oid)), proname, proacl) from pg_proc
    where pronamespace in (select oid from mine) and prokind in ('f', 'p')
  union all select pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where c.relnamespace in (select oid from mine) and not tgisinternal
  union all select format('%s %s %s %s', tablename, policyname, qual, with_check) from pg_policies where schemaname = 'keystride'
  union all select name from keystride_history.migration
  order by 1`

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
const schemaOf = (url: string) =>
  withClient(url, async (client) => (await client.query<{ line: string }>(SCHEMA)).rows.map(({ line }) => line))
const finished = (url: string) =>
  withClient(url, async (client) => {
    const { rows } = await client.query(`select to_regclass('pgboss.version') is not null as there`)
    return rows[0].there === true
  })

it('a migration killed at any moment is completed by the next run', { timeout: LONG ? 900_000 : 300_000 }, async () => {
  const whole = await freshDatabase({ empty: true })
  const proxy = await startProxy(Number(new URL(whole.url).port))
  const proxied = (url: string) => Object.assign(new URL(url), { port: String(proxy.port) }).href
  await migrating(proxied(whole.url)).gone
  const [wanted, bytes] = [await schemaOf(whole.url), proxy.sent()]
  expect(wanted.length).toBeGreaterThan(300)

  let [equal, midway] = [0, 0]
  for (let n = 0; n < KILLS; n++) {
    const fresh = await freshDatabase({ empty: true })
    // Kills are spread evenly over what a complete migration sends.
    proxy.stallAfter((bytes * (n + 0.5)) / KILLS)
    const { child, gone, ended } = migrating(proxied(fresh.url))
    await until(() => proxy.sent() >= (bytes * (n + 0.5)) / KILLS || ended(), 'start')
    child.kill('SIGKILL')
    await gone
    proxy.cut()
    proxy.pass()
    if (!(await finished(fresh.url))) midway += 1
    await migrate(fresh.url)
    const found = await schemaOf(fresh.url)
    expect(found.filter((line) => !wanted.includes(line))).toEqual([])
    if (found.length === wanted.length) equal += 1
    await fresh.drop()
  }
  await proxy.close()
  await whole.drop()
  expect(midway).toBeGreaterThan(0)
  figure('F20', `${equal} of ${KILLS} next runs made the same schema`, `${KILLS} of ${KILLS}`, equal === KILLS)
})
