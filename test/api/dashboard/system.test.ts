import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { version } from '../../../src/process/version.js'
import { modelFile } from '../../../src/scoring/artifacts.js'
import { modelIdentity } from '../../../src/scoring/scorer.js'
import { shippedSchema } from '../../../src/storage/postgres/schema/shipped-schema.js'
import { type OwnRedis, startOwnRedis } from '../../faults/stores.js'
import { until } from '../../patience.js'
import { type FreshDatabase, freshDatabase } from '../../servers/database.js'
import { startService, type TestService } from '../../service.js'

const hasRedis = spawnSync('redis-server', ['--version']).status === 0

let fresh: FreshDatabase
let redis: OwnRedis | null = null
let service: TestService
beforeAll(async () => {
  fresh = await freshDatabase()
  if (hasRedis) redis = await startOwnRedis()
  service = await startService(fresh.url, {
    redisUrl: redis === null ? null : `redis://127.0.0.1:${redis.port}`,
  })
}, 60_000)
afterAll(async () => {
  await service.close()
  await redis?.close()
  await fresh.drop()
})
const system = () => service.dashboard('GET', '/system')
const stores = hasRedis ? ['PostgreSQL', 'Redis'] : ['PostgreSQL']

describe('GET /system', () => {
  it('has versions, processes, stores and queues of a healthy service', async () => {
    const { status, json } = await system()
    const schema = shippedSchema()
    expect([status, json.data]).toEqual([
      200,
      {
        status: 'OK',
        reason: null,
        version: version(),
        node: process.versions.node,
        roles: ['core', 'links', 'dashboard', 'jobs'],
        model: modelIdentity(modelFile()),
        processes: [{ process: 0, version: version(), uptime_s: expect.any(Number), n_restarts: 0 }],
        stores: stores.map((name) => ({ name, reachable: true, latency_ms: expect.any(Number) })),
        database: {
          server_version: expect.stringMatching(/^\d+\.\d+$/),
          bytes: expect.any(Number),
          schema_version: schema.migrations.at(-1)?.name,
          functions_version: schema.version,
        },
        queues: ['export-log', 'find-exports', 'retention'].map((queue) =>
          expect.objectContaining({ queue, n_failed: 0 }),
        ),
        clock_skew_ms: expect.any(Number),
      },
    ])
    expect(json.data.database.bytes).toBeGreaterThan(1_000_000)
    expect(json.data.processes[0].uptime_s).toBeGreaterThan(0)
  })

  it('names no address, no secret and no other organization', async () => {
    const { organizationId } = await service.another('Other customer')
    const text = JSON.stringify((await system()).json)
    for (const hidden of ['127.0.0.1', 'localhost', 'secret', '://', 'Other customer', organizationId])
      expect(text).not.toContain(hidden)
  })

  it.skipIf(!hasRedis)('is answered while Redis is unreachable, and names it', async () => {
    await redis?.kill()
    await until(async () => (await system()).json.data.status === 'NOK')
    const message = 'the service is degraded: Redis out of reach; try again shortly'
    expect(await service.dashboard('GET', '/users')).toMatchObject({ status: 503, json: { message } })
    const { status, json } = await system()
    expect(status).toBe(200)
    expect(json.data).toMatchObject({
      status: 'NOK',
      reason: 'degraded: Redis out of reach',
      stores: [
        { name: 'PostgreSQL', reachable: true },
        { name: 'Redis', reachable: false, latency_ms: null },
      ],
      database: { functions_version: version() },
    })
    await redis?.restart()
    await until(async () => (await system()).json.data.status === 'OK')
  })
})
