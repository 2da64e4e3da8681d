import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { redisIsHere } from '../faults/flushed-redis.js'
import { type OwnRedis, startOwnRedis } from '../faults/stores.js'
import { until } from '../patience.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { falseClock, whyNoFalseClock } from '../servers/faketime.js'
import { startService, type TestService } from '../service.js'
import { keystrideWith } from './command.js'
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

describe.skipIf(!redisIsHere())('a healthy deployment', { timeout: 120_000 }, () => {
  let redis: OwnRedis
  let service: TestService
  beforeAll(async () => {
    redis = await startOwnRedis('--maxmemory', '100mb')
    await redis.cli('config', 'set', 'requirepass', 'the-password-of-redis')
    service = await startService(fresh.url, { more: env })
    await until(
      async () => (await query("select 1 from pgboss.job where state = 'completed'", { role: '' })).length > 0,
    )
  })
  afterAll(async () => {
    await service.close()
    await redis.close()
  })

  it('has no problem and no warning of its stores; every area is checked, and no secret is printed', async () => {
    const password = new URL(fresh.url).password
    expect(password.length).toBeGreaterThan(10)
    const backup = join(folder, 'keystride.dump')
    writeFileSync(backup, `PGDMP${'x'.repeat(5000)}`)
    const list = join(folder, 'erasures.jsonl')
    writeFileSync(list, (await keystrideWith(env)('erasures', 'export')).stdout)
    const options = ['--backup', backup, '--erasures', list]
    const all = { ...env, REDIS_URL: `redis://:the-password-of-redis@127.0.0.1:${redis.port}` }
    const { status, findings, bad, output } = await diagnosed(all, ...options)
    expect(status).toBe(0)
    expect(findings.filter(({ level }) => level === 'problem')).toEqual([])
    for (const area of ['clocks', 'database', 'redis', 'disk', 'keys', 'jobs', 'alerts', 'backup'])
      expect(
        findings.map(({ area, level }) => `${area} ${level}`),
        area,
      ).toContain(`${area} ok`)
    expect([
      ...bad('clocks'),
      ...bad('redis'),
      ...bad('keys'),
      ...bad('jobs'),
      ...bad('alerts'),
      ...bad('backup'),
    ]).toEqual([])
    expect(output).toMatch(/The clock of this machine and of Redis agrees/)
    const shown = await keystrideWith(all)('doctor', ...options)
    expect(shown.stdout).toMatch(/^level +area +found\n/)
    expect(shown.stdout).toMatch(/\nok +keys +The data keys of all 1 organization open\.\n/)
    expect(shown.stdout).toMatch(/\n {2,}-> Keep a copy of ENCRYPTION_KEY apart /)
    expect(shown.stdout).toMatch(/\n\n\d+ ok, \d+ notes?, \d+ warnings?, 0 problems\n$/)
    for (const secret of [password, 'the-password-of-redis', KEY, KEY.slice(0, 20)])
      expect([output.includes(secret), shown.stdout.includes(secret), shown.stderr]).toEqual([false, false, ''])
  })

  it('changes nothing', async () => {
    const rows = 'select relname, n_tup_ins + n_tup_upd + n_tup_del as writes from pg_stat_user_tables order by 1'
    await service.close()
    const others = 'select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
    try {
      // A connection adds its writes to the statistics when it ends.
      await until(async () => (await query(others, { role: '' })).length === 0)
      const before = await query(rows, { role: '' })
      await diagnosed(env)
      expect(await query(rows, { role: '' })).toEqual(before)
    } finally {
      service = await startService(fresh.url, { more: env })
    }
  })
})

describe('the configuration', { timeout: 120_000 }, () => {
  it('is checked for unknown variables and dangerous combinations', async () => {
    const { bad } = await diagnosed({
      ...env,
      KEYSTRIDE_DTA: 'x',
      DEMO: 'on',
      REPLAY: 'flag',
      TOUCH_SCREENS: 'accept',
      READY_NEEDS_STORES: 'on',
      PROCESSES: '64',
      DATABASE_POOL: '2',
      HOST: '0.0.0.0',
      ALERT_HOSTS: '0.0.0.0/0',
    })
    const found = bad('configuration').join('\n')
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
      expect(found).toMatch(line)
    expect(bad('database').join('\n')).toMatch(
      /^problem: The server permits 57 connections, and .* open up to 193 \(PROCESSES x \(DATABASE_POOL \+ 1 for an export\), and 1 of/m,
    )
  })

  it('counts the connections of the processes that the roles make', async () => {
    const with64 = { ...env, PROCESSES: '64', SSO_FILE: join(folder, 'sso.json') }
    const together = await diagnosed({ ...with64, ROLES: 'core,sso' })
    expect(together.bad('database').join('\n')).toMatch(/ open up to 130 \(PROCESSES x DATABASE_POOL, and 2 of their/)
    const alone = await diagnosed({ ...with64, ROLES: 'sso' })
    const connections = alone.findings.map(({ level, found }) => `${level}: ${found}`).join('\n')
    expect(connections).toMatch(/^ok: The server permits 57 connections, .* open up to 2 \(DATABASE_POOL\)\.$/m)
  })

  it('is reported variable by variable if it cannot be used', async () => {
    const { status, findings, output } = await diagnosed({ ...env, PORT: 'harbour', ENCRYPTION_KEY: 'short-secret' })
    expect(status).toBe(1)
    expect(findings.map(({ area, level }) => `${area} ${level}`)).toEqual(Array(2).fill('configuration problem'))
    expect(output).not.toContain('short-secret')
  })

  it('is a warning if several machines are meant and the database is the embedded one, which is not started', async () => {
    const data = join(folder, 'embedded')
    const { status, bad } = await diagnosed({
      KEYSTRIDE_DATA: data,
      DATABASE_URL: '',
      REDIS_URL: 'redis://127.0.0.1:1',
    })
    expect(bad('configuration').join('\n')).toMatch(/^warning: REDIS_URL is set, but the embedded PostgreSQL serves/m)
    expect(bad('database')).toEqual([expect.stringMatching(/^warning: No embedded PostgreSQL runs/)])
    expect(status).toBe(1)
    expect(() => rmSync(data, { recursive: true })).toThrow('ENOENT')
  })
})

describe('the encryption keys', { timeout: 120_000 }, () => {
  it('are a problem if one is missing or does not open a data key', async () => {
    expect(await keystrideWith(env)('organization', 'create', 'Keys')).toMatchObject({ status: 0 })
    const wrong = await diagnosed({ ...env, ENCRYPTION_KEY: OTHER_KEY })
    expect(wrong.status).toBe(1)
    expect(wrong.bad('keys')).toEqual([expect.stringMatching(/^problem: Encryption key [0-9a-f]{16} is not held here/)])

    const other = await freshDatabase()
    try {
      const on = { ...env, DATABASE_URL: other.url }
      await keystrideWith(on)('organization', 'create', 'Altered')
      await query(
        'update keystride.organization set wrapped_key = set_byte(wrapped_key, 20, get_byte(wrapped_key, 20) # 1)',
        {
          url: other.url,
        },
      )
      const altered = await diagnosed(on)
      expect(altered.bad('keys')).toEqual([
        expect.stringMatching(/^problem: Encryption key \w+ is held, but not all of/),
      ])
    } finally {
      await other.drop()
    }
  })

  it('are a warning if they are partly rotated, and a note if a previous key is no longer used', async () => {
    const rotating = { ...env, ENCRYPTION_KEY: OTHER_KEY, ENCRYPTION_KEY_PREVIOUS: KEY }
    const partly = await diagnosed(rotating)
    expect(partly.bad('keys')).toEqual([expect.stringMatching(/^warning: The rotation .* not complete: \d of \d org/)])
    const unused = await diagnosed({ ...env, ENCRYPTION_KEY_PREVIOUS: OTHER_KEY })
    expect(unused.bad('keys')).toEqual([expect.stringMatching(/^note: No organization is under previous key/)])
  })
})

describe('a file of the configuration that cannot be used', { timeout: 120_000 }, () => {
  it('is a problem, and the other checks go on', async () => {
    const data = mkdtempSync(join(folder, 'damaged-'))
    writeFileSync(join(data, 'encryption.key'), 'AAAA\n')
    const damaged = await diagnosed({ KEYSTRIDE_DATA: data, DATABASE_URL: '', ENCRYPTION_KEY: '' })
    expect(damaged.bad('keys')).toEqual([
      `problem: ${join(data, 'encryption.key')} cannot be used: an encryption key of 3 bytes: 32 are needed.`,
    ])
    expect(damaged.findings.map(({ area }) => area)).toEqual(
      expect.arrayContaining(['configuration', 'disk', 'backup']),
    )

    const absent = join(data, 'none.pem')
    const { bad, findings } = await diagnosed({ ...env, ALERT_CA: absent })
    expect(bad('certificates')).toEqual([
      `problem: ALERT_CA ${absent} cannot be read (ENOENT): the certificates of alert channels were not checked.`,
    ])
    for (const area of ['database', 'alerts', 'jobs', 'keys']) expect(findings.map((one) => one.area)).toContain(area)
  })
})

describe('the schema', { timeout: 120_000 }, () => {
  it('is a problem if it is absent, older or newer', async () => {
    const other = await freshDatabase({ empty: true })
    const on = { ...env, DATABASE_URL: other.url }
    const sql = (text: string) => query(text, { url: other.url, role: '' })
    try {
      const absent = await diagnosed(on)
      expect(absent.bad('database').join('\n')).toMatch(
        /^problem: The schema is at no version, .*: \d+ migrations missing/m,
      )
      // Other checks go on, and those that need tables are notes.
      expect(absent.bad('keys')).toEqual([expect.stringMatching(/^note: The data keys could not be read: /)])
      await keystrideWith(on)('migrate')
      const [last] = await sql(`delete from keystride_history.migration
        where id = (select max(id) from keystride_history.migration) returning name`)
      const older = await diagnosed(on)
      expect(older.bad('database').join('\n')).toMatch(
        /^problem: The schema is at \w+, this build wants \w+: 1 migration missing/m,
      )
      await sql(`insert into keystride_history.migration (name, run_on) values ('${last?.name}', now())`)
      expect((await diagnosed(on)).bad('database').join('\n')).not.toContain('problem')
      await sql("update keystride_history.function set version = '99.0.0', sha256 = ''")
      const newer = await diagnosed(on)
      expect(newer.bad('database').join('\n')).toMatch(/^problem: The schema does not fit: .*newer/m)
    } finally {
      await other.drop()
    }
  })
})

describe.skipIf(!redisIsHere())('Redis', { timeout: 120_000 }, () => {
  let redis: OwnRedis
  beforeEach(async () => {
    redis = await startOwnRedis()
    return () => redis.close()
  })
  const on = () => ({ ...env, REDIS_URL: `redis://127.0.0.1:${redis.port}` })

  it('is a problem if it is down, and the other checks go on', async () => {
    await redis.kill()
    const { status, bad, findings } = await diagnosed(on())
    expect(status).toBe(1)
    expect(bad('redis')).toEqual([expect.stringMatching(/^problem: No Redis answers: connect ECONNREFUSED/)])
    expect(findings).toContainEqual(expect.objectContaining({ area: 'keys', level: 'ok' }))
  })

  it('is a problem if it evicts keys, and a warning if it would with a limit', async () => {
    await redis.cli('config', 'set', 'maxmemory-policy', 'allkeys-lru')
    expect((await diagnosed(on())).bad('redis')).toEqual([
      expect.stringMatching(/^warning: maxmemory-policy is allkeys-lru/),
      expect.stringMatching(/^note: Memory use is .* without a limit/),
    ])
    await redis.cli('config', 'set', 'maxmemory', '200mb')
    const evicts = await diagnosed(on())
    expect(evicts.bad('redis')).toEqual([expect.stringMatching(/^problem: this Redis evicts keys when full/)])
  })

  it('is a warning if it is almost full, and a problem if it takes no writes', async () => {
    await redis.cli('eval', "for i = 1, 200 do redis.call('set', 'k' .. i, string.rep('x', 50000)) end", '0')
    await redis.cli('config', 'set', 'maxmemory', '13mb')
    expect((await diagnosed(on())).bad('redis')).toEqual([
      expect.stringMatching(/^warning: Memory use is .* of 13 MiB/),
    ])
    await redis.cli('config', 'set', 'maxmemory', '5mb')
    const full = await diagnosed(on())
    expect(full.bad('redis').join('\n')).toMatch(/^problem: Redis takes no writes: OOM/m)
    expect(full.bad('clocks')).toEqual([expect.stringMatching(/^note: The clock of Redis was not compared: OOM/)])
  })
})

describe('a database that is down', { timeout: 120_000 }, () => {
  it('is a problem, and the checks of the configuration, the disk and the backup go on', async () => {
    const { status, findings, bad, output } = await diagnosed({
      ...env,
      DATABASE_URL: 'postgres://a:pass-word@127.0.0.1:1/b',
    })
    expect(status).toBe(1)
    expect(bad('database')).toEqual([expect.stringMatching(/^problem: No database answers: .*ECONNREFUSED/)])
    expect(bad('clocks')).toEqual([expect.stringMatching(/^note: /)])
    for (const area of ['configuration', 'disk', 'backup']) expect(findings.map((one) => one.area)).toContain(area)
    for (const area of ['keys', 'jobs', 'alerts']) expect(findings.map((one) => one.area)).not.toContain(area)
    expect(output).not.toContain('pass-word')
  })

  it('is a problem if it refuses the login, and the password is not printed', async () => {
    const url = new URL(fresh.url)
    url.password = 'a-wrong-password'
    const { bad, output } = await diagnosed({ ...env, DATABASE_URL: url.href })
    expect(bad('database')).toEqual([
      expect.stringMatching(/^problem: No database answers: password authentication failed/),
    ])
    expect(output).not.toContain('a-wrong-password')
  })
})

const faketime = whyNoFalseClock()
if (faketime !== null) console.warn(`\n*** ${faketime} ***\n`)

describe.skipIf(faketime !== null)('clocks', { timeout: 120_000 }, () => {
  it('are a warning from 5 s on, and a problem from a minute on', async () => {
    const clock = falseClock()
    try {
      clock.set(20)
      expect((await diagnosed({ ...env, ...clock.env })).bad('clocks')).toEqual([
        expect.stringMatching(/^warning: The clock of this machine is (19|20|21) s off the database's\.$/),
      ])
      clock.set(-HOUR_S)
      expect((await diagnosed({ ...env, ...clock.env })).bad('clocks')).toEqual([
        "problem: The clock of this machine is 60 min off the database's.",
      ])
    } finally {
      clock.remove()
    }
  })
})

describe('backups', { timeout: 120_000 }, () => {
  const at = (name: string, ageH: number, text = 'PGDMP') => {
    const file = join(folder, 'backups', name)
    writeFileSync(file, text)
    const time = Date.now() / 1000 - ageH * HOUR_S
    utimesSync(file, time, time)
    return file
  }
  const backups = join(folder, 'backups')
  beforeEach(() => {
    mkdirSync(backups)
    return () => rmSync(backups, { recursive: true })
  })
  const look = async (path: string, ...more: string[]) =>
    (await diagnosed(env, '--backup', path, ...more)).bad('backup')[0]

  it('are checked by the age and size of the newest complete one', async () => {
    expect(await look(backups)).toMatch(/^problem: There is no backup in /)
    at('keystride.dump.part', 1)
    expect(await look(backups)).toMatch(/^problem: There is no backup in /)
    at('old.dump', 70)
    expect(await look(backups)).toMatch(
      /^warning: The newest backup is .*old\.dump, 5 bytes, 3 days old; the limit is 26 h/,
    )
    expect(await look(backups, '--backup-max-age', '100')).toMatch(/^note: No list of erasures/)
    at('new.dump', 2)
    expect(await look(backups)).toMatch(/^note: No list of erasures/)
    expect(await look(join(backups, 'old.dump'))).toMatch(/^warning: The newest backup is .*old\.dump/)
    expect(await look(join(backups, 'none'))).toMatch(/^problem: --backup .* cannot be read \(ENOENT\)/)
    mkdirSync(join(backups, 'directory'))
    at('directory/toc.dat', 0)
    expect(await look(backups)).toMatch(/^note: No list of erasures/)
  })

  it('are not hidden by other files, which are counted', async () => {
    at('old.dump', 70)
    at('erasures-1.jsonl', 0, '{"erasures":0}')
    at('empty.dump', 0, '')
    at('new.dump.part', 0)
    // Cannot be read, like the lost+found of a file system.
    symlinkSync(join(backups, 'none'), join(backups, 'latest.dump'))
    expect(await look(backups)).toMatch(
      /^warning: The newest backup is .*old\.dump, 5 bytes, 3 days old; the limit is 26 h; 4 other files skipped\.$/,
    )
    rmSync(join(backups, 'old.dump'))
    expect(await look(backups)).toMatch(/^problem: There is no backup in .*; 4 other files skipped\.$/)
    expect(await look(join(backups, 'empty.dump'))).toMatch(
      /^problem: There is no backup in .*empty\.dump; 1 other file/,
    )
    for (const mark of ['backup_label', 'base.tar.gz']) {
      mkdirSync(join(backups, mark, 'deep'), { recursive: true })
      at(`${mark}/${mark}`, 50, 'text')
      at(`${mark}/deep/file`, 0, 'more')
      expect(await look(join(backups, mark))).toMatch(/^warning: The newest backup is .*, 8 bytes, 2 days old/)
    }
  })

  it('are a problem next to the encryption key', async () => {
    at('new.dump', 1)
    writeFileSync(join(backups, 'key'), KEY)
    const { bad } = await diagnosed(
      { ...env, ENCRYPTION_KEY: '', ENCRYPTION_KEY_FILE: join(backups, 'key') },
      '--backup',
      backups,
    )
    expect(bad('backup').join('\n')).toMatch(/^problem: The encryption key is next to the backups, in .*key:/m)
  })

  it('have a list of erasures that must be whole and recent', async () => {
    const list = join(backups, 'erasures.jsonl')
    const empty = (await keystrideWith(env)('erasures', 'export')).stdout
    writeFileSync(list, empty)
    const lookAt = async () => (await diagnosed(env, '--erasures', list)).bad('backup').slice(1)
    expect(await lookAt()).toEqual([])
    utimesSync(list, 1, 1)
    expect(await lookAt()).toEqual([
      expect.stringMatching(/^warning: The list of erasures has 0 entries .*; the limit is 26 h/),
    ])
    const [row] = await query('select organization_id as id from keystride.organization limit 1')
    await query(`insert into keystride.erasure (organization_id, id, at, of, person)
      values ('${row?.id}', gen_random_uuid(), now(), 'account', sha256('x'))`)
    expect(await lookAt()).toEqual([expect.stringMatching(/^warning: The list .* people were deleted after it/)])
    // A copy is newer than the deletion that it lacks.
    writeFileSync(list, empty)
    expect(await lookAt()).toEqual([expect.stringMatching(/^warning: The list .* people were deleted after it/)])
    writeFileSync(list, (await keystrideWith(env)('erasures', 'export')).stdout)
    expect(await lookAt()).toEqual([])
    truncateSync(list, 20)
    expect(await lookAt()).toEqual([expect.stringMatching(/^problem: .* is not a whole list of erasures/)])
    rmSync(list)
    expect(await lookAt()).toEqual([expect.stringMatching(/^problem: --erasures .* cannot be read \(ENOENT\)/)])
  })
})

describe('background work', { timeout: 120_000 }, () => {
  it('is reported if jobs wait or fail, an export is stuck, an alert is overdue, or a channel is closed', async () => {
    const other = await freshDatabase()
    const on = { ...env, DATABASE_URL: other.url }
    const sql = (text: string, role?: string) =>
      query(text, { url: other.url, ...(role === undefined ? {} : { role }) })
    try {
      const id = (await keystrideWith(on)('organization', 'create', 'Late')).stdout.split('\n')[0] ?? ''
      expect((await diagnosed(on)).bad('jobs')).toEqual([expect.stringMatching(/^note: No deletion of expired rows/)])
      await sql("insert into pgboss.job (name, start_after) values ('find-exports', now() - interval '20 minutes')", '')
      await sql("insert into pgboss.job (name, start_after) values ('retention', now() - interval '2 hours')", '')
      await sql("insert into pgboss.job (name, state) values ('export-log', 'failed')", '')
      await sql(
        "insert into pgboss.job (name, state, completed_on) values ('retention', 'completed', now() - interval '20 hours')",
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
      const { status, bad } = await diagnosed(on)
      expect(status).toBe(1)
      expect(bad('jobs')).toEqual([
        expect.stringMatching(/^warning: 1 job of export-log failed/),
        expect.stringMatching(/^warning: 1 job of find-exports waiting, the oldest for 20 min/),
        expect.stringMatching(/^problem: 1 job of retention waiting, the oldest for 2 h/),
        expect.stringMatching(/^warning: The last deletion of expired rows \(retention\) was 20 h ago/),
        expect.stringMatching(/^warning: 1 export stuck/),
      ])
      expect(bad('alerts')).toEqual([
        expect.stringMatching(/^warning: Channel sms of organization \S+ is closed after 4 failures in a row/),
        expect.stringMatching(
          /^warning: Channel webhook of organization \S+ has settings that this version does not read/,
        ),
        expect.stringMatching(/^warning: 1 alert waiting, the oldest overdue for 40 min/),
      ])
      expect(bad('certificates')).toEqual([
        expect.stringMatching(
          /^warning: The certificate of 127\.0\.0\.1:1 \(sms\) could not be read: this deployment does not allow/,
        ),
        expect.stringMatching(/^note: 1 alert channel without TLS/),
      ])
    } finally {
      await other.drop()
    }
  })
})
