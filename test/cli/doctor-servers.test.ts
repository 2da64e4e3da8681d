import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSecureContext, createServer as createTls, TLSSocket } from 'node:tls'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type DebianPostgres,
  type DebianServer,
  debianPostgres,
  whyNoStandby,
} from '../../bench/shared/debian-postgres.js'
import { addressesIn } from '../../src/cli/doctor/certificates.js'
import { checkActivity, checkMembers, checkReplication, checkTables } from '../../src/cli/doctor/database.js'
import { spaceOf } from '../../src/cli/doctor/other-stores.js'
import { certificate } from '../servers/certificate.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { selfSigned, whyNoOpenssl } from '../servers/openssl.js'
import { startPgbouncer, whyNoPgbouncer } from '../servers/pgbouncer.js'
import { clusterIsPossible, startRedisCluster } from '../servers/redis-cluster.js'
import { smtpSink } from '../servers/sinks.js'
import { startPair } from '../servers/standby.js'
import { until } from '../storage/fixtures.js'
import { keystrideWith } from './command.js'
import { diagnosed } from './diagnosis.js'

const KEY = Buffer.alloc(32, 7).toString('base64')
const folder = mkdtempSync(join(tmpdir(), 'keystride-doctor-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const on = (url: string) => ({
  DATABASE_URL: url,
  ENCRYPTION_KEY: KEY,
  KEYSTRIDE_DATA: folder,
  PROCESSES: '1',
  DATABASE_POOL: '2',
})

const [noDebian, noOpenssl, noPooler] = [whyNoStandby(), whyNoOpenssl(), whyNoPgbouncer()]
for (const why of [noDebian, noOpenssl, noPooler]) if (why !== null) console.warn(`\n*** ${why} ***\n`)

describe.skipIf(noDebian !== null)('the settings of PostgreSQL', { timeout: 120_000 }, () => {
  let debian: DebianPostgres
  let server: DebianServer
  let url: string
  beforeAll(async () => {
    debian = debianPostgres()
    server = await debian.serve(
      await debian.initialize('primary'),
      'autovacuum=off',
      'fsync=off',
      'max_wal_size=256MB',
      'shared_buffers=32MB',
    )
    await server.run('create role app login createrole connection limit 30')
    await server.run('create database service owner app')
    url = `postgres://app@127.0.0.1:${server.port}/service`
    expect(await keystrideWith(on(url))('migrate')).toMatchObject({ status: 0 })
  }, 60_000)
  afterAll(async () => {
    await server?.kill()
    debian?.remove()
  })

  it('are compared with the advice of the documents', async () => {
    const { status, bad } = await diagnosed({ ...on(url), PROCESSES: '10', DATABASE_POOL: '5' })
    expect(status).toBe(1)
    expect(bad('database')).toEqual([
      expect.stringMatching(/^problem: fsync is off/),
      expect.stringMatching(/^problem: autovacuum is off/),
      expect.stringMatching(
        /^problem: The server permits 30 connections, and the processes of this machine open up to 50/,
      ),
      expect.stringMatching(/^note: max_wal_size is 256 MiB/),
      expect.stringMatching(/^note: shared_buffers is 32 MiB/),
    ])
  })

  it('include dead rows that no vacuum removes', async () => {
    await server.run('create table keystride_history.many as select n from generate_series(1, 30000) n', 'service')
    await server.run('delete from keystride_history.many', 'service')
    // A connection adds its writes to the statistics when it ends.
    const dead = "select n_dead_tup as n from pg_stat_user_tables where relname = 'many'"
    await until(async () => Number((await server.run(dead, 'service'))[0]?.n) === 30_000)
    const { bad } = await diagnosed(on(url))
    expect(bad('database').join('\n')).toMatch(
      /^warning: keystride_history\.many has 30,000 dead rows next to 0 live ones, last vacuum never/m,
    )
    await server.run('drop table keystride_history.many', 'service')
  })

  it('that the login may not read are notes, never ok', async () => {
    const other = new pg.Client({ connectionString: server.url })
    await other.connect()
    try {
      const { bad, findings } = await diagnosed(on(url))
      expect(bad('database').join('\n')).toMatch(
        /^note: Idle transactions could not be read: the login may not see \d+ connections/m,
      )
      expect(findings.map(({ found }) => found)).not.toContain('No transaction has been idle for more than a minute.')
      expect(bad('disk')).toEqual([expect.stringMatching(/^note: The free space of the database's disk/)])
      await server.run('grant pg_monitor to app')
      const allowed = await diagnosed(on(url))
      expect(allowed.findings.map(({ found }) => found)).toContain(
        'No transaction has been idle for more than a minute.',
      )
      expect(allowed.findings).toContainEqual(
        expect.objectContaining({ area: 'disk', level: 'ok', found: expect.stringContaining("the database's folder") }),
      )
    } finally {
      await other.end()
    }
  })

  it('are not read while the server is frozen: that is a problem, and the other checks go on', async () => {
    await server.signalAll('SIGSTOP')
    try {
      const { bad, findings } = await diagnosed(on(url))
      expect(bad('database')).toEqual([expect.stringMatching(/^problem: No database answers: .*timeout/)])
      expect(findings.map(({ area }) => area)).toEqual(expect.arrayContaining(['configuration', 'disk', 'backup']))
    } finally {
      await server.signalAll('SIGCONT')
    }
  })

  it('include a replication slot that holds the log', async () => {
    await server.run("select pg_create_physical_replication_slot('forgotten', true)")
    await server.run('create table filler as select n from generate_series(1, 1000) n')
    const { bad } = await diagnosed(on(url))
    expect(bad('replication')).toEqual([
      'note: The server has no standby.',
      expect.stringMatching(/^warning: Replication slot forgotten has no reader, and holds [\d.]+ [KM]iB of log/),
    ])
  })
})

describe.skipIf(noDebian !== null)('a standby', { timeout: 120_000 }, () => {
  it('is shown with its lag, and is missed when it is lost', async () => {
    const pair = await startPair()
    try {
      expect(await keystrideWith(on(pair.url))('migrate')).toMatchObject({ status: 0 })
      const { findings, bad } = await diagnosed(on(pair.url))
      expect(findings.map(({ found }) => found)).toEqual(
        expect.arrayContaining([
          'Every server of DATABASE_URL answers.',
          expect.stringMatching(/^Standby standby is .* behind, and commits wait for it\.$/),
        ]),
      )
      expect(bad('replication')).toEqual([])
      const alone = await diagnosed(on(pair.standby.url))
      expect(alone.bad('database').join('\n')).toMatch(/^problem: The server is a standby, which takes no writes/m)

      await pair.standby.kill()
      const lost = await diagnosed(on(pair.url))
      expect(lost.bad('replication')).toEqual([
        `warning: 127.0.0.1:${pair.standby.port} of DATABASE_URL: no answer.`,
        'note: The server has no standby.',
        expect.stringMatching(/^problem: synchronous_standby_names is set and no synchronous standby/),
      ])
    } finally {
      await pair.close()
    }
  })
})

describe.skipIf(noPooler !== null)('a pooler', { timeout: 120_000 }, () => {
  it('is found, and is a note with statements that stay prepared', async () => {
    const fresh = await freshDatabase()
    const pooler = await startPgbouncer(fresh.url)
    try {
      const url = pooler.through(fresh.url)
      const { findings } = await diagnosed(on(url))
      expect(findings).toContainEqual(
        expect.objectContaining({
          level: 'ok',
          found: expect.stringMatching(/^A pooler is between .* do not stay prepared/),
        }),
      )
      const { bad } = await diagnosed({ ...on(url), DATABASE_PREPARE: 'true' })
      expect(bad('database').join('\n')).toMatch(/^note: A pooler is between .* DATABASE_PREPARE=true/m)
    } finally {
      await pooler.close()
      await fresh.drop()
    }
  })
})

describe.skipIf(!clusterIsPossible())('a Redis Cluster', { timeout: 120_000 }, () => {
  it('is checked node by node', async () => {
    const [fresh, cluster] = await Promise.all([freshDatabase(), startRedisCluster()])
    try {
      const env = { ...on(fresh.url), REDIS_URL: cluster.url }
      const { findings } = await diagnosed(env)
      expect(findings.map(({ found }) => found)).toContainEqual(
        expect.stringMatching(/^A cluster of 3 masters and 3 replicas answers/),
      )
      await cluster.nodes[4]?.cli('config', 'set', 'maxmemory-policy', 'volatile-ttl')
      await cluster.nodes[4]?.cli('config', 'set', 'maxmemory', '100mb')
      expect((await diagnosed(env)).bad('redis').filter((line) => line.startsWith('problem'))).toEqual([
        expect.stringMatching(/^problem: this Redis evicts keys when full \(maxmemory-policy volatile-ttl\)/),
      ])
    } finally {
      await cluster.close()
      await fresh.drop()
    }
  })
})

describe.skipIf(noOpenssl !== null)('certificates', { timeout: 120_000 }, () => {
  const servers: Server[] = []
  let fresh: FreshDatabase
  let connections = 0
  const listen = async (server: Server) => {
    servers.push(server)
    server.on('connection', () => {
      connections += 1
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  }
  const tls = (pair: { cert: string; key: string }) => listen(createTls(pair, (socket) => socket.on('error', () => {})))
  beforeAll(async () => {
    fresh = await freshDatabase()
  })
  afterAll(async () => {
    for (const server of servers) server.close()
    await fresh.drop()
  })

  /** Replaces the alert channels of a new organization. */
  const channels = async (settings: Record<string, object>) => {
    const id = (await keystrideWith(on(fresh.url))('organization', 'create', 'Alerts')).stdout.split('\n')[0] ?? ''
    const client = new pg.Client({ connectionString: fresh.url })
    await client.connect()
    await client.query('set role keystride_system')
    await client.query('delete from keystride.alert_channel')
    for (const [channel, one] of Object.entries(settings))
      await client.query(
        'insert into keystride.alert_channel (organization_id, channel, settings) values ($1, $2, $3)',
        [id, channel, one],
      )
    await client.end()
  }

  it('of alert channels are read, and their remaining days are shown', async () => {
    const [expired, soon] = [selfSigned(-40, -9.5), selfSigned(-1, 5.5)]
    const [expiredPort, soonPort] = [await tls(expired), await tls(soon)]
    const mail = await smtpSink()
    try {
      const ca = join(folder, 'ca.pem')
      writeFileSync(ca, `${certificate}\n${soon.cert}\n`)
      await channels({
        webhook: { url: `https://127.0.0.1:${expiredPort}/hook` },
        syslog: { host: '127.0.0.1', port: soonPort, transport: 'tls' },
        email: {
          host: '127.0.0.1',
          port: mail.port,
          tls: 'starttls',
          sender: 'a@example.com',
          recipients: ['b@example.com'],
        },
        sms: { url: `https://localhost:${soonPort}/sms`, recipients: ['+33612345678'] },
      })
      const env = { ...on(fresh.url), ALERT_HOSTS: '127.0.0.1', ALERT_CA: ca }
      const { status, findings, bad } = await diagnosed(env)
      expect(status).toBe(1)
      expect(bad('certificates').sort()).toEqual([
        `problem: The certificate of 127.0.0.1:${expiredPort} (webhook) expired 10 days ago.`,
        `warning: The certificate of 127.0.0.1:${soonPort} (syslog) is valid for 5 more days.`,
        `warning: The certificate of localhost:${soonPort} (sms) could not be read: this deployment does not allow alerts to the host.`,
      ])
      expect(findings.map(({ found }) => found)).toContainEqual(
        expect.stringMatching(/^The certificate of 127\.0\.0\.1:\d+ \(email\) is valid for \d+,\d+ more days/),
      )
      expect(mail.received).toEqual([])

      const untrusted = await diagnosed({ ...env, ALERT_CA: '' })
      expect(untrusted.bad('certificates').join('\n')).toMatch(
        /^problem: The certificate of \S+ \(email\) is not trusted: /m,
      )

      connections = 0
      const refused = await diagnosed({ ...env, ALERT_HOSTS: '' })
      expect(refused.bad('certificates').filter((line) => line.includes('does not allow'))).toHaveLength(4)
      expect([connections, mail.connections()]).toEqual([0, 2])
    } finally {
      await mail.close()
    }
  })

  it('of stores that are reached by TLS are read, although the stores refuse everything else', async () => {
    const expired = selfSigned(-40, -9.5)
    const redisPort = await tls(expired)
    // A server that begins TLS as PostgreSQL does, and then says nothing.
    const databasePort = await listen(
      createServer((socket) => {
        socket.on('error', () => {})
        socket.once('data', () => {
          socket.write('S')
          new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(expired) }).on('error', () => {})
        })
      }),
    )
    const { bad } = await diagnosed({
      ...on(`postgres://app:pass-word@127.0.0.1:${databasePort}/service?sslmode=verify-full`),
      REDIS_URL: `rediss://127.0.0.1:${redisPort}`,
    })
    expect(bad('certificates')).toEqual([
      `problem: The certificate of 127.0.0.1:${databasePort} (PostgreSQL) expired 10 days ago.`,
      `problem: The certificate of 127.0.0.1:${redisPort} (Redis) expired 10 days ago.`,
    ])
    expect(bad('database').join()).toMatch(/^problem: No database answers: .*certificate/)
    expect(bad('redis').join()).toMatch(/^problem: No Redis answers: .*certificate/)
  })
})

describe('figures that a test cannot provoke', () => {
  const levels = (findings: readonly { level: string }[]) => findings.map(({ level }) => level)

  it('are judged by bounds', () => {
    expect(checkActivity({ idleInTransaction: 2, oldestS: 7000 })).toMatchObject({
      level: 'warning',
      found: '2 transactions idle for more than a minute, the oldest for 117 min.',
    })
    const slot = { name: 's', active: true, lost: false }
    const replication = (slots: Parameters<typeof checkReplication>[0]['slots'], archiveFails = false) =>
      levels(checkReplication({ standbys: [], waitsForStandby: false, slots, archiveFails }, true))
    expect(replication([{ ...slot, heldBytes: 2 ** 20 }])).toEqual(['ok'])
    expect(replication([{ ...slot, heldBytes: 2 * 2 ** 30 }])).toEqual(['warning'])
    expect(replication([{ ...slot, heldBytes: 17 * 2 ** 30 }])).toEqual(['problem'])
    expect(replication([{ ...slot, heldBytes: 0, lost: true }])).toEqual(['warning'])
    expect(replication([], true)).toEqual(['problem'])
    const standby = { name: 's', state: 'streaming', lagBytes: 2 ** 30, synchronous: false }
    const behind = { standbys: [standby], waitsForStandby: false, slots: [], archiveFails: false }
    expect(levels(checkReplication(behind, false))).toEqual(['warning'])
    const two = [
      { host: 'a:1', role: 'primary' },
      { host: 'b:1', role: 'primary' },
    ] as const
    expect(levels(checkMembers(two))).toEqual(['ok', 'problem'])
    const table = { name: 't', bytes: 2 ** 30, liveRows: 1_000_000, lastVacuumAt: 0 }
    expect(levels(checkTables([{ ...table, deadRows: 400_000 }]))).toEqual(['ok'])
    expect(levels(checkTables([{ ...table, deadRows: 450_000 }]))).toEqual(['ok', 'warning'])
    const space = (free: number, total = 100) => spaceOf('it', free, total).level
    expect([space(20), space(10), space(3), space(0, 0)]).toEqual(['ok', 'warning', 'problem', 'note'])
  })

  it('the hosts of a connection string are found without its secrets', () => {
    expect(addressesIn('postgres://u:p%40ss@one:1,[::1]:2,three/db?sslmode=require', 5432)).toEqual([
      { host: 'one', port: 1 },
      { host: '::1', port: 2 },
      { host: 'three', port: 5432 },
    ])
    expect(addressesIn('redis://:secret@a:1, redis://:secret@b:2', 6379)).toEqual([
      { host: 'a', port: 1 },
      { host: 'b', port: 2 },
    ])
  })
})
