import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { version } from '../../../src/process/version.js'
import { until } from '../../harness/patience.js'
import { startService } from '../../harness/service.js'
import { startOwnRedis } from '../../harness/stores.js'
import { freshDatabase } from '../../servers/database.js'

const hasRedis = spawnSync('redis-server', ['--version']).status === 0

it.skipIf(!hasRedis)('GET /system is answered while Redis is unreachable, and names it', async () => {
  const redis = await startOwnRedis()
  const service = await startService((await freshDatabase()).url, { redisUrl: `redis://127.0.0.1:${redis.port}` })
  const system = () => service.dashboard('GET', '/system')
  await redis.kill()
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
  await redis.restart()
  await until(async () => (await system()).json.data.status === 'OK')
  await service.close()
  await redis.close()
})
