import { randomBytes } from 'node:crypto'
import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { connectPostgres } from '../../src/storage/postgres/connection/client.js'
import { postgresApiKeys } from '../../src/storage/postgres/organization/api-key.js'
import { keystrideWith } from '../cli/command.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'

let fresh: FreshDatabase
let service: TestService
beforeAll(async () => {
  fresh = await freshDatabase()
  service = await startService(fresh.url)
}, 120_000)
afterAll(async () => {
  await service?.close()
  await fresh?.drop()
})

const issue = async (...options: string[]) =>
  (await keystrideWith(service.env)('key', 'issue', service.organizationId, ...options)).stdout.trim()

/** All routes of the dashboard that change something. */
const WRITES =
  /^(post \/users\/\{userRef\}\/actions|post \/management\/export-log|(post|put|delete) \/(policies|alert|keys).*|post \/notifications\/read)$/

it('a route of the dashboard is a read unless it is known to change something', () => {
  const writes = dashboardRoutes.filter(({ method, onlyReads }) => method !== 'get' && onlyReads !== true)
  expect(writes.length).toBeGreaterThan(5)
  expect(writes.map(({ method, path }) => `${method} ${path}`).filter((route) => !WRITES.test(route))).toEqual([])
})

it('a key for dashboard reads only reads, and a key for writes only writes', async () => {
  const [read, operate, both] = await Promise.all([
    issue('--scopes', 'dashboard:read'),
    issue('--scopes', 'dashboard:operate'),
    issue('--scopes', 'dashboard'),
  ])
  const statuses = (method: string, path: string, body?: unknown) =>
    Promise.all(
      [read, operate, both].map(async (apikey) => (await service.dashboard(method, path, { apikey, body })).status),
    )
  expect(await statuses('GET', '/policies')).toEqual([200, 403, 200])
  expect(await statuses('POST', '/logs', {})).toEqual([200, 403, 200])
  const [first, ...others] = await statuses('POST', '/notifications/read', {})
  expect(first).toBe(403)
  for (const status of others) expect(status).not.toBe(403)
  const headers = { apikey: read }
  expect((await service.call('GET', '/organization', { headers })).status).toBe(403)
}, 60_000)

it('a key is refused after its expiry', async () => {
  const database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
  const keys = postgresApiKeys(database)
  const add = async (expiresAt: number) => {
    const hash = randomBytes(32)
    const { organizationId } = service
    await keys.add({ id: v7(), organizationId, label: 'ends', scopes: ['core'], createdAt: 0, expiresAt }, hash)
    return (await keys.resolve(hash))?.scopes ?? null
  }
  expect([await add(Date.now() - 1000), await add(Date.now() + 3_600_000)]).toEqual([null, ['core']])
  await database.close()
  const apikey = await issue('--label', 'an hour', '--expires', '1h')
  expect((await service.dashboard('GET', '/policies', { apikey })).status).toBe(200)
  const listed = await keystrideWith(service.env)('key', 'list', service.organizationId)
  expect(listed.stdout).toMatch(/ends .*expired/)
  expect(listed.stdout).toMatch(/an hour .*live/)
}, 60_000)
