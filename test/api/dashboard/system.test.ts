import { describe, expect, it } from 'vitest'
import { type HttpServerChoice, httpServerOf, loadProvider } from '../../../src/http/provider.js'
import { version } from '../../../src/process/version.js'
import { modelFile } from '../../../src/scoring/artifacts.js'
import { modelIdentity } from '../../../src/scoring/scorer.js'
import { shippedSchema } from '../../../src/storage/postgres/schema/shipped-schema.js'
import { until } from '../../harness/patience.js'
import { redisUrl, sharedService } from '../../harness/service.js'

const service = await sharedService()
const system = () => service.dashboard('GET', '/system')
const stores = redisUrl === null ? ['PostgreSQL'] : ['PostgreSQL', 'Redis']

describe('GET /system', () => {
  it('has versions, processes, stores and queues of a healthy service', async () => {
    await until(async () => (await system()).json.data.status === 'OK')
    const { json } = await system()
    const schema = shippedSchema()
    expect(json.data).toEqual({
      status: 'OK',
      reason: null,
      version: version(),
      node: process.versions.node,
      http_server: httpServerOf(loadProvider(service.env.HTTP_SERVER as HttpServerChoice)),
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
    })
    expect(json.data.database.bytes).toBeGreaterThan(1_000_000)
    expect(json.data.processes[0].uptime_s).toBeGreaterThan(0)
  })

  it('names no address, no secret and no other organization', async () => {
    const { organizationId } = await service.another('Other customer')
    const text = JSON.stringify((await system()).json)
    for (const hidden of ['127.0.0.1', 'localhost', 'secret', '://', 'Other customer', organizationId])
      expect(text).not.toContain(hidden)
  })
})
