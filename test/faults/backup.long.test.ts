import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkSums } from '../../bench/drill/check-sums.js'
import { backupScripts } from '../../bench/drill/documented.js'
import {
  type DebianPostgres,
  type DebianServer,
  debianPostgres,
  whyNoStandby,
} from '../../bench/shared/debian-postgres.js'
import { type Keystride, keystrideWith } from '../harness/command.js'
import { type Enrolled, enroll } from '../harness/enrolled.js'
import { until } from '../harness/patience.js'
import { startService, type TestService } from '../harness/service.js'

const why = whyNoStandby()
if (why !== null) console.warn(`\n*** ${why} ***\n`)

const file = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const { dump: dumpAlone, verify: verifyAlone, restore } = backupScripts()
const dump = dumpAlone + verifyAlone

/** The tests depend on each other: each continues with the state that the one before it left. */
describe.skipIf(why !== null)('a backup by pg_dump', () => {
  const files = mkdtempSync(join(tmpdir(), 'keystride-dumps-'))
  const whole = join(files, 'keystride.dump')
  const temporary = mkdtempSync(join(tmpdir(), 'keystride-verify-'))
  let debian: DebianPostgres
  let primary: DebianServer
  let url: string
  let env: Record<string, string>
  let service: TestService | undefined
  let person: Enrolled
  let servers = 0

  /** Runs a script with the programs of PostgreSQL and `keystride` on its PATH. */
  const shell = async (script: string, more: Record<string, string> = {}): ReturnType<Keystride> => {
    const path = `${debian.bin}:${files}/bin:${process.env.PATH}`
    const options = { cwd: files, env: { ...env, PATH: path, TMPDIR: temporary, ...more } }
    try {
      return { status: 0, ...(await promisify(execFile)('sh', ['-ec', script], options)) }
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
      return { status: code, stdout, stderr }
    }
  }
  const verify = (name: string, more: Record<string, string> = {}) => shell(`keystride backup verify ${name}`, more)

  beforeAll(async () => {
    debian = debianPostgres()
    primary = await debian.serve(await debian.initialize('primary'))
    await primary.run('create role app login createrole')
    await primary.run('create database service owner app')
    url = `postgres://app@127.0.0.1:${primary.port}/service`
    env = { DATABASE_URL: url, ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }
    const command = `#!/bin/sh\nexec ${process.execPath} ${file('bin/keystride.mjs')} "$@"\n`
    await shell('mkdir bin')
    writeFileSync(join(files, 'bin/keystride'), command, { mode: 0o755 })
  })
  afterAll(async () => {
    await service?.close()
    await primary?.kill()
    debian?.remove()
    for (const folder of [files, temporary]) rmSync(folder, { recursive: true, force: true })
  })

  it('fails without the role, and leaves no file under the name of the dump', async () => {
    const migrated = await keystrideWith(env)('migrate')
    expect(migrated, migrated.stderr).toMatchObject({ status: 0 })
    const sql = /must run these statements once in this database:\n\n(create role [\s\S]*;)\n/.exec(
      migrated.stdout,
    )?.[1]
    const failed = await shell(dump)
    expect(failed).toMatchObject({ status: 1, stderr: expect.stringContaining('"keystride_backup" does not exist') })
    const asLogin = await shell(dump.replace('--role=keystride_backup ', ''))
    expect(asLogin).toMatchObject({ status: 1, stderr: expect.stringContaining('affected by row-level security') })
    expect(existsSync(whole)).toBe(false)

    await primary.run(String(sql), 'service')
    expect((await keystrideWith(env)('migrate')).stdout).toBe('The database is up to date.\n')
  })

  it('runs as documented, with the rows of partitions that are newer than the role', async () => {
    service = await startService(url)
    person = await enroll(service, 'kim')
    const { json } = await service.call('POST', '/users/kim/verify', { session: person.session, body: person.fresh() })
    expect(json.success).toBe(true)
    await primary.run('select keystride.ensure_partitions(9)', 'service')
    const made = await shell(dump)
    expect(made, made.stderr).toMatchObject({ status: 0, stderr: '' })
    expect(readdirSync(files).sort()).toEqual(['bin', 'keystride.dump'])
    const [row] = await primary.run('select count(*)::int as n from keystride.reference_pattern', 'service')
    const patterns = Number(row?.n)
    expect(patterns).toBeGreaterThanOrEqual(5)
    for (const line of ['organizations +1', 'accounts +1', `reference patterns +${patterns}`, 'attempts +1'])
      expect(made.stdout).toMatch(new RegExp(`^${line}$`, 'm'))
    expect(made.stdout).toMatch(/\nencryption key \S+ +held, 1 organizations\n/)
    expect(made.stdout).toMatch(/\nkeystride\.dump is complete, and its encryption keys are held\.\n$/)
    const machine = await shell('keystride backup verify keystride.dump --json')
    expect(JSON.parse(machine.stdout)).toMatchObject({
      file: 'keystride.dump',
      migrationsMissing: 0,
      counts: { organization: 1, account: 1, member: 1, reference_pattern: patterns, authentication: 1, erasure: 0 },
      keys: [{ organizations: 1, state: 'held' }],
    })
    expect(readdirSync(temporary)).toEqual([])
  })

  /** The owner and the rights of every function. */
  const ownersOn = (server: DebianServer, database: string) =>
    server.run(
      `select p.oid::regprocedure::text as function, pg_get_userbyid(p.proowner) as owner, prosecdef, proacl::text
       from pg_proc p where pronamespace = 'keystride'::regnamespace order by 1`,
      database,
    )

  it.each([
    ['a superuser', ['create role app login superuser']],
    [
      'a login that is no superuser',
      [
        'create role app login createdb createrole',
        'create role keystride_backup nologin bypassrls',
        'grant keystride_backup to app',
      ],
    ],
  ])(
    'is restored as documented by %s, with every row of every table and the owner of every function',
    async (_, roles) => {
      await service?.close()
      service = undefined
      const server = await debian.serve(await debian.initialize(`restored-${servers++}`))
      for (const statement of roles) await server.run(statement)
      const SERVER = `postgres://app@127.0.0.1:${server.port}`
      try {
        const dumped = await shell(dumpAlone)
        expect(dumped, dumped.stderr).toMatchObject({ status: 0 })
        const sums = await checkSums(primary, 'service')
        const restored = await shell(restore, { SERVER })
        expect(restored, restored.stderr).toMatchObject({ status: 0, stderr: '' })
        expect(restored.stdout).not.toContain('create role')
        const found = await checkSums(server, 'keystride')
        expect(found).toEqual(sums)
        expect(Object.keys(found).length).toBeGreaterThan(30)
        const owners = await ownersOn(primary, 'service')
        expect(owners.filter(({ owner }) => owner === 'keystride_system').length).toBeGreaterThan(40)
        expect(await ownersOn(server, 'keystride')).toEqual(owners)

        const again = await startService(`${SERVER}/keystride`)
        try {
          const { session } = await again.bootstrap('kim')
          const { json } = await again.call('POST', '/users/kim/verify', { session, body: person.fresh() })
          expect(json.authentication.confidence).toBeGreaterThan(0)
        } finally {
          await again.close()
        }
        const next = await shell(dumpAlone, { DATABASE_URL: `${SERVER}/keystride` })
        expect(next, next.stderr).toMatchObject({ status: 0 })
      } finally {
        await server.kill()
      }
    },
  )

  const dumpTo = (name: string, options: string, database = url) =>
    shell(`pg_dump --dbname=${database} --role=keystride_backup --format=custom --file=${name} ${options}`)

  const damages: Record<string, { make: (name: string) => unknown; says: RegExp }> = {
    absent: { make: () => {}, says: /absent does not exist/ },
    'of-sql': {
      make: (name) => shell(`pg_dump --dbname=${url} --role=keystride_backup --file=${name}`),
      says: /of-sql is no backup that pg_restore reads: .*text format/,
    },
    'cut-in-its-rows': { make: (name) => cut(name, -400), says: /cut-in-its-rows cannot be restored: / },
    'with-another-policy': {
      make: (name) => replaceIn(name, 'USING ((organization_id = ', 'USING ((organization_id > '),
      says: /with-another-policy is damaged: it has another definition of policy \w+ /,
    },
    'with-another-function': {
      make: (name) =>
        replaceIn(name, "clock_timestamp() + interval '1 minute'", "clock_timestamp() + interval '9 minute'"),
      says: /with-another-function is damaged: it has another definition of function \w+\(/,
    },
    foreign: {
      make: async (name) => {
        await primary.run('create table if not exists public.diary (day date); grant select on public.diary to public')
        return dumpTo(name, '', `postgres://keystride@127.0.0.1:${primary.port}/postgres`)
      },
      says: /foreign is a backup of another database/,
    },
    'without-rows': {
      make: (name) => dumpTo(name, '--exclude-table-data=keystride.erasure'),
      says: /without-rows is incomplete: it lacks the rows of keystride erasure/,
    },
    'under-row-level-security': {
      make: (name) => shell(`pg_dump --dbname=${url} --enable-row-security --format=custom --file=${name}`),
      says: /under-row-level-security holds no organization: it cannot be a complete backup/,
    },
    'without-a-table': {
      make: (name) => dumpTo(name, '--exclude-table=keystride.erasure'),
      says: /without-a-table is incomplete: it lacks /,
    },
    newer: {
      make: async (name) => {
        await primary.run(`insert into keystride_history.migration (name, run_on) values ('9_newer', now())`, 'service')
        const made = await dumpTo(name, '')
        await primary.run(`delete from keystride_history.migration where name = '9_newer'`, 'service')
        return made
      },
      says: /the backup in newer is at 9_newer, newer than \d+_\w+: use the version/,
    },
  }
  const cut = (name: string, at: number) => writeFileSync(name, readFileSync(whole).subarray(0, at))
  const overwrite = (name: string, damage: (bytes: Buffer) => unknown) => {
    const bytes = readFileSync(whole)
    damage(bytes)
    writeFileSync(name, bytes)
  }
  /** The contents, with all definitions as text, come before the rows, which are compressed. */
  const replaceIn = (name: string, text: string, by: string) =>
    overwrite(name, (bytes) => {
      expect(bytes.includes(text)).toBe(true)
      bytes.write(by, bytes.indexOf(text))
    })

  it.each(Object.keys(damages))('"backup verify" refuses it if it is %s', async (name) => {
    const { make, says } = damages[name] ?? {}
    await make?.(join(files, name))
    const { status, stdout, stderr } = await verify(name)
    expect(stderr).toMatch(says as RegExp)
    expect(stderr.split('\n')).toEqual([expect.stringMatching(/^keystride: /), ''])
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(readdirSync(temporary)).toEqual([])
  })

  it('is refused without its encryption key, and accepted with it as a previous key', async () => {
    const other = Buffer.alloc(32, 8).toString('base64')
    const missing = await verify('keystride.dump', { ENCRYPTION_KEY: other })
    expect(missing).toMatchObject({ status: 1, stdout: expect.stringMatching(/^encryption key \S+ +missing, 1 /m) })
    expect(missing.stderr).toMatch(/^keystride: keystride\.dump is complete, but encryption key \S+ is missing: /)
    const keys = { ENCRYPTION_KEY: other, ENCRYPTION_KEY_PREVIOUS: env.ENCRYPTION_KEY ?? '' }
    expect(await verify('keystride.dump', keys)).toMatchObject({ status: 0, stderr: '' })
    // A machine without a database of the service and without a key.
    const elsewhere = { DATABASE_URL: '', ENCRYPTION_KEY: '', KEYSTRIDE_DATA: join(files, 'none') }
    expect(await verify('keystride.dump', elsewhere)).toMatchObject({ status: 1, stderr: missing.stderr })
    expect(existsSync(join(files, 'none'))).toBe(false)
  })

  it('leaves no temporary database if "backup verify" is terminated', async () => {
    const verifying = verify('keystride.dump & echo $! > pid; wait $!')
    await until(async () => readdirSync(temporary).length > 0)
    process.kill(Number(readFileSync(join(files, 'pid'), 'utf8')))
    expect(await verifying).toMatchObject({ status: 1, stderr: 'keystride: interrupted\n' })
    expect(readdirSync(temporary)).toEqual([])
  })
})
