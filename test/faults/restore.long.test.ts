import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkSums } from '../../bench/drill/check-sums.js'
import {
  type DebianPostgres,
  type DebianServer,
  debianPostgres,
  whyNoStandby,
} from '../../bench/shared/debian-postgres.js'
import { type Keystride, keystrideWith } from '../harness/command.js'
import { type Enrolled, enroll } from '../harness/enrolled.js'
import { figure, LONG } from '../harness/figure.js'
import { until } from '../harness/patience.js'
import { sharedBackEnds, startService, type TestService } from '../harness/service.js'

const why = whyNoStandby()
if (why !== null) console.warn(`\n*** ${why} ***\n`)

/** Accounts that are deleted after the backup. */
const ERASED = LONG ? 1000 : 4
const KEPT = 2
const CODE = '749205'

/**
 * A backup of yesterday, the log that was archived since, and the loss of the database. The tests depend on each other.
 */
describe.skipIf(why !== null)('a database that is lost', { timeout: LONG ? 1_800_000 : 300_000 }, () => {
  const files = mkdtempSync(join(tmpdir(), 'keystride-lists-'))
  const list = join(files, 'erasures.jsonl')
  const redisUrl = sharedBackEnds.at(-1)?.redisUrl
  let debian: DebianPostgres
  let backup: string
  let archive: string
  let lost: Record<string, string>
  let sessions: string[]
  let linkKey: string
  let erased: Enrolled[]
  let kept: Enrolled[]
  let restored: DebianServer | undefined
  let keystride: Keystride
  let env: Record<string, string>
  let again: TestService | undefined

  const withCode = async (service: TestService, member: string) => {
    await service.call('POST', '/users/desk', { body: { type: 'generic', member_ref: member } })
    const begun = await service.call('GET', `/users/desk?member_ref=${member}`)
    const session = begun.headers.get('x-service-session') ?? ''
    const set = await service.call('PUT', '/users/desk/security-code', { session, body: { securityCode: CODE } })
    expect(set.status, JSON.stringify(set.json)).toBe(200)
    return session
  }
  const takeOff = (service: TestService, member: string) => service.call('DELETE', `/users/desk?member_ref=${member}`)

  beforeAll(
    async () => {
      debian = debianPostgres()
      archive = debian.folder('archive')
      const primary = await debian.serve(
        await debian.initialize('primary'),
        'archive_mode=on',
        `archive_command=cp %p ${archive}/%f`,
      )
      const service = await startService(primary.url, { redisUrl })
      erased = []
      for (let n = 0; n < ERASED; n++) erased.push(await enroll(service, `erased-${n}`))
      kept = []
      for (let n = 0; n < KEPT; n++) kept.push(await enroll(service, `kept-${n}`))
      // A person who left and came back before the backup stays; one who leaves after it stays away.
      await withCode(service, 'back')
      expect((await takeOff(service, 'back')).status).toBe(200)
      sessions = [await withCode(service, 'back'), await withCode(service, 'gone')]

      const made = await service.callLinks('POST', '/api/links/reset-profile/kept-0')
      linkKey = made.json.key
      expect(made.status).toBe(200)

      backup = debian.folder('backup')
      const from = `host=127.0.0.1 port=${primary.port} user=keystride`
      await debian.run('pg_basebackup', '-D', backup, '-d', from, '-X', 'stream', '--checkpoint=fast', '--no-sync')

      for (const { userRef } of erased) expect((await service.call('DELETE', `/users/${userRef}`)).status).toBe(200)
      expect((await takeOff(service, 'gone')).status).toBe(200)
      expect((await service.callLinks('DELETE', '/api/links/kept-0')).status).toBe(200)
      // The same userRef is now another account.
      await enroll(service, 'erased-0', 1)
      await enroll(service, 'later')
      env = service.env
      keystride = keystrideWith(env)
      writeFileSync(list, (await keystride('erasures', 'export')).stdout)
      await service.close()

      lost = await checkSums(primary)
      const segment = 'select pg_walfile_name(pg_current_wal_lsn()) as name'
      const last = String((await primary.run(segment))[0]?.name)
      await primary.run('select pg_switch_wal()')
      await until(async () => {
        const [row] = await primary.run('select last_archived_wal from pg_stat_archiver')
        return String(row?.last_archived_wal) >= last
      })
      await primary.kill()
    },
    LONG ? 1_200_000 : 300_000,
  )
  afterAll(async () => {
    await again?.close()
    await restored?.kill()
    debian?.remove()
    rmSync(files, { recursive: true, force: true })
  })

  it('is restored from the backup and the archived log with every row of every table', async () => {
    const copy = join(backup, '..', 'copy')
    cpSync(backup, copy, { recursive: true, preserveTimestamps: true })
    writeFileSync(join(copy, 'recovery.signal'), '')
    const server = await debian.serve(copy, `restore_command=cp ${archive}/%f %p`, 'archive_mode=off')
    await until(async () => (await server.run('select pg_is_in_recovery() as still'))[0]?.still === false)
    const found = await checkSums(server)
    await server.kill()
    const tables = Object.keys(lost)
    const equal = tables.filter((table) => found[table] === lost[table])
    expect(tables.filter((table) => found[table] !== lost[table])).toEqual([])
    expect(lost['keystride.erasure']).toMatch(new RegExp(`^${ERASED + 2} `))
    figure(
      'F21',
      `rows of ${equal.length} of ${tables.length} tables equal`,
      'all equal',
      tables.length > 30 && equal.length === tables.length,
    )
  })

  it('refuses a truncated list of erasures, and changes nothing', async () => {
    restored = await debian.serve(backup)
    keystride = keystrideWith({ ...env, DATABASE_URL: restored.url })
    const cut = join(files, 'cut')
    writeFileSync(cut, readFileSync(list, 'utf8').slice(0, -30))
    const before = await checkSums(restored)
    const ran = await keystride('erasures', 'apply', list, cut)
    expect(ran).toMatchObject({ status: 1, stderr: expect.stringContaining(`cut is not a whole list of erasures`) })
    expect(await checkSums(restored)).toEqual(before)
  })

  it('is restored from the backup alone without the people erased since, and without any session', async () => {
    const server = restored as DebianServer
    const there = async () =>
      Number(
        (await server.run(`select count(*)::int as n from keystride.account where user_ref like 'erased-%'`))[0]?.n,
      )
    expect(await there(), 'the backup has them').toBe(ERASED)
    const ran = await keystride('erasures', 'apply', list, list)
    expect(ran, ran.stderr).toMatchObject({ status: 0 })
    expect(ran.stdout).toContain(`\n${ERASED + 1} erased again\n1 erased before the backup was made\n0 that`)
    expect((await keystride('erasures', 'apply', list)).stdout).toContain(
      `\n0 erased again\n${ERASED + 2} erased before`,
    )
    expect(await there()).toBe(0)

    const service = await startService(server.url, { redisUrl })
    again = service
    // Regression: a profile link that was revoked after the backup worked again.
    expect((await fetch(`${service.auth}/b/${linkKey}`)).status).toBe(404)
    let authenticated = 0
    let alive = 0
    const tries = async (userRef: string, session: string, body: unknown) => {
      const { status, json } = await service.call('POST', `/users/${userRef}/verify`, { session, body })
      if (json.authentication?.authenticated === true) authenticated += 1
      if (status !== 400) alive += 1
    }
    for (const { userRef, session, fresh } of erased) {
      await tries(userRef, session, fresh())
      const begun = await service.bootstrap(userRef)
      expect(begun.status).toBe(404)
      const { status } = await service.call('POST', `/users/${userRef}/verify`, {
        session: begun.session,
        body: fresh(),
      })
      expect(status).toBe(404)
    }
    for (const { userRef, session, fresh } of kept) await tries(userRef, session, fresh())
    for (const session of sessions) await tries('desk', session, { securityCode: CODE })
    const old = erased.length + kept.length + sessions.length
    expect([authenticated, alive]).toEqual([0, 0])
    const roster = await service.call('GET', '/users/desk/members')
    expect(roster.json.members.map(({ memberRef }: { memberRef: string }) => memberRef)).toEqual(['back'])

    // All others sign in as before.
    let asBefore = 0
    for (const { userRef, fresh } of kept) {
      const { session } = await service.bootstrap(userRef)
      for (let n = 0; n < 3; n++) {
        const { json } = await service.call('POST', `/users/${userRef}/verify`, { session, body: fresh() })
        if (!json.authentication.authenticated) continue
        asBefore += 1
        break
      }
    }
    const { session } = await service.bootstrap('desk')
    const byCode = { securityCode: CODE, member_ref: 'back' }
    const back = await service.call('POST', '/users/desk/verify', { session, body: byCode })
    expect(back.json.authentication.authenticated).toBe(true)
    expect(asBefore).toBe(KEPT)
    figure('F21', `${alive} of ${old} old sessions live`, '0 live', alive === 0 && old > ERASED)
    figure('T33', `${authenticated} of ${ERASED + 1} back with a backup`, `0 of ${ERASED + 1}`, authenticated === 0)
  })
})
