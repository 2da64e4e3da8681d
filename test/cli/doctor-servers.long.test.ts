import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
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
import {
  checkActivity,
  checkMembers,
  checkReplication,
  checkSchema,
  checkTables,
} from '../../src/cli/doctor/database.js'
import { findingsOf } from '../../src/cli/doctor/finding.js'
import { spaceOf } from '../../src/cli/doctor/other-stores.js'
import { until } from '../patience.js'
import { certificate } from '../servers/certificate.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { selfSigned, whyNoOpenssl } from '../servers/openssl.js'
import { startPgbouncer, whyNoPgbouncer } from '../servers/pgbouncer.js'
import { clusterIsPossible, startRedisCluster } from '../servers/redis-cluster.js'
import { smtpSink } from '../servers/sinks.js'
import { startPair } from '../servers/standby.js'
import { keystrideWith } from './command.js'
import { type Diagnosis, diagnosed } from './diagnosis.js'

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
    const data = await debian.initialize('primary')
    appendFileSync(join(data, 'pg_hba.conf'), 'host all all 127.0.0.0/8 trust\n')
    // At the start of a segment of the commit log, so that the server makes the segment itself.
    await debian.run('pg_resetwal', '-x', String(1049 * 2 ** 20), '-D', data)
    server = await debian.serve(
      data,
      'autovacuum=off',
      'autovacuum_freeze_max_age=2000000000',
      'synchronous_commit=off',
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
      'warning: synchronous_commit is off: a crash loses answered attempts.',
      expect.stringMatching(/^problem: autovacuum is off/),
      expect.stringMatching(
        /^problem: The oldest row version is 1,099,9\d\d,\d{3} transactions old; at 2 billion the database stops\.$/,
      ),
      expect.stringMatching(
        /^problem: The server permits 30 connections, and the processes of this machine open up to 61/,
      ),
      expect.stringMatching(/^note: max_wal_size is 256 MiB/),
      expect.stringMatching(/^note: shared_buffers is 32 MiB/),
    ])
  })

  it('leave too few connections if other machines hold them', async () => {
    const env = { ...on(url), DATABASE_POOL: '10' }
    const found = async () => (await diagnosed(env)).bad('database').join('\n')
    const releases: (() => Promise<void>)[] = []
    /** Opens connections from another address, as another machine does. */
    const hold = async (localAddress: string, n: number, user: string, name: string) => {
      const relay = createServer((socket) => {
        const onward = connect({ host: '127.0.0.1', port: server.port, localAddress })
        for (const one of [socket, onward]) one.on('error', () => {})
        socket.pipe(onward).pipe(socket)
      })
      await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
      const { port } = relay.address() as AddressInfo
      const connectionString = `postgres://${user}@127.0.0.1:${port}/service?application_name=${name}`
      const clients = Array.from({ length: n }, () => new pg.Client({ connectionString }))
      releases.push(async () => {
        await Promise.all(clients.map((one) => one.end()))
        relay.close()
      })
      await Promise.all(clients.map((one) => one.connect()))
    }
    expect(await found()).not.toContain('connection')
    try {
      // The login has 30 connections.
      await hold('127.0.0.2', 25, 'app', 'keystride')
      expect(await found()).toContain(
        'warning: The server permits 30 connections, and the processes of this machine open up to 11 ' +
          '(PROCESSES x (DATABASE_POOL + 1 for an export)); others leave 5: 25 from 127.0.0.2 (keystride, login app).',
      )
      // The server has 57 for all.
      const hidden = '24 from an address that this login may not see (reports, login keystride)'
      await hold('127.0.0.3', 24, 'keystride', 'reports')
      expect(await found()).toContain(`others leave 5: 25 from 127.0.0.2 (keystride, login app), ${hidden}.`)
      await hold('127.0.0.4', 4, 'app', 'keystride')
      expect(await found()).toContain(
        `warning: 54 of 57 connections are in use: 25 from 127.0.0.2 (keystride, login app), ${hidden}, ` +
          '4 from 127.0.0.4 (keystride, login app), 1 from 127.0.0.1 (unnamed, login app).',
      )
    } finally {
      for (const release of releases) await release()
    }
    const others = "select 1 from pg_stat_activity where application_name in ('keystride', 'reports')"
    await until(async () => (await server.run(others)).length === 0)
    expect(await found()).not.toContain('connection')
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

      const { primary } = pair
      const waitFor = async (names: string) => {
        await primary.run(`alter system set synchronous_standby_names = '${names}'`)
        await primary.run('select pg_reload_conf()')
        const state = names === '' ? 'async' : 'sync'
        const standbys = 'select sync_state from pg_stat_replication'
        await until(async () => (await primary.run(standbys))[0]?.sync_state === state)
      }
      await waitFor('')
      const asynchronous = await diagnosed(on(pair.url))
      expect(asynchronous.bad('replication')).toEqual([
        'note: No commit waits for a standby: a promotion may lose attempts and profiles that were answered.',
      ])
      expect(asynchronous.status).toBe(0)
      await waitFor('standby')
      const alone = await diagnosed(on(pair.standby.url))
      expect(alone.bad('database')).toContain(
        `problem: ${host(pair.standby)} answers and is a standby, which takes no writes; DATABASE_URL names no primary.`,
      )
      expect(alone.bad('replication').join('\n')).not.toMatch(/no standby|no synchronous standby/)

      await pair.standby.kill()
      const lost = await diagnosed(on(pair.url))
      expect(lost.bad('replication')).toEqual([
        `warning: 127.0.0.1:${pair.standby.port} of DATABASE_URL: no answer.`,
        'note: The server has no standby.',
        expect.stringMatching(/^problem: synchronous_standby_names is set and no synchronous standby/),
        expect.stringMatching(/^warning: Replication slot standby has no reader/),
      ])
      expect(adviceOn(lost, /of DATABASE_URL: no answer/)).toMatch(/^If another server was promoted since, .*pg_rewind/)
    } finally {
      await pair.close()
    }
  })
})

const host = ({ port }: DebianServer) => `127.0.0.1:${port}`
const adviceOn = ({ findings }: Diagnosis, found: RegExp) => findings.find((one) => found.test(one.found))?.advice

describe.skipIf(noDebian !== null || noPooler !== null)('a healthy primary', { timeout: 120_000 }, () => {
  it('without its pooler is never advised away: both hosts are named, and no right is asked for', async () => {
    const pair = await startPair()
    try {
      expect(await keystrideWith(on(pair.url))('migrate')).toMatchObject({ status: 0 })
      const pooler = await startPgbouncer(pair.primary.url)
      const first = new URL(pooler.through(pair.primary.url)).host
      await pooler.close()
      const found = await diagnosed(on(pair.url.replace(host(pair.primary), first)))
      const second = host(pair.standby)
      expect(found.bad('database')).toContain(
        `problem: ${second} answers and is a standby, which takes no writes; ${first}: no answer.`,
      )
      expect(adviceOn(found, /is a standby, which takes no writes/)).toContain(
        `First make sure that PostgreSQL at ${first} is off, or bring its pooler back if it runs; promote ${second} only then.`,
      )
      expect(found.bad('replication').join('\n')).not.toMatch(/The server has no standby/)
      // The pooler and the schema are those of the server that answers.
      expect(found.bad().join('\n')).not.toMatch(/could not be read: .*ECONNREFUSED/)
      expect(found.findings.map((one) => one.found)).toContain('No pooler is between this machine and the server.')
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
      const { bad } = await diagnosed({ ...on(url), DATABASE_PREPARE: 'true', DATABASE_POOL: '100' })
      // The pooler decides how many connections the server has.
      expect(bad('database').join('\n')).not.toContain('DATABASE_POOL')
      expect(bad('database').join('\n')).toMatch(/^note: A pooler is between .* DATABASE_PREPARE=true/m)
    } finally {
      await pooler.close()
      await fresh.drop()
    }
  })

  describe.skipIf(noDebian !== null)('that accepts connections', { timeout: 60_000 }, () => {
    let debian: DebianPostgres
    let server: DebianServer
    let url: string
    beforeAll(async () => {
      debian = debianPostgres()
      server = await debian.serve(await debian.initialize('behind'))
      await server.run("create role app superuser login password 'secret-of-app'")
      url = `postgres://app:secret-of-app@127.0.0.1:${server.port}/postgres`
    }, 60_000)
    afterAll(async () => {
      await server?.kill()
      debian?.remove()
    })

    it('is a problem if its pool is used up', async () => {
      const pooler = await startPgbouncer(url, { default_pool_size: 1 })
      const other = new pg.Client({ connectionString: pooler.through(url) })
      try {
        await other.connect()
        await other.query('begin')
        await isProblem(pooler.through(url), 'Query read timeout')
        await other.query('rollback')
      } finally {
        await other.end()
        await pooler.close()
      }
    })

    for (const [title, more] of [
      ['with server_login_retry=1', {}],
      ['with the default of server_login_retry', { server_login_retry: null }],
    ] as const)
      it(`is a problem if its PostgreSQL was killed, ${title}`, async () => {
        await server.restart()
        const pooler = await startPgbouncer(url, more)
        try {
          await server.kill()
          // Once while PgBouncer finds out, once when it knows.
          const why = '(Query read timeout|server login has been failing|Connection terminated)'
          for (const _ of [1, 2]) await isProblem(pooler.through(url), why)
        } finally {
          await pooler.close()
        }
      })

    async function isProblem(through: string, why: string) {
      const { status, bad, findings } = await diagnosed(on(through))
      expect(status).toBe(1)
      const found = `^problem: No database answers: it accepts connections and answers no statement: ${why}`
      expect(bad('database')).toEqual([expect.stringMatching(found)])
      const { advice } = findings.find(({ area }) => area === 'database') ?? {}
      expect(advice).toMatch(/a pooler .* its PostgreSQL is down or its pool is used up/)
      expect(findings.map(({ area }) => area)).toEqual(expect.arrayContaining(['configuration', 'disk', 'backup']))
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
      levels(checkReplication({ standby: false, standbys: [], waitsForStandby: false, slots, archiveFails }, true))
    expect(replication([{ ...slot, heldBytes: 2 ** 20 }])).toEqual(['ok'])
    expect(replication([{ ...slot, heldBytes: 2 * 2 ** 30 }])).toEqual(['warning'])
    expect(replication([{ ...slot, heldBytes: 17 * 2 ** 30 }])).toEqual(['problem'])
    expect(replication([{ ...slot, heldBytes: 0, lost: true }])).toEqual(['warning'])
    expect(replication([], true)).toEqual(['problem'])
    const standby = { name: 's', state: 'streaming', lagBytes: 2 ** 30, synchronous: false }
    const behind = { standby: false, standbys: [standby], waitsForStandby: false, slots: [], archiveFails: false }
    expect(levels(checkReplication(behind, false))).toEqual(['warning', 'note'])
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

  it('advise rights only for a missing right, and the migration if the message names it', () => {
    const advice = (denied: boolean) =>
      findingsOf('database').ofReading('It', { unread: 'why', denied }, () => [])[0]?.advice
    expect([advice(true), advice(false)]).toEqual([
      expect.stringMatching(/the right/),
      expect.not.stringMatching(/right/),
    ])
    const schema = (unfit: string) => checkSchema({ found: '9_z', wanted: '9_z', migrationsMissing: 0, unfit }).advice
    expect(schema('2 functions belong to a instead of b: run "keystride migrate" first')).toMatch(
      /^Run "keystride migrate"/,
    )
    expect(schema('the schema is newer: use the version of Keystride that made it')).toMatch(/^Run the version/)
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
