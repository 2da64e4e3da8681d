import { type ChildProcess, spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { freePort } from '../../../src/storage/postgres/embedded/embedded-running.js'
import { connectRedis, type Redis } from '../../../src/storage/redis/client.js'
import { redisSessions } from '../../../src/storage/redis/session.js'
import { until } from '../../patience.js'
import { startChild } from '../../servers/child.js'
import { sha256Hex } from '../fixtures.js'

const possible = inject('redisUrl') !== null && spawnSync('redis-server', ['--version']).status === 0

describe.skipIf(!possible)('the redis client', () => {
  let port: number
  let server: ChildProcess
  let redis: Redis | null

  async function serve(...more: string[]): Promise<void> {
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...more]
    server = startChild('redis-server', options, { stdio: 'ignore' })
  }
  async function end(): Promise<void> {
    server.kill('SIGCONT')
    server.kill('SIGKILL')
    await until(async () => server.exitCode !== null || server.signalCode !== null)
  }
  const url = () => `redis://127.0.0.1:${port}`
  const session = () => ({ sha256: sha256Hex(), userRef: 'ada', memberRef: null, lifetimeMs: 900_000 })

  beforeEach(async () => {
    port = await freePort()
    redis = null
  })
  afterEach(async () => {
    await redis?.close()
    await end()
  })

  it('refuses at once while the server is away, and recovers when it is back', async () => {
    await serve()
    redis = await connectRedis({ url: url() })
    const store = redisSessions(redis)
    await store.mint('org', session())
    await end()
    await until(
      async () =>
        (await redis?.ping().then(
          () => false,
          () => true,
        )) ?? false,
    )
    const before = performance.now()
    await expect(store.mint('org', session())).rejects.toMatchObject({ kind: 'degraded' })
    expect(performance.now() - before).toBeLessThan(3_000)
    await serve()
    await until(
      async () =>
        (await redis?.ping().then(
          () => true,
          () => false,
        )) ?? false,
    )
    // The restarted server does not know the scripts, so they are sent again.
    await store.mint('org', session())
  })

  it('refuses within its time-out while the server hangs', async () => {
    await serve()
    redis = await connectRedis({ url: url() })
    server.kill('SIGSTOP')
    const before = performance.now()
    await expect(redis.ping()).rejects.toMatchObject({ kind: 'degraded' })
    // Without a time-out it would not end while the server hangs.
    expect(performance.now() - before).toBeLessThan(3_000)
    server.kill('SIGCONT')
    await until(
      async () =>
        (await redis?.ping().then(
          () => true,
          () => false,
        )) ?? false,
    )
  })

  it('does not start on a server that may evict keys', async () => {
    await serve('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru')
    await expect(connectRedis({ url: url() })).rejects.toThrow('maxmemory-policy noeviction')
  })

  it('starts on a server with a memory limit and without eviction', async () => {
    await serve('--maxmemory', '100mb', '--maxmemory-policy', 'noeviction')
    redis = await connectRedis({ url: url() })
    await redis.ping()
  })

  it('does not start with a user that may not run INFO, and says so', async () => {
    await serve('--user', 'default', 'on', 'nopass', '~*', '&*', '+@all', '-info')
    await expect(connectRedis({ url: url() })).rejects.toThrow(
      'REDIS_URL: its user may not run INFO, which the start needs: NOPERM',
    )
  })

  it('works on a cluster', async () => {
    const dir = mkdtempSync(path.join(tmpdir(), 'keystride-redis-'))
    // By default the bus of the cluster has port + 10,000, which may be above 65,535.
    await serve('--cluster-enabled', 'yes', '--cluster-port', String(await freePort()), '--dir', dir)
    await until(async () => spawnSync('redis-cli', ['-p', String(port), 'ping']).status === 0)
    spawnSync('redis-cli', ['-p', String(port), 'cluster', 'addslotsrange', '0', '16383'])
    await until(async () =>
      spawnSync('redis-cli', ['-p', String(port), 'cluster', 'info'])
        .stdout.toString()
        .includes('cluster_state:ok'),
    )
    redis = await connectRedis({ url: `${url()}?cluster=true` })
    const store = redisSessions(redis)
    const [one, two] = [session(), session()]
    await store.mint('org', one)
    await store.mint('org', two)
    expect(await store.reserve('org', 'ada', one.sha256, 'biometric', 1)).toMatchObject({ outcome: 'reserved' })
    await store.endAll('org', 'ada', null, two.sha256)
    expect(await store.find('org', 'ada', one.sha256)).toBeNull()
    expect(await store.find('org', 'ada', two.sha256)).not.toBeNull()
    await redis.ping()
  })
})
