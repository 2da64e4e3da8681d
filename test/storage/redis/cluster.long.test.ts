import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectRedis, type Redis } from '../../../src/storage/redis/client.js'
import { implicitKey, indexKey, redisSessions, sessionKey } from '../../../src/storage/redis/session.js'
import type { SessionStore } from '../../../src/storage/session.js'
import { sha256Hex } from '../../harness/fixtures.js'
import { until } from '../../harness/patience.js'
import { clusterIsPossible, type RedisCluster, startRedisCluster } from '../../servers/redis-cluster.js'
import { sessionContract } from '../session.contract.js'

const ORG = '019a0000-0000-7000-8000-000000000001'

describe.skipIf(!clusterIsPossible())('sessions in a Redis Cluster of six nodes', () => {
  let cluster: RedisCluster
  let redis: Redis
  let store: SessionStore
  let users = 0
  const minted = async () => {
    const session = { sha256: sha256Hex(), userRef: `cluster-${users++}`, memberRef: 'bo', lifetimeMs: 900_000 }
    await store.mint(ORG, session)
    return session
  }
  const find = ({ userRef, sha256 }: { userRef: string; sha256: string }) => store.find(ORG, userRef, sha256)
  const serves = (call: () => Promise<unknown>) =>
    call().then(
      () => true,
      () => false,
    )
  beforeAll(async () => {
    cluster = await startRedisCluster()
    // Reads of the other masters must be in time although the machine is busy.
    redis = await connectRedis({ url: cluster.url, patience: 4 })
    store = redisSessions(redis)
  })
  afterAll(async () => {
    await redis?.close()
    await cluster?.close()
  })

  sessionContract(
    () => store,
    () => ORG,
  )

  it('are spread over all masters, those of one user on one', async () => {
    for (const node of cluster.nodes) await node.cli('flushall').catch(() => {})
    for (let n = 0; n < 30; n++) await minted()
    const sizes = await Promise.all((await cluster.masters()).map((master) => master.cli('dbsize')))
    expect(sizes.map(Number).filter((size) => size > 0)).toHaveLength(3)
    // A session and an index per user.
    expect(sizes.reduce((sum, size) => sum + Number(size), 0)).toBe(60)
  })

  it('are found by nodes that have lost the scripts', async () => {
    const sessions = await Promise.all(Array.from({ length: 12 }, minted))
    for (const master of await cluster.masters()) await master.cli('script', 'flush')
    for (const session of sessions) expect(await find(session)).not.toBeNull()
  })

  it('are served while their slot moves: calls on a half moved user are refused, and no session is lost', async () => {
    const session = await minted()
    const { userRef, sha256 } = session
    // The implicit session would end first, because it expires first in the index.
    const implicit = await store.mintImplicit(ORG, { ...session, sha256: sha256Hex(), lifetimeMs: 600_000 })
    const keys = [sessionKey(ORG, userRef, sha256), implicitKey(ORG, userRef, 'bo')]
    const others = [indexKey(ORG, userRef), sessionKey(ORG, userRef, implicit.sha256)]
    const { master: from, slot } = await cluster.ofKey(indexKey(ORG, userRef))
    const to = (await cluster.masters()).find(({ port }) => port !== from.port) ?? from
    const [fromId, toId] = await Promise.all([from.cli('cluster', 'myid'), to.cli('cluster', 'myid')])
    const move = async (moved: readonly string[]) =>
      expect(await from.cli('migrate', '127.0.0.1', `${to.port}`, '', '0', '5000', 'keys', ...moved)).toBe('OK')
    await to.cli('cluster', 'setslot', `${slot}`, 'importing', fromId)
    await from.cli('cluster', 'setslot', `${slot}`, 'migrating', toId)

    await move(keys)
    // One session has moved, the other one has not: ASK redirects to the first; no session ends or begins meanwhile.
    // The number of earlier reservations is unknown meanwhile.
    expect(await store.reserve(ORG, userRef, sha256, { kind: 'biometric', budget: 3 })).toMatchObject({
      outcome: 'reserved',
      nth: 1,
    })
    expect(await store.reserve(ORG, userRef, implicit.sha256, { kind: 'biometric', budget: 3 })).toMatchObject({
      outcome: 'reserved',
    })
    const late = { kind: 'degraded' }
    await expect(store.endAll(ORG, userRef, null)).rejects.toMatchObject(late)
    await expect(store.mint(ORG, { ...session, sha256: sha256Hex() })).rejects.toMatchObject(late)
    await move([others[0] ?? ''])
    // The index has moved, one of its sessions has not: it must not count as ended.
    await expect(store.endAll(ORG, userRef, null)).rejects.toMatchObject(late)
    await expect(store.end(ORG, userRef, implicit.sha256)).rejects.toMatchObject(late)
    expect(await find({ userRef, sha256: implicit.sha256 })).toMatchObject({ used: { biometric: 1 } })
    await move([others[1] ?? ''])
    for (const node of [to, from]) await node.cli('cluster', 'setslot', `${slot}`, 'node', toId)

    // From here on, the old node replies MOVED.
    expect(await find({ userRef, sha256: implicit.sha256 })).toMatchObject({ used: { biometric: 1 } })
    await store.endAll(ORG, userRef, null)
    expect(await find({ userRef, sha256: implicit.sha256 })).toBeNull()
  })

  it('do not begin if any node, or a replica, may evict keys', async () => {
    const { replica } = await cluster.ofKey('any')
    await replica.cli('config', 'set', 'maxmemory', '100mb', 'maxmemory-policy', 'allkeys-lru')
    await expect(connectRedis({ url: cluster.url })).rejects.toThrow('maxmemory-policy noeviction')
    await replica.cli('config', 'set', 'maxmemory', '0', 'maxmemory-policy', 'noeviction')
    const [first] = cluster.nodes
    const again = await connectRedis({ url: `redis://127.0.0.1:${first?.port}?cluster=true` })
    await again.ping()
    await again.close()
  })

  it('of a hanging master are refused, and others are served; the ping rejects', async () => {
    const sessions = await Promise.all(Array.from({ length: 12 }, minted))
    const [lost] = sessions
    const { master } = await cluster.ofKey(indexKey(ORG, lost?.userRef ?? ''))
    const ports = await Promise.all(
      sessions.map(async ({ userRef }) => (await cluster.ofKey(indexKey(ORG, userRef))).master.port),
    )
    master.signal('SIGSTOP')
    const told = await Promise.all(sessions.map((session) => serves(() => find(session))))
    const well = await serves(() => redis.ping())
    master.signal('SIGCONT')
    expect(told).toEqual(ports.map((port) => port !== master.port))
    expect(well).toBe(false)
    await until(() => serves(() => redis.ping()))
    await cluster.whole()
  })

  it('survive the loss of their master: calls are refused until its replica is promoted, then sessions are unchanged', async () => {
    const sessions = await Promise.all(Array.from({ length: 12 }, minted))
    for (const { userRef, sha256 } of sessions)
      await store.reserve(ORG, userRef, sha256, { kind: 'biometric', budget: 3 })
    const { master } = await cluster.ofKey(indexKey(ORG, sessions[0]?.userRef ?? ''))
    await master.kill()
    await expect(find(sessions[0] ?? (await minted()))).rejects.toMatchObject({ kind: 'degraded' })
    await expect(redis.ping()).rejects.toMatchObject({ kind: 'degraded' })
    await cluster.replaced(master)
    await until(() => serves(() => redis.ping()))
    for (const session of sessions) expect(await find(session)).toMatchObject({ used: { biometric: 1 } })
    await master.restart()
    await cluster.whole()
    await redis.ping()
  })
})
