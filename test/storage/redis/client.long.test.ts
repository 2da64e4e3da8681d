import { type ChildProcess, spawnSync } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '../../../src/storage/postgres/embedded/embedded-running.js'
import { connectRedis, type Redis } from '../../../src/storage/redis/client.js'
import { redisSessions } from '../../../src/storage/redis/session.js'
import { sha256Hex } from '../../harness/fixtures.js'
import { until } from '../../harness/patience.js'
import { redisUrl } from '../../harness/service.js'
import { startChild } from '../../servers/child.js'

const possible = redisUrl !== null && spawnSync('redis-server', ['--version']).status === 0

describe.skipIf(!possible)('the redis client', () => {
  let url: string
  let port: number
  let server: ChildProcess
  let redis: Redis | null

  function serve(...more: string[]): void {
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...more]
    server = startChild('redis-server', options, { stdio: 'ignore' })
  }
  async function end(): Promise<void> {
    server.kill('SIGCONT')
    server.kill('SIGKILL')
    await until(() => server.exitCode !== null || server.signalCode !== null)
  }
  const session = () => ({ sha256: sha256Hex(), userRef: 'ada', memberRef: null, lifetimeMs: 900_000 })
  const answers = async () =>
    (await redis?.ping().then(
      () => true,
      () => false,
    )) ?? false

  beforeEach(async () => {
    port = await freePort()
    url = `redis://127.0.0.1:${port}`
    redis = null
  })
  afterEach(async () => {
    await redis?.close()
    await end()
  })

  it('refuses while the server is away, and recovers when it is back', async () => {
    serve()
    redis = await connectRedis({ url })
    const store = redisSessions(redis)
    await store.mint('org', session())
    await end()
    await until(async () => !(await answers()))
    await expect(store.mint('org', session())).rejects.toMatchObject({ kind: 'degraded' })
    serve()
    await until(answers)
    // The restarted server does not know the scripts, so they are sent again.
    await store.mint('org', session())
  })

  it('refuses while the server hangs, and recovers', async () => {
    serve()
    redis = await connectRedis({ url })
    server.kill('SIGSTOP')
    // Without a time-out the ping would not end while the server hangs.
    await expect(redis.ping()).rejects.toMatchObject({ kind: 'degraded' })
    server.kill('SIGCONT')
    await until(answers)
  })

  it('starts only on a server that evicts no keys', async () => {
    serve('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru')
    await expect(connectRedis({ url })).rejects.toThrow('maxmemory-policy noeviction')
    await end()
    serve('--maxmemory', '100mb', '--maxmemory-policy', 'noeviction')
    redis = await connectRedis({ url })
    await redis.ping()
  })

  it('does not start with a user that may not run INFO, and says so', async () => {
    serve('--user', 'default', 'on', 'nopass', '~*', '&*', '+@all', '-info')
    await expect(connectRedis({ url })).rejects.toThrow(
      'REDIS_URL: its user may not run INFO, which the start needs: NOPERM',
    )
  })
})
