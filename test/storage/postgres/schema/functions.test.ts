import pg from 'pg'
import { expect, it } from 'vitest'
import { freshDatabase } from '../../../servers/database.js'

// Once a background job took more than five seconds of a core on a server that compiles plans.
it('no function that forbids sequential scans has its plans compiled for the price of one', async () => {
  const fresh = await freshDatabase()
  const client = new pg.Client({ connectionString: fresh.url })
  await client.connect()
  const { rows } = await client.query<{ name: string; bare: boolean }>(`
    select proname as name, not 'jit=off' = any (proconfig) as bare from pg_proc
    where pronamespace = 'keystride'::regnamespace and 'enable_seqscan=off' = any (proconfig) order by 1`)
  await client.end()
  await fresh.drop()
  expect(rows.length).toBeGreaterThan(0)
  expect(rows.filter(({ bare }) => bare)).toEqual([])
})
