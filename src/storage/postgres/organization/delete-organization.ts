import { setTimeout as delay } from 'node:timers/promises'
import type { Database, Transaction } from '../connection/client.js'
import { codeOf, FOREIGN_KEY } from '../connection/errors.js'
import { STATEMENT_TIMEOUT_MS } from '../connection/transaction.js'

/**
 * Tables with rows of an organization. Tables that refer to others come first. The rows of `usage_event` and `erasure`, which are
 * append-only, are deleted with the row of the organization, and deliveries of alerts with their notification.
 */
const TABLES = [
  'replay_mark',
  'refused_pattern',
  'comparison_set',
  'reference_pattern',
  'profile_link',
  'session',
  'sso_artifact',
  'one_time_password',
  'sso_key',
  'sso_account',
  'sso_stranger',
  'authentication',
  'notification',
  'alert_channel',
  'alerting',
  'export_piece',
  'export_archive',
  'user_total',
  'member',
  'account',
  'admin_action',
  'request_log',
  'api_usage',
  'attempt_recent',
  'attempt_count',
  'attempt_day',
  'attempt_counted',
  'user_totaled',
  'typing_word',
  'policy',
  'api_key',
  'lock_tombstone',
  'headcount_change',
  'headcount',
  'moved_row',
]

/** A batch takes about 0.1 s. Accounts cost most, because each adds a row to the ledger. No measurement on a large deployment. */
const BATCH = 500
/** A revoked key is refused everywhere within 1 s; half a second more is for a slow machine. */
const REVOKED_MS = 1500
/** The last transaction deletes the ledger, which has a row for each creation and deletion of an account. */
const LAST_MS = 10 * 60_000
const LAST_TRIES = 5

/**
 * Deletes an organization and all of its rows. Keys and links are deleted first, so that no new request is accepted. The other rows
 * follow in batches, each with its own commit, so that other organizations do not wait. The organization is deleted last. A call
 * continues an interrupted one. False for an unknown organization.
 */
export async function deleteOrganization(database: Database, organizationId: string): Promise<boolean> {
  const known = await database.asSystem(async (sql) => {
    const { count } = await sql`select from keystride.organization where organization_id = ${organizationId}`
    for (const table of ['api_key', 'profile_link']) await deleteRows(sql, organizationId, table)
    return count === 1
  })
  if (!known) return false
  await delay(REVOKED_MS + STATEMENT_TIMEOUT_MS * database.patience)
  for (const table of TABLES)
    while ((await database.asSystem((sql) => deleteRows(sql, organizationId, table, BATCH))) === BATCH);
  await deleteRest(database, organizationId)
  await database.call(async (sql) => {
    for (const table of ['job', 'archive'])
      await sql`delete from ${sql(`pgboss.${table}`)} where data ->> 'organization' = ${organizationId}`
  })
  return true
}

/** Deletes the organization with the rows that were inserted meanwhile, and once more if a job inserts another one at the same time. */
async function deleteRest(database: Database, organizationId: string): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await database.asSystem(
        async (sql) => {
          for (const table of TABLES) await deleteRows(sql, organizationId, table)
          await sql`delete from keystride.organization where organization_id = ${organizationId}`
          // Until then the copy that a move has left is not taken for the organization.
          await sql`delete from keystride.placement where organization_id = ${organizationId}`
        },
        { statementMs: LAST_MS },
      )
    } catch (error) {
      if (codeOf(error) !== FOREIGN_KEY || tries === LAST_TRIES) throw error
    }
}

/**
 * Returns the number of deleted rows. Rows of two partitions may have equal ctids, so the outer condition keeps the rows of other
 * organizations.
 */
async function deleteRows(sql: Transaction, organizationId: string, table: string, limit: number | null = null) {
  const name = sql(`keystride.${table}`)
  const { count } = await sql`
    delete from ${name} where organization_id = ${organizationId} and ctid = any (array(
      select ctid from ${name} where organization_id = ${organizationId} limit ${limit}))`
  return count
}
