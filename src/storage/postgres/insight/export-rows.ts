import type { Cell, ExportKind } from '../../../domain/export.js'
import type { TimeWindow } from '../../../domain/time-window.js'
import { LONG_NAME } from '../connection/session-settings.js'
import { connectClient, endClient } from '../connection/with-client.js'

/** Rows per fetch, which take 2 ms of the event loop. */
const BATCH = 500

/** Time after the limit of a statement until its answer counts as lost, because the server may vanish without a reset. */
const ANSWER_MS = 5000

/**
 * Columns in the order of src/domain/export.ts. `$1` is the organization, `$2` and `$3` are the window. A tag of a pattern cannot
 * imitate a field of the facts, because its quotes are escaped.
 */
const QUERIES: Record<ExportKind, string> = {
  authentications: `
    select id, created_at, user_ref, member_ref, account_type, session_id, method, authenticated, recommended_action, reason,
      confidence, confidence_biometrics, confidence_context, policy_id, n_patterns_ref, n_patterns_ref_used,
      substring(facts from '"typedWords":"([a-z]+)"')
    from keystride.authentication
    where organization_id = $1 and id >= keystride.uuid_from($2) and id < keystride.uuid_from($3) order by id`,
  logs: `
    select id, keystride.time_of(id), api, upper(method collate "C"), route, status, duration_ms from keystride.request_log
    where organization_id = $1 and id >= keystride.uuid_from($2) and id < keystride.uuid_from($3) order by id`,
  usage: `
    select kind, at, n_accounts, n_accounts_generic, n_users_nominative, n_users_generic, over_quota
    from keystride.usage_event where organization_id = $1 and at >= $2 and at < $3 order by at, n`,
}

/**
 * Reads through a cursor in one read-only transaction of the organization, on a separate connection, so that a long export takes
 * no connection from sign-ins, and reads one snapshot. The connection ends with the iteration. Rejects as the driver does, and when a
 * statement takes longer than `statementMs` or has no answer 5 s later.
 */
export async function* exportRows(
  url: string,
  organizationId: string,
  { kind, from, to }: TimeWindow & { readonly kind: ExportKind },
  statementMs: number,
): AsyncGenerator<readonly (readonly Cell[])[]> {
  const client = await connectClient(url, { queryMs: statementMs + ANSWER_MS, applicationName: LONG_NAME })
  try {
    await client.query('begin isolation level repeatable read read only')
    await client.query(
      `select set_config('role', 'keystride_app', true), set_config('keystride.organization_id', $1, true),
        set_config('statement_timeout', $2, true), set_config('idle_in_transaction_session_timeout', '60s', true)`,
      [organizationId, statementMs],
    )
    // The planner must use the index for the order, because sorting a million rows would fill the disk.
    await client.query(`select set_config('cursor_tuple_fraction', '0.001', true)`)
    await client.query(`declare exported no scroll cursor for ${QUERIES[kind]}`, [
      organizationId,
      new Date(from),
      new Date(to),
    ])
    for (;;) {
      const { rows } = await client.query<Cell[]>({ text: `fetch ${BATCH} from exported`, rowMode: 'array' })
      if (rows.length === 0) return
      yield rows
    }
  } finally {
    await endClient(client)
  }
}
