import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSecureContext, createServer as createTls, TLSSocket } from 'node:tls'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
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
import { keystrideHere } from '../harness/command.js'
import { until } from '../harness/patience.js'
import { certificate } from '../servers/certificate.js'
import { type FreshDatabase, freshDatabase, HOSTILE_SETTINGS } from '../servers/database.js'
import { selfSigned, whyNoOpenssl } from '../servers/openssl.js'
import { startPgbouncer, whyNoPgbouncer } from '../servers/pgbouncer.js'
import { clusterIsPossible, startRedisCluster } from '../servers/redis-cluster.js'
import { smtpSink } from '../servers/sinks.js'
import { startPair } from '../servers/standby.js'
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

describe.skipIf(noDebian !== null)('the settings of PostgreSQL', () => {
  let debian: DebianPostgres
  let server: DebianServer
  let url: string
  beforeAll(async () => {
    debian = debianPostgres()
    const data = await debian.initialize('primary')
    appendFileSync(join(data, 'pg_hba.conf'), 'host all all 127.0.0.0/8 trust\n')
    // The id is at the start of a segment of the commit log, which the server then makes itself.
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
    expect(await keystrideHere(on(url))('migrate')).toMatchObject({ status: 0 })
  })
  afterAll(async () => {
    await server?.kill()
    debian?.remove()
  })

  const found = async (area: string, more = {}) => (await diagnosed({ ...on(url), ...more })).bad(area).join('\n')

  it('are compared with the advice of the documents', async () => {
    const { bad } = await diagnosed({ ...on(url), PROCESSES: '10', DATABASE_POOL: '5' })
    expect(bad('database')).toEqual(
      [
        /^problem: fsync is off/,
        /^warning: synchronous_commit is off: a crash loses answered attempts\.$/,
        /^problem: autovacuum is off/,
        /^problem: The oldest row version is 1,099,9\d\d,\d{3} transactions old; at 2 billion the database stops\.$/,
        /^problem: The server permits 30 connections, and the processes of this machine open up to 61/,
        /^note: max_wal_size is 256 MiB/,
        /^note: shared_buffers is 32 MiB/,
      ].map((line) => expect.stringMatching(line)),
    )
  })

  it('include dead rows that no vacuum removes', async () => {
    await server.run('create table keystride_history.many as select n from generate_series(1, 30000) n', 'service')
    await server.run('delete from keystride_history.many', 'service')
    // A connection adds its writes to the statistics when it ends.
    const dead = "select n_dead_tup as n from pg_stat_user_tables where relname = 'many'"
    await until(async () => Number((await server.run(dead, 'service'))[0]?.n) === 30_000)
    expect(await found('database')).toMatch(
      /^warning: keystride_history\.many has 30,000 dead rows next to 0 live ones, last vacuum never/m,
    )
    await server.run('drop table keystride_history.many', 'service')
  })

  it('that the login may not read are notes, never ok', async () => {
    const other = new pg.Client({ connectionString: server.url })
    await other.connect()
    const oks = async () =>
      (await diagnosed(on(url))).findings.filter(({ level }) => level === 'ok').map((one) => one.found)
    const hidden = [
      'No transaction has been idle for more than a minute.',
      expect.stringMatching(/the database's folder/),
    ]
    try {
      expect(await found('database')).toMatch(
        /^note: Idle transactions could not be read: the login may not see \d+ connections/m,
      )
      expect(await found('disk')).toMatch(/^note: The free space of the database's disk/)
      for (const one of hidden) expect(await oks()).not.toContainEqual(one)
      await server.run('grant pg_monitor to app')
      for (const one of hidden) expect(await oks()).toContainEqual(one)
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
})

describe.skipIf(noDebian !== null)('a standby', () => {
  let pair: Awaited<ReturnType<typeof startPair>>
  beforeEach(async () => {
    pair = await startPair()
    expect(await keystrideHere(on(pair.url))('migrate')).toMatchObject({ status: 0 })
    return () => pair.close()
  })
  const adviceOn = ({ findings }: Diagnosis, found: RegExp) => findings.find((one) => found.test(one.found))?.advice

  it('is shown with its lag, and is missed when it is lost', async () => {
    const { findings, bad } = await diagnosed(on(pair.url))
    expect(findings.map(({ found }) => found)).toEqual(
      expect.arrayContaining([
        'Every server of DATABASE_URL answers.',
        expect.stringMatching(/^Standby standby is .* behind, and commits wait for it\.$/),
      ]),
    )
    expect(bad('replication')).toEqual([])

    const waitFor = async (names: string) => {
      await pair.primary.run(`alter system set synchronous_standby_names = '${names}'`)
      await pair.primary.run('select pg_reload_conf()')
      const state = names === '' ? 'async' : 'sync'
      const standbys = 'select sync_state from pg_stat_replication'
      await until(async () => (await pair.primary.run(standbys))[0]?.sync_state === state)
    }
    await waitFor('')
    expect((await diagnosed(on(pair.url))).bad('replication')).toEqual([
      expect.stringMatching(/^note: No commit waits for a standby: a promotion may lose attempts/),
    ])
    await waitFor('standby')
    const alone = await diagnosed(on(pair.standby.url))
    expect(alone.bad('database').join('\n')).toMatch(
      /^problem: \S+ answers and is a standby, which takes no writes; DATABASE_URL names no primary\.$/m,
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
  })

  it.skipIf(noPooler !== null)('is not advised to replace a healthy primary whose pooler is lost', async () => {
    const pooler = await startPgbouncer(pair.primary.url)
    const first = new URL(pooler.through(pair.primary.url)).host
    await pooler.close()
    const found = await diagnosed(on(pair.url.replace(`127.0.0.1:${pair.primary.port}`, first)))
    const second = `127.0.0.1:${pair.standby.port}`
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
  })
})

describe.skipIf(noPooler !== null)('a pooler', () => {
  it('is found, and is a note with statements that stay prepared', async () => {
    const fresh = await freshDatabase({ settings: HOSTILE_SETTINGS })
    const pooler = await startPgbouncer(fresh.url)
    try {
      const direct = (await diagnosed(on(fresh.url))).findings.map(({ found }) => found)
      expect(direct).toContain('Sessions have the settings that the service needs.')
      const env = on(pooler.through(fresh.url))
      const { findings } = await diagnosed(env)
      expect(findings.map(({ level, found }) => `${level}: ${found}`)).toContainEqual(
        expect.stringMatching(/^problem: Sessions have other settings .*: bytea_output is escape instead of hex, /),
      )
      expect(findings.map(({ level, found }) => `${level}: ${found}`)).toContainEqual(
        expect.stringMatching(/^ok: A pooler is between .* do not stay prepared/),
      )
      const prepared = (
        await diagnosed({ ...env, DATABASE_URL: `${env.DATABASE_URL}?prepare=true`, DATABASE_POOL: '100' })
      ).bad('database')
      // The pooler decides how many connections the server has.
      expect(prepared.join('\n')).not.toContain('DATABASE_POOL')
      expect(prepared.join('\n')).toMatch(/^note: A pooler is between .* prepare=true in DATABASE_URL/m)
    } finally {
      await pooler.close()
      await fresh.drop()
    }
  })

  describe.skipIf(noDebian !== null)('that accepts connections', () => {
    let debian: DebianPostgres
    let server: DebianServer
    let url: string
    beforeAll(async () => {
      debian = debianPostgres()
      server = await debian.serve(await debian.initialize('behind'))
      await server.run("create role app superuser login password 'secret-of-app'")
      url = `postgres://app:secret-of-app@127.0.0.1:${server.port}/postgres`
    })
    afterAll(async () => {
      await server?.kill()
      debian?.remove()
    })

    async function isProblem(through: string) {
      const { bad, findings } = await diagnosed(on(through))
      expect(bad('database')).toEqual([
        expect.stringMatching(/^problem: No database answers: it accepts connections and answers no statement: /),
      ])
      expect(findings.find(({ area }) => area === 'database')?.advice).toMatch(
        /a pooler .* its PostgreSQL is down or its pool is used up/,
      )
    }

    it.each([{}, { server_login_retry: null }])('is a problem if its PostgreSQL was killed: %j', async (settings) => {
      await server.restart()
      const pooler = await startPgbouncer(url, settings)
      try {
        await server.kill()
        // PgBouncer detects the loss during the first check, and knows it at the second.
        for (const _ of [1, 2]) await isProblem(pooler.through(url))
      } finally {
        await pooler.close()
      }
    })
  })
})

describe.skipIf(!clusterIsPossible())('a Redis Cluster', () => {
  it('is checked node by node', async () => {
    const [fresh, cluster] = await Promise.all([freshDatabase(), startRedisCluster()])
    try {
      const { findings, bad } = await diagnosed({ ...on(fresh.url), REDIS_URL: cluster.url })
      expect(findings.map(({ found }) => found)).toContainEqual(
        expect.stringMatching(/^A cluster of 3 masters and 3 replicas answers/),
      )
      expect(bad('redis').join('\n')).not.toContain('problem')
      await cluster.nodes[4]?.cli('config', 'set', 'maxmemory-policy', 'volatile-ttl')
      await cluster.nodes[4]?.cli('config', 'set', 'maxmemory', '100mb')
      expect((await diagnosed({ ...on(fresh.url), REDIS_URL: cluster.url })).bad('redis').join('\n')).toMatch(
        /^problem: this Redis evicts keys when full \(maxmemory-policy volatile-ttl\)/m,
      )
    } finally {
      await cluster.close()
      await fresh.drop()
    }
  })
})

describe.skipIf(noOpenssl !== null)('certificates', () => {
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

  /** Gives a new organization these alert channels. */
  const channels = async (settings: Record<string, object>) => {
    const id = (await keystrideHere(on(fresh.url))('organization', 'create', 'Alerts')).stdout.split('\n')[0] ?? ''
    const client = new pg.Client({ connectionString: fresh.url })
    await client.connect()
    await client.query('set role keystride_system')
    const insert = 'insert into keystride.alert_channel (organization_id, channel, settings) values ($1, $2, $3)'
    for (const [channel, one] of Object.entries(settings)) await client.query(insert, [id, channel, one])
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
          sender: 'a@b.example',
          recipients: ['b@b.example'],
        },
        sms: { url: `https://localhost:${soonPort}/sms`, recipients: ['+33612345678'] },
      })
      const env = { ...on(fresh.url), ALERT_HOSTS: '127.0.0.1', ALERT_CA: ca }
      const { findings, bad } = await diagnosed(env)
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
    expect(checkActivity({ idleInTransaction: 2, oldestS: 7000 }).level).toBe('warning')
    const slot = { name: 's', active: true, lost: false, heldBytes: 0 }
    const standby = { name: 's', state: 'streaming', lagBytes: 2 ** 30, synchronous: false }
    const healthy = { standby: false, standbys: [], waitsForStandby: false, slots: [], archiveFails: false }
    for (const [change, found] of [
      [{ slots: [{ ...slot, heldBytes: 2 ** 20 }] }, 'ok'],
      [{ slots: [{ ...slot, heldBytes: 2 * 2 ** 30 }] }, 'warning'],
      [{ slots: [{ ...slot, heldBytes: 17 * 2 ** 30 }] }, 'problem'],
      [{ slots: [{ ...slot, lost: true }] }, 'warning'],
      [{ archiveFails: true }, 'problem'],
    ] as const)
      expect([change, levels(checkReplication({ ...healthy, ...change }, true))]).toEqual([change, [found]])
    expect(levels(checkReplication({ ...healthy, standbys: [standby] }, false))).toEqual(['warning', 'note'])
    const primaries = ['a:1', 'b:1'].map((host) => ({ host, role: 'primary' as const }))
    expect(levels(checkMembers(primaries))).toEqual(['ok', 'problem'])
    const table = { name: 't', bytes: 2 ** 30, liveRows: 1_000_000, lastVacuumAt: 0 }
    expect(levels(checkTables([{ ...table, deadRows: 400_000 }]))).toEqual(['ok'])
    expect(levels(checkTables([{ ...table, deadRows: 450_000 }]))).toEqual(['ok', 'warning'])
    const space = (free: number, total = 100) => spaceOf('it', free, total).level
    expect([space(20), space(10), space(3), space(0, 0)]).toEqual(['ok', 'warning', 'problem', 'note'])
  })

  it('advise rights only for a missing right, and the migration if the message names it', () => {
    const advice = (denied: boolean) =>
      findingsOf('database').ofReading('It', { unread: 'why', denied }, () => [])[0]?.advice
    expect(advice(true)).toMatch(/the right/)
    expect(advice(false)).not.toMatch(/right/)
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
  })
})
