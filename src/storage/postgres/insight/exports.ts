import type { ExportKind, ExportStatus } from '../../../domain/export.js'
import type { ClaimedExport, ExportArchive, ExportStore } from '../../exports.js'
import type { Database, Transaction } from '../connection/client.js'
import { exportRows } from './export-rows.js'

interface ArchiveRow {
  id: string
  kind: ExportKind
  date_from: Date
  date_to: Date
  status: ExportStatus
  created_at: Date
  expires_at: Date
  size: string | null
  attempts: number
}

const ATTEMPTS_MAX = 5
/** A piece takes about a second. A process that takes longer than this, multiplied by STORE_PATIENCE, counts as dead. */
const CLAIM_S = 30
/** Limit of a statement of an export, which fetches 500 rows. */
const ROWS_STATEMENT_MS = 30_000

/** Archives in PostgreSQL; each export reads rows on a separate connection. */
export function postgresExports(database: Database): ExportStore {
  return {
    add: (organizationId, { id, kind, window, createdAt, expiresAt }, waitingMax) =>
      database.scoped(organizationId, async (sql) => {
        const added = await sql`
          insert into keystride.export_archive (organization_id, id, kind, date_from, date_to, created_at, expires_at)
          select ${organizationId}, ${id}, ${kind}, ${new Date(window.from)}, ${new Date(window.to)}, ${new Date(createdAt)},
            ${new Date(expiresAt)}
          where (select count(*) from keystride.export_archive
            where organization_id = ${organizationId} and status in ('queued', 'running')) < ${waitingMax}`
        return added.count > 0
      }),

    list: (organizationId, now) =>
      database.scoped(organizationId, async (sql) => {
        const rows = await sql<ArchiveRow[]>`
          select ${columns(sql)} from keystride.export_archive
          where organization_id = ${organizationId} and expires_at > ${new Date(now)} order by id desc`
        return rows.map(toArchive)
      }),

    claim: (organizationId, id, secret) => claim(database, organizationId, id, secret),

    rows: (organizationId, kind, window) =>
      exportRows(database.server(), organizationId, { kind, ...window }, ROWS_STATEMENT_MS * database.patience),

    append: (organizationId, claim, n, sealed) =>
      database.scoped(organizationId, async (sql) => {
        const held = await sql`
          update keystride.export_archive set claimed_until = ${claimEnd(sql, database)}
          where ${heldBy(sql, organizationId, claim)}`
        if (held.count === 0) return false
        await sql`
          insert into keystride.export_piece (organization_id, archive_id, attempt, n, sealed)
          values (${organizationId}, ${claim.id}, ${claim.attempt}, ${n}, ${sealed})`
        return true
      }),

    finish: (organizationId, claim, size) =>
      database.scoped(organizationId, async (sql) => {
        const done = await sql`
          update keystride.export_archive set status = 'ready', size = ${size}, claimed_until = null
          where ${heldBy(sql, organizationId, claim)}`
        return done.count > 0
      }),

    release: (organizationId, claim) => release(database, organizationId, claim, claim.attempt),

    ready: (organizationId, id, now) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<(ArchiveRow & { secret: Uint8Array })[]>`
          select ${columns(sql)}, secret from keystride.export_archive
          where organization_id = ${organizationId} and id = ${id} and status = 'ready' and expires_at > ${new Date(now)}`
        if (row === undefined) return null
        return { kind: row.kind, attempt: row.attempts, secret: row.secret, size: Number(row.size) }
      }),

    pieces: (organizationId, id, attempt) => pieces(database, organizationId, id, attempt),

    abandoned: () =>
      database.call(async (sql) => {
        const rows = await sql<{ organization_id: string; id: string }[]>`
          select organization_id, id from keystride.abandoned_exports()`
        return rows.map((row) => ({ organizationId: row.organization_id, id: row.id }))
      }),

    forget: (now) =>
      database.call(async (sql) => {
        const [row] = await sql<{ more: boolean }[]>`select keystride.forget_exports(${new Date(now)}) as more`
        return row?.more === true
      }),
  }
}

async function claim(
  database: Database,
  organizationId: string,
  id: string,
  secret: Uint8Array,
): Promise<ClaimedExport | null> {
  const claimed = await database.scoped(organizationId, async (sql) => {
    const [row] = await sql<ArchiveRow[]>`
      update keystride.export_archive set attempts = attempts + 1,
        status = case when attempts >= ${ATTEMPTS_MAX} then 'failed' else 'running' end,
        secret = case when attempts >= ${ATTEMPTS_MAX} then null else ${secret}::bytea end,
        claimed_until = ${claimEnd(sql, database)}
      where organization_id = ${organizationId} and id = ${id} and expires_at > clock_timestamp()
        and (status = 'queued' or (status = 'running' and claimed_until < clock_timestamp()))
      returning ${columns(sql)}`
    return row?.status === 'running' ? { ...toArchive(row), attempt: row.attempts } : null
  })
  if (claimed === null) return null
  try {
    // Must follow the commit of the claim (await_erasures.sql).
    await database.scoped(organizationId, (sql) => sql`select keystride.await_erasures()`)
  } catch (error) {
    // A deletion may take longer than this statement may. The attempt has read nothing, so it does not count.
    await release(database, organizationId, claimed, claimed.attempt - 1).catch(() => {})
    throw error
  }
  return claimed
}

const release = (
  database: Database,
  organizationId: string,
  claim: ClaimedExport,
  attempts: number,
): Promise<boolean> =>
  database.scoped(organizationId, async (sql) => {
    const done = await sql`
      update keystride.export_archive set status = 'queued', secret = null, claimed_until = null, attempts = ${attempts}
      where ${heldBy(sql, organizationId, claim)}`
    return done.count > 0
  })

async function* pieces(
  database: Database,
  organizationId: string,
  id: string,
  attempt: number,
): AsyncGenerator<Uint8Array> {
  for (let n = 0; ; n += 1) {
    const [row] = await database.scoped(
      organizationId,
      (sql) => sql<{ sealed: Uint8Array }[]>`
        select sealed from keystride.export_piece
        where organization_id = ${organizationId} and archive_id = ${id} and attempt = ${attempt} and n = ${n}`,
    )
    if (row === undefined) return
    yield row.sealed
  }
}

/**
 * Deletes the archives that contain rows of a person, and restarts one that is being written. The caller is the transaction that
 * erases the person, before it deletes these rows. The statements must be sent in this order.
 */
export function eraseFromExports(sql: Transaction, organizationId: string, userRef: string) {
  // Retention may have dropped rows this old, which an archive still has.
  const holds = sql`
    organization_id = ${organizationId} and kind = 'authentications' and (
      date_from < clock_timestamp() - make_interval(hours => 24 * 390) or exists (
        select 1 from keystride.authentication a where a.organization_id = ${organizationId} and a.user_ref = ${userRef}
          and a.id >= keystride.uuid_from(date_from) and a.id < keystride.uuid_from(date_to)))`
  return [
    sql`select keystride.note_erasure()`,
    sql`
      update keystride.export_archive set status = 'queued', secret = null, claimed_until = null
      where status = 'running' and ${holds}`,
    sql`delete from keystride.export_archive where status = 'ready' and ${holds}`,
  ]
}

const columns = (sql: Transaction) => sql`
  id, kind, date_from, date_to, status, created_at, expires_at, size, attempts`

const claimEnd = (sql: Transaction, { patience }: Database) => sql`
  clock_timestamp() + make_interval(secs => ${CLAIM_S * patience})`

const heldBy = (sql: Transaction, organizationId: string, { id, attempt }: ClaimedExport) => sql`
  organization_id = ${organizationId} and id = ${id} and status = 'running' and attempts = ${attempt}`

const toArchive = (row: ArchiveRow): ExportArchive => ({
  id: row.id,
  kind: row.kind,
  window: { from: row.date_from.getTime(), to: row.date_to.getTime() },
  status: row.status,
  createdAt: row.created_at.getTime(),
  expiresAt: row.expires_at.getTime(),
  size: row.size === null ? null : Number(row.size),
})
