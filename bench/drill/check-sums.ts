import type { DebianServer } from '../shared/debian-postgres.js'

/** The number of rows and their checksum, by table. */
export async function checkSums(server: DebianServer, database = 'postgres'): Promise<Record<string, string>> {
  const tables = await server.run(
    `
    select format('%s.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('keystride', 'keystride_history', 'pgboss')`,
    database,
  )
  const sums: Record<string, string> = {}
  for (const { name } of tables) {
    const [row] = await server.run(
      `
      select count(*)::text || ' ' || md5(coalesce(string_agg(sum, '' order by sum), '')) as sum
      from (select md5(t::text) as sum from ${name} t) rows`,
      database,
    )
    sums[String(name)] = String(row?.sum)
  }
  return sums
}
