import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { keystrideWith } from '../harness/command.js'
import { redisIsHere } from '../harness/flushed-redis.js'
import { until } from '../harness/patience.js'
import { startService } from '../harness/service.js'
import { type OwnRedis, startOwnRedis } from '../harness/stores.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { falseClock, whyNoFalseClock } from '../servers/faketime.js'
import { diagnosed } from './diagnosis.js'

const KEY = Buffer.alloc(32, 7).toString('base64')
const OTHER_KEY = Buffer.alloc(32, 8).toString('base64')
const HOUR_S = 3600

const folder = mkdtempSync(join(tmpdir(), 'keystride-doctor-'))
let fresh: FreshDatabase
let env: Record<string, string>
beforeAll(async () => {
  fresh = await freshDatabase()
  env = { DATABASE_URL: fresh.url, ENCRYPTION_KEY: KEY, KEYSTRIDE_DATA: folder, PROCESSES: '1', DATABASE_POOL: '2' }
  expect(await keystrideWith(env)('organization', 'create', 'Acme')).toMatchObject({ status: 0 })
})
afterAll(async () => {
  await fresh.drop()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs statements on a database, by default as the role that sees every organization. */
async function query(text: string, { role = 'keystride_system', url = fresh.url } = {}) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    if (role !== '') await client.query(`set role ${role}`)
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** The findings of an area that are not ok, one a line. */
const found = async (area: string, more: Record<string, string> = {}, options = {}) =>
  (await diagnosed({ ...env, ...more }, options)).bad(area).join('\n')

const RECENT_BACKUP = /^note: No list of erasures/
const erasures = async () => (await keystrideWith(env)('erasures', 'export')).stdout

it.skipIf(!redisIsHere())(
  'a healthy deployment has no problem and no warning of its stores, every area is checked, and no secret is printed',
  async () => {
    const redis = await startOwnRedis('--maxmemory', '100mb')
    await redis.cli('config', 'set', 'requirepass', 'the-password-of-redis')
    const service = await startService(fresh.url, { more: env })
    const completed = "select 1 from pgboss.job where state = 'completed'"
    await until(async () => (await query(completed, { role: '' })).length > 0)
    const [backup, list] = [join(folder, 'keystride.dump'), join(folder, 'erasures.jsonl')]
    writeFileSync(backup, `PGDMP${'x'.repeat(5000)}`)
    writeFileSync(list, await erasures())
    const all = { ...env, REDIS_URL: `redis://:the-password-of-redis@127.0.0.1:${redis.port}` }
    try {
      const { findings, bad } = await diagnosed(all, { backup, erasures: list })
      for (const area of ['clocks', 'database', 'redis', 'disk', 'keys', 'jobs', 'alerts', 'backup']) {
        const levels = findings.filter((one) => one.area === area).map(({ level }) => level)
        expect(levels, area).toContain('ok')
        if (!['database', 'disk'].includes(area)) expect(bad(area)).toEqual([])
      }
      for (const more of [[], ['--json']]) {
        const args = ['doctor', '--backup', backup, '--erasures', list, ...more]
        const { status, stdout, stderr } = await keystrideWith(all)(...args)
        expect([status, stderr]).toEqual([0, ''])
        expect(stdout).toContain(more.length > 0 ? '"ok": true' : ' 0 problems')
        for (const secret of [new URL(fresh.url).password, 'the-password-of-redis', KEY.slice(0, 20)])
          expect(stdout).not.toContain(secret)
      }
    } finally {
      await service.close()
      await redis.close()
    }
  },
)

it('the doctor changes nothing', async () => {
  const rows = 'select relname, n_tup_ins + n_tup_upd + n_tup_del as writes from pg_stat_user_tables order by 1'
  const others = 'select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
  // A connection adds its writes to the statistics when it ends.
  const written = async () => {
    await until(async () => (await query(others, { role: '' })).length === 0)
    return query(rows, { role: '' })
  }
  const before = await written()
  await diagnosed(env)
  expect(await written()).toEqual(before)
})

describe('the configuration', () => {
  it('is checked for unknown variables and dangerous combinations', async () => {
    const { bad } = await diagnosed({
      ...env,
      KEYSTRIDE_DTA: 'x',
      DEMO: 'on',
      REPLAY: 'flag',
      TOUCH_SCREENS: 'accept',
      READY_NEEDS_STORES: 'on',
      PROCESSES: '64',
      HOST: '0.0.0.0',
      ALERT_HOSTS: '0.0.0.0/0',
    })
    for (const line of [
      /^warning: KEYSTRIDE_DTA is not a setting of Keystride: did you mean KEYSTRIDE_DATA\?/m,
      /^warning: DEMO=on offers/m,
      /^warning: REPLAY=flag/m,
      /^note: TOUCH_SCREENS=accept/m,
      /^note: READY_NEEDS_STORES=on/m,
      /^warning: PROCESSES is 64 on \d+ cores/m,
      /^warning: \/metrics is served without a key on the port of the APIs/m,
      /^warning: The links of hosted pages lead to localhost/m,
      /^warning: ALERT_HOSTS permits every address/m,
      /^note: No check sees whether a copy of the encryption key exists/m,
    ])
      expect(bad('configuration').join('\n')).toMatch(line)
  })

  it('counts the connections of the processes that the roles make', async () => {
    const many = { ...env, PROCESSES: '64', SSO_FILE: join(folder, 'sso.json') }
    const upTo = async (ROLES: string) => {
      const { findings } = await diagnosed({ ...many, ROLES })
      return / open up to (\d+) /.exec(findings.map((one) => one.found).join('\n'))?.[1]
    }
    // Each process with jobs has one more for an export; the supervisor has one or two.
    expect([await upTo('core,jobs'), await upTo('core,sso'), await upTo('sso')]).toEqual(['193', '130', '2'])
  })

  it.each<[what: string, area: string, more: () => Record<string, string>, findings: RegExp[]]>([
    [
      'values that cannot be used',
      'configuration',
      () => ({ PORT: 'harbour', ENCRYPTION_KEY: 'short-secret' }),
      [/^problem: PORT/, /^problem: ENCRYPTION_KEY(?!.*short-secret)/],
    ],
    [
      'a file of certificates that is absent',
      'certificates',
      () => ({ ALERT_CA: '/none' }),
      [/^problem: .*\(ENOENT\)/],
    ],
    [
      'a database that is down',
      'database',
      () => ({ DATABASE_URL: 'postgres://a:pass-word@127.0.0.1:1/b' }),
      [/^problem: No database answers: (?!.*pass-word).*ECONNREFUSED/],
    ],
    [
      'a login that the database refuses',
      'database',
      () => ({ DATABASE_URL: fresh.url.replace(/:[^:@/]*@/, ':a-wrong-password@') }),
      [/^problem: No database answers: password authentication failed(?!.*a-wrong)/],
    ],
    [
      'another key',
      'keys',
      () => ({ ENCRYPTION_KEY: OTHER_KEY }),
      [/^problem: Encryption key [0-9a-f]{16} is not held/],
    ],
    [
      'a rotation that is not complete',
      'keys',
      () => ({ ENCRYPTION_KEY: OTHER_KEY, ENCRYPTION_KEY_PREVIOUS: KEY }),
      [/^warning: The rotation .* not complete: \d of \d org/],
    ],
    [
      'a previous key that is no longer used',
      'keys',
      () => ({ ENCRYPTION_KEY_PREVIOUS: OTHER_KEY }),
      [/^note: No organization is under previous key/],
    ],
  ])('is reported with %s, and the other checks go on', async (_, area, more, findings) => {
    const { bad, findings: all } = await diagnosed({ ...env, ...more() })
    expect(bad(area)).toEqual(findings.map((one) => expect.stringMatching(one)))
    if (area === 'configuration') return
    expect(all.map((one) => one.area)).toEqual(expect.arrayContaining(['configuration', 'disk', 'backup']))
  })

  it('is a warning if several machines are meant and the database is the embedded one, which is not started', async () => {
    const data = join(folder, 'embedded')
    const { bad } = await diagnosed({ KEYSTRIDE_DATA: data, DATABASE_URL: '', REDIS_URL: 'redis://127.0.0.1:1' })
    expect(bad('configuration').join('\n')).toMatch(/^warning: REDIS_URL is set, but the embedded PostgreSQL serves/m)
    expect(bad('database')).toEqual([expect.stringMatching(/^warning: No embedded PostgreSQL runs/)])
    expect(() => rmSync(data, { recursive: true })).toThrow('ENOENT')
  })

  it('is a problem if the file of the encryption key is damaged', async () => {
    const data = mkdtempSync(join(folder, 'damaged-'))
    writeFileSync(join(data, 'encryption.key'), 'AAAA\n')
    const { bad } = await diagnosed({ KEYSTRIDE_DATA: data, DATABASE_URL: '', ENCRYPTION_KEY: '' })
    expect(bad('keys')).toEqual([expect.stringMatching(/^problem: .*an encryption key of 3 bytes: 32 are needed/)])
  })
})

describe('a database of its own', () => {
  let other: FreshDatabase
  let on: { DATABASE_URL: string }
  const sql = (text: string, role = 'keystride_system') => query(text, { url: other.url, role })
  beforeEach(async () => {
    other = await freshDatabase({ empty: true })
    on = { DATABASE_URL: other.url }
    return () => other.drop()
  })

  it('is a problem if its schema is absent, older or newer', async () => {
    expect(await found('database', on)).toMatch(/^problem: The schema is at no version, .*: \d+ migrations missing/m)
    // Checks that need tables are notes.
    expect(await found('keys', on)).toMatch(/^note: The data keys could not be read: /)
    await keystrideWith({ ...env, ...on })('migrate')
    const history = 'keystride_history.migration'
    const [last] = await sql(`delete from ${history} where id = (select max(id) from ${history}) returning name`, '')
    expect(await found('database', on)).toMatch(/^problem: The schema is at \w+, .* wants \w+: 1 migration missing/m)
    await sql(`insert into ${history} (name, run_on) values ('${last?.name}', now())`, '')
    expect(await found('database', on)).not.toContain('problem')
    await sql("update keystride_history.function set version = '99.0.0', sha256 = ''", '')
    expect(await found('database', on)).toMatch(/^problem: The schema does not fit: .*newer/m)
  })

  it('is a problem if its data keys do not open, jobs wait or fail, an export is stuck, an alert is overdue, or a channel is closed', async () => {
    await keystrideWith({ ...env, ...on })('migrate')
    const id = (await keystrideWith({ ...env, ...on })('organization', 'create', 'Late')).stdout.split('\n')[0] ?? ''
    expect(await found('jobs', on)).toMatch(/^note: No deletion of expired rows.*$/)
    await sql(
      `insert into pgboss.job (name, start_after, state, completed_on) values
        ('find-exports', now() - interval '20 minutes', default, null),
        ('retention', now() - interval '2 hours', default, null),
        ('export-log', now(), 'failed', null),
        ('retention', now(), 'completed', now() - interval '20 hours')`,
      '',
    )
    await sql(`insert into keystride.export_archive (organization_id, id, kind, date_from, date_to, created_at, expires_at)
      values ('${id}', gen_random_uuid(), 'logs', now(), now(), now() - interval '1 hour', now() + interval '1 day')`)
    await sql(`insert into keystride.alert_channel (organization_id, channel, settings, failures, closed_until) values
      ('${id}', 'sms', '{"url": "https://127.0.0.1:1/", "recipients": ["+33612345678"]}', 4, now() + interval '1 hour'),
      ('${id}', 'syslog', '{"host": "127.0.0.1", "port": 1, "transport": "udp"}', 0, null),
      ('${id}', 'webhook', '{"url": "ftp://old"}', 0, null)`)
    await sql(`insert into keystride.notification (organization_id, id, event, kind, at)
      values ('${id}', '0198c0de-0000-7000-8000-000000000000', 'e', 'outage', now())`)
    await sql(`insert into keystride.alert_delivery (organization_id, id, notification_id, channel, due_at)
      values ('${id}', gen_random_uuid(), '0198c0de-0000-7000-8000-000000000000', 'sms', now() - interval '40 minutes')`)
    await sql(
      'update keystride.organization set wrapped_key = set_byte(wrapped_key, 20, get_byte(wrapped_key, 20) # 1)',
    )
    const { bad } = await diagnosed({ ...env, ...on })
    for (const [area, findings] of Object.entries({
      keys: [/^problem: Encryption key \w+ is held, but not all of/],
      jobs: [
        /^warning: 1 job of export-log failed/,
        /^warning: 1 job of find-exports waiting, the oldest for 20 min/,
        /^problem: 1 job of retention waiting, the oldest for 2 h/,
        /^warning: The last deletion of expired rows \(retention\) was 20 h ago/,
        /^warning: 1 export stuck/,
      ],
      alerts: [
        /^warning: Channel sms of organization \S+ is closed after 4 failures in a row/,
        /^warning: Channel webhook of organization \S+ has settings that this version does not read/,
        /^warning: 1 alert waiting, the oldest overdue for 40 min/,
      ],
      certificates: [
        /^warning: The certificate of 127\.0\.0\.1:1 \(sms\) could not be read: this deployment does not allow/,
        /^note: 1 alert channel without TLS/,
      ],
    }))
      expect(bad(area)).toEqual(findings.map((one) => expect.stringMatching(one)))
  })
})

describe.skipIf(!redisIsHere())('Redis', () => {
  let redis: OwnRedis
  beforeEach(async () => {
    redis = await startOwnRedis()
    return () => redis.close()
  })
  const set = (name: string, value: string) => redis.cli('config', 'set', name, value)
  const bad = async (area = 'redis') =>
    (await diagnosed({ ...env, REDIS_URL: `redis://127.0.0.1:${redis.port}` })).bad(area)

  it('is a problem if it is down', async () => {
    await redis.kill()
    expect(await bad()).toEqual([expect.stringMatching(/^problem: No Redis answers: connect ECONNREFUSED/)])
  })

  it('is a problem if it evicts keys, and a warning if it would with a limit', async () => {
    await set('maxmemory-policy', 'allkeys-lru')
    expect(await bad()).toEqual([
      expect.stringMatching(/^warning: maxmemory-policy is allkeys-lru/),
      expect.stringMatching(/^note: Memory use is .* without a limit/),
    ])
    await set('maxmemory', '200mb')
    expect(await bad()).toEqual([expect.stringMatching(/^problem: this Redis evicts keys when full/)])
  })

  it('is a warning if it is almost full, and a problem if it takes no writes', async () => {
    await redis.cli('eval', "for i = 1, 200 do redis.call('set', 'k' .. i, string.rep('x', 50000)) end", '0')
    await set('maxmemory', '13mb')
    expect(await bad()).toEqual([expect.stringMatching(/^warning: Memory use is .* of 13 MiB/)])
    await set('maxmemory', '5mb')
    expect((await bad()).join('\n')).toMatch(/^problem: Redis takes no writes: OOM/m)
    expect(await bad('clocks')).toEqual([expect.stringMatching(/^note: The clock of Redis was not compared: OOM/)])
  })
})

const faketime = whyNoFalseClock()
if (faketime !== null) console.warn(`\n*** ${faketime} ***\n`)

it.skipIf(faketime !== null)('a wrong clock is a warning, and a problem from a minute on', async () => {
  const clock = falseClock()
  try {
    for (const [offS, says] of [
      [20, /"warning",\s+"found": "The clock of this machine is \d+ s off the database's/],
      [-HOUR_S, /"problem",\s+"found": "The clock of this machine is \d+ min off the database's/],
    ] as const) {
      clock.set(offS)
      expect((await keystrideWith({ ...env, ...clock.env })('doctor', '--json')).stdout).toMatch(says)
    }
  } finally {
    clock.remove()
  }
})

describe('backups', () => {
  const backups = join(folder, 'backups')
  const at = (name: string, ageH: number, text = 'PGDMP') => {
    const time = Date.now() / 1000 - ageH * HOUR_S
    writeFileSync(join(backups, name), text)
    utimesSync(join(backups, name), time, time)
  }
  beforeEach(() => {
    mkdirSync(backups)
    return () => rmSync(backups, { recursive: true })
  })
  const look = (name = '', more = {}) => found('backup', {}, { backup: join(backups, name), ...more })

  it('are checked by the age and size of the newest complete one', async () => {
    at('keystride.dump.part', 1)
    expect(await look()).toMatch(/^problem: There is no backup in /)
    at('old.dump', 70)
    expect(await look()).toMatch(/^warning: The newest backup is .*old\.dump, 5 bytes, 3 days old; the limit is 26 h/)
    expect(await look('', { backupMaxAge: 100 })).toMatch(RECENT_BACKUP)
    at('new.dump', 2)
    expect(await look()).toMatch(RECENT_BACKUP)
    expect(await look('old.dump')).toMatch(/^warning: The newest backup is .*old\.dump/)
    expect(await look('none')).toMatch(/^problem: --backup .* cannot be read \(ENOENT\)/)
    for (const mark of ['toc.dat', 'backup_label', 'base.tar.gz']) {
      mkdirSync(join(backups, mark, 'deep'), { recursive: true })
      at(`${mark}/${mark}`, 50, 'text')
      at(`${mark}/deep/file`, 0, 'more')
      expect(await look(mark)).toMatch(/^warning: The newest backup is .*, 8 bytes, 2 days old/)
    }
  })

  it('are not hidden by other files, which are counted', async () => {
    at('old.dump', 70)
    at('erasures-1.jsonl', 0, '{"erasures":0}')
    at('empty.dump', 0, '')
    at('new.dump.part', 0)
    // This link cannot be read, like the lost+found of a file system.
    symlinkSync(join(backups, 'none'), join(backups, 'latest.dump'))
    expect(await look()).toMatch(/^warning: The newest backup is .*old\.dump, .*; 4 other files skipped\.$/m)
    rmSync(join(backups, 'old.dump'))
    expect(await look()).toMatch(/^problem: There is no backup in .*; 4 other files skipped\.$/m)
  })

  it('are a problem next to the encryption key', async () => {
    at('new.dump', 1)
    const file = join(backups, 'key')
    writeFileSync(file, KEY)
    const keyOnly = { ENCRYPTION_KEY: '', ENCRYPTION_KEY_FILE: file }
    expect(await found('backup', keyOnly, { backup: backups })).toMatch(
      /^problem: The encryption key is next to the backups, in .*key:/m,
    )
  })

  it('have a list of erasures that must be whole and recent', async () => {
    const list = join(backups, 'erasures.jsonl')
    const empty = await erasures()
    writeFileSync(list, empty)
    const lookAt = async () => (await diagnosed(env, { erasures: list })).bad('backup').slice(1)
    expect(await lookAt()).toEqual([])
    utimesSync(list, 1, 1)
    expect(await lookAt()).toEqual([expect.stringMatching(/^warning: .* has 0 entries .*; the limit is 26 h/)])
    const [row] = await query('select organization_id as id from keystride.organization limit 1')
    await query(`insert into keystride.erasure (organization_id, id, at, of, person)
      values ('${row?.id}', gen_random_uuid(), now(), 'account', sha256('x'))`)
    // A copy is newer than the deletion that it lacks.
    writeFileSync(list, empty)
    expect(await lookAt()).toEqual([expect.stringMatching(/^warning: The list .* people were deleted after it/)])
    writeFileSync(list, await erasures())
    expect(await lookAt()).toEqual([])
    truncateSync(list, 20)
    expect(await lookAt()).toEqual([expect.stringMatching(/^problem: .* is not a whole list of erasures/)])
    rmSync(list)
    expect(await lookAt()).toEqual([expect.stringMatching(/^problem: --erasures .* cannot be read \(ENOENT\)/)])
  })
})
