import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onlyReads } from '../../../src/http/caller.js'
import type { Route } from '../../../src/http/route.js'
import { connectPostgres, type Database } from '../../../src/storage/postgres/connection/client.js'
import { figure } from '../../harness/figure.js'
import { startService, type TestService } from '../../harness/service.js'
import { visited } from '../../harness/sign-ins.js'
import { freshDatabase } from '../../servers/database.js'
import { bodiesOf, pathOf, ROWS } from '../rows.js'

/** Tables that record the calls themselves. */
const CALLS = ['request_log', 'api_usage']

let service: TestService
let database: Database
let ids: Readonly<Record<string, string>>
let fresh: () => unknown
beforeAll(async () => {
  const { url } = await freshDatabase()
  // No jobs run, so that only the calls change rows.
  service = await startService(url, { more: { ROLES: 'core,links,dashboard', LOG_LEVEL: 'silent' } })
  database = connectPostgres({ url, max: 2, patience: 10 })
  const { who, ids: attempts } = await visited(service, 'ann')
  fresh = who.fresh
  await database.asSystem(
    (sql) => sql`
      insert into keystride.notification (organization_id, id, event, kind, at)
      values (${service.organizationId}, ${uuid()}, 'x', 'degraded', now())`,
  )
  ids = {
    userRef: 'ann',
    authentication: attempts[0] ?? '',
    authentications: attempts[0] ?? '',
    policies: (await service.dashboard('GET', '/policies')).json.data[0].id,
  }
})
afterAll(async () => {
  await database.close()
  await service.close()
})

/** A digest of every table's rows, of all organizations. */
const digests = () =>
  database.asSystem(async (sql) => {
    const tables = await sql<{ name: string }[]>`
      select relname as name from pg_catalog.pg_class
      where relnamespace = 'keystride'::regnamespace and relkind in ('r', 'p') and not relispartition`
    const found = new Map<string, string>()
    for (const { name } of tables.filter((one) => !CALLS.includes(one.name))) {
      const [row] = await sql.unsafe<{ digest: string }[]>(
        `select count(*) || md5(coalesce(string_agg(t::text, '' order by t::text), '')) as digest from keystride.${name} t`,
      )
      found.set(name, row?.digest ?? '')
    }
    return found
  })

const keyWith = async (scope: string): Promise<string> =>
  (await service.dashboard('POST', '/keys', { body: { label: 'test', scopes: [scope] } })).json.data.apikey

/** Statuses of a call of a route, with each form of its body and query. */
async function statusesOf(api: string, row: Route<never>, apikey: string): Promise<number[]> {
  const noun = row.path.split('/')[1] ?? ''
  const path = pathOf(row, { ...ids, id: ids[noun] ?? uuid() })
  const queries = row.path === '/notifications/read' ? ['?all=true', `?id=${uuid()}`] : ['', '?all=true']
  const bodies = row.body.kind === 'none' ? [undefined] : bodiesOf(row, fresh).map(([, body]) => JSON.stringify(body))
  const statuses: number[] = []
  for (const query of queries)
    for (const body of bodies) {
      const answer = await fetch(`${service.core.replace(/core$/, api)}${path}${query}`, {
        method: row.method.toUpperCase(),
        headers: { apikey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body }),
      })
      await answer.arrayBuffer()
      statuses.push(answer.status)
    }
  return statuses
}

const KEYED = ROWS.filter(([, , row]) => row.needsKey)

// Regression: `GET /notifications/read` marked every notification as read.
it('a key with read scope changes no row, by any method of any route, and each route that it opens answers', async () => {
  const apikey = await keyWith('dashboard:read')
  const before = await digests()
  expect(before.size).toBeGreaterThan(25)
  const opened: string[] = []
  for (const [name, api, row] of KEYED) {
    const statuses = await statusesOf(api, row, apikey)
    if (api === 'dashboard' && onlyReads(row)) {
      expect([name, statuses.filter((status) => status === 403 || status >= 500)]).toEqual([name, []])
      if (statuses.includes(200)) opened.push(name)
    } else expect([name, new Set(statuses)]).toEqual([name, new Set([403])])
  }
  expect(opened.length).toBeGreaterThan(40)
  const after = await digests()
  const changed = [...before].filter(([name, digest]) => after.get(name) !== digest).map(([name]) => name)
  figure(
    'T01',
    `${changed.length} of ${before.size} tables changed with a key of read scope ${changed}`.trimEnd(),
    '0',
    changed.length === 0,
  )
})

it('a key with write scope opens the other routes of the dashboard, and no read', async () => {
  const apikey = await keyWith('dashboard:operate')
  for (const [name, api, row] of KEYED.filter(([, , one]) => onlyReads(one)))
    if (api === 'dashboard')
      expect([name, await statusesOf(api, row, apikey)]).toEqual([name, expect.not.arrayContaining([200])])
  const mark = (path: string) => service.dashboard('GET', `/notifications/read${path}`, { apikey })
  expect((await mark('?all=true')).json.data).toEqual({ unread: 0 })
})
