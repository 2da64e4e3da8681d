import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { v7 as uuid } from 'uuid'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createExportFlows } from '../../src/flows/insight/exports.js'
import { createExporter } from '../../src/jobs/export-log.js'
import type { ExportStore } from '../../src/storage/exports.js'
import { postgresAccounts } from '../../src/storage/postgres/person/account.js'
import { csvRecords, unzipped } from '../api/dashboard/archive-file.js'
import { startFlows } from '../flows/real-flows.js'
import { person } from '../harness/fixtures.js'
import { until } from '../harness/patience.js'
import { sharedDatabase } from '../servers/database.js'

const ROWS = 1000
const PIECE_BYTES = 16 * 1024
const HOUR_MS = 3_600_000
const { url, database } = await sharedDatabase()
const { stores, organizationId: org } = await startFlows()
const { exports, vault } = stores
let id: string

beforeAll(async () => {
  for (const userRef of ['ada', 'eve']) await person(database, org, userRef)
  // Incompressible ids, so that there are several pieces.
  await database.asSystem(
    (sql) => sql`
        insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
          account_type, session_id, method, authenticated, recommended_action, reason, confidence, confidence_biometrics,
          policy_id, n_patterns_ref, n_patterns_ref_used)
        select ${org}, overlay(keystride.uuid_from(now())::text placing substr(gen_random_uuid()::text, 15, 22) from 15 for 22)::uuid,
          now(), gen_random_uuid(), gen_random_uuid(), case i % 100 when 0 then 'eve' else 'ada' end, md5(random()::text),
          'nominative', md5(random()::text), 'biometric', true, 'auth', '', random(), random(), gen_random_uuid(), 5, 5
        from generate_series(1, ${ROWS}::int) i`,
  )
})
beforeEach(async () => {
  id = uuid()
  const now = Date.now()
  const window = { from: now - HOUR_MS, to: now + HOUR_MS }
  const archive = { id, kind: 'authentications', window, createdAt: now, expiresAt: now + HOUR_MS } as const
  expect(await exports.add(org, archive, 10)).toBe(true)
})

const never = new AbortController().signal
const flows = () =>
  createExportFlows({ exports, vault, jobs: { send: async () => true }, newId: () => uuid(), now: Date.now })
const export_ = (signal = never, over: Partial<ExportStore> = {}) =>
  createExporter({ exports: { ...exports, ...over }, vault, pieceBytes: PIECE_BYTES })(org, id, signal)
const records = async () => csvRecords(unzipped((await flows().download(org, id)).bytes).content.toString('utf8'))
const status = async () => (await exports.list(org, Date.now())).find((one) => one.id === id)?.status
const letClaimLapse = () =>
  database.scoped(
    org,
    (sql) =>
      sql`update keystride.export_archive set claimed_until = clock_timestamp() - interval '1 second' where id = ${id}`,
  )
const pieces = () =>
  database.scoped(
    org,
    (sql) => sql<{ attempt: number; sealed: Buffer }[]>`
      select attempt, sealed from keystride.export_piece where archive_id = ${id}`,
  )

/** A promise that the test resolves. */
function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/** An exporter that stops after `n` pieces, like one whose machine has died; `go` resumes it. */
function halting(n: number) {
  const [halt, resumption] = [gate(), gate()]
  const append: ExportStore['append'] = async (organizationId, claim, place, sealed) => {
    if (place === n) {
      halt.open()
      await resumption.opened
    }
    return exports.append(organizationId, claim, place, sealed)
  }
  return { append, halted: halt.opened, go: resumption.open }
}

/** A deletion that is under way until `release`. */
async function deleting() {
  const [lock, end] = [gate(), gate()]
  const deletion = database.scoped(org, async (sql) => {
    await sql`select keystride.note_erasure()`
    lock.open()
    await end.opened
  })
  await lock.opened
  return { deletion, release: end.open }
}

/** The number of statements that wait for a deletion; cancels them with `cancel`. */
async function waitsForDeletion({ cancel = false } = {}): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rowCount } = await client.query(`
      select ${cancel ? 'pg_cancel_backend(pid)' : 'pid'} from pg_stat_activity
      where datname = current_database() and wait_event = 'advisory' and query like '%await_erasures%'`)
    return rowCount ?? 0
  } finally {
    await client.end()
  }
}

describe('an export', () => {
  it('holds every row once, in several pieces that are unreadable without the keys', async () => {
    await export_()
    const rows = await records()
    expect(rows.length).toBe(ROWS + 1)
    expect(new Set(rows.map(([rowId]) => rowId)).size).toBe(ROWS + 1)
    const stored = await pieces()
    expect(stored.length).toBeGreaterThan(3)
    expect(Math.max(...stored.map(({ sealed }) => sealed.length))).toBeLessThan(PIECE_BYTES + 64)
    expect(Buffer.concat(stored.map(({ sealed }) => sealed)).includes('authentications.csv')).toBe(false)
  })

  it('is resumed after its process died, and becomes one whole archive', async () => {
    const dead = halting(2)
    const first = export_(never, { append: dead.append })
    const outcome = first.then(
      () => 'finished',
      (error: Error) => error.message,
    )
    await dead.halted
    expect([await status(), (await pieces()).length]).toEqual(['running', 2])
    // While the claim is valid no other process begins.
    await export_()
    expect(await status()).toBe('running')
    expect(await exports.abandoned()).not.toContainEqual({ organizationId: org, id })
    await letClaimLapse()
    expect(await exports.abandoned()).toContainEqual({ organizationId: org, id })
    await export_()
    const rows = await records()
    expect(rows.length).toBe(ROWS + 1)
    // The first process was alive: its writes are refused.
    dead.go()
    expect(await outcome).toBe(`the export ${id} was taken over or has to begin again`)
    expect([await status(), await records()]).toEqual(['ready', rows])
    while (await exports.forget(Date.now())) {
      // More pieces are left.
    }
    expect((await pieces()).filter(({ attempt }) => attempt !== 2)).toEqual([])
    expect(await records()).toEqual(rows)
  })

  it('stopped half-way can be claimed by another process at once', async () => {
    const stopping = new AbortController()
    const half = halting(1)
    const outcome = export_(stopping.signal, { append: half.append }).catch((error: Error) => error.name)
    await half.halted
    stopping.abort()
    half.go()
    expect(await outcome).toBe('AbortError')
    expect(await status()).toBe('queued')
    await export_()
    expect((await records()).length).toBe(ROWS + 1)
  })

  it('is failed after five attempts', async () => {
    const broken: ExportStore['append'] = () => Promise.reject(new Error('no room'))
    for (let tries = 1; tries <= 5; tries += 1) {
      await expect(export_(never, { append: broken })).rejects.toThrow('no room')
      expect(await status()).toBe('queued')
    }
    await export_()
    expect(await status()).toBe('failed')
    await expect(flows().download(org, id)).rejects.toMatchObject({ kind: 'nothing-found' })
    expect(await exports.abandoned()).not.toContainEqual({ organizationId: org, id })
  })

  it('does not decrypt with a piece changed, moved, or of another archive', async () => {
    await export_()
    const whole = async () => Buffer.from((await flows().download(org, id)).bytes)
    const before = await whole()
    const swap = (a: number, b: number) =>
      database.scoped(
        org,
        (sql) => sql`
          update keystride.export_piece p set sealed = o.sealed from keystride.export_piece o
          where p.archive_id = ${id} and o.archive_id = ${id} and (p.n, o.n) in ((${a}, ${b}), (${b}, ${a}))`,
      )
    await swap(0, 1)
    await expect(flows().download(org, id)).rejects.toThrow('altered, or moved')
    await swap(0, 1)
    expect((await whole()).equals(before)).toBe(true)
    await database.scoped(
      org,
      (sql) => sql`update keystride.export_archive set secret = ${randomBytes(32)} where id = ${id}`,
    )
    await expect(flows().download(org, id)).rejects.toThrow('altered, or moved')
  })

  it('begins again without a person who was deleted while it was written', async () => {
    const slow = halting(2)
    const outcome = export_(never, { append: slow.append }).catch((error: Error) => error.message)
    await slow.halted
    await postgresAccounts(database).remove(org, 'eve')
    expect(await status()).toBe('queued')
    slow.go()
    expect(await outcome).toBe(`the export ${id} was taken over or has to begin again`)
    await export_()
    const rows = await records()
    expect(rows.length).toBe(ROWS - ROWS / 100 + 1)
    expect(rows.filter((row) => row[2] === 'eve')).toEqual([])
  })

  it('waits for a running deletion before it reads', async () => {
    const { deletion, release } = await deleting()
    let claimed = false
    const claim = exports.claim(org, id, randomBytes(32)).then(() => {
      claimed = true
    })
    await until(async () => (await waitsForDeletion()) === 1)
    expect(claimed).toBe(false)
    release()
    await Promise.all([deletion, claim])
    expect(claimed).toBe(true)
  })

  it('is queued again at once, with all its attempts, if the wait for a running deletion ends with an error', async () => {
    const { deletion, release } = await deleting()
    try {
      for (let tries = 1; tries <= 6; tries += 1) {
        const outcome = export_().then(
          () => 'finished',
          () => 'failed',
        )
        await until(async () => (await waitsForDeletion({ cancel: true })) > 0)
        expect([await outcome, await status()]).toEqual(['failed', 'queued'])
      }
    } finally {
      release()
      await deletion
    }
    await export_()
    expect([await status(), (await records()).length > 1]).toEqual(['ready', true])
  })
})
