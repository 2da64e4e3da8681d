import type { UserAction } from '../../../domain/user-action.js'
import type { RecordedAction, UserLogEntry, UserLogStore } from '../../user-log.js'
import type { Database, Transaction } from '../connection/client.js'

interface ActionRow {
  id: string
  at: Date
  account_id: string
  user_ref: string
  member_ref: string
  action: UserAction
  api_key_id: string
  request_id: string
  done: boolean
}

interface EntryRow {
  id: string
  at: Date
  kind: UserLogEntry['kind']
  member_ref: string
  what: string
  outcome: string
  reason: string
}

/** The record of administrative actions in PostgreSQL. Serving roles may only append to it and read it. */
export function postgresUserLog(database: Database): UserLogStore {
  return {
    record: (organizationId, action) =>
      database.scoped(organizationId, (sql) => append(sql, organizationId, action, { id: action.id, doneOf: null })),
    recordDone: (organizationId, action, id) =>
      database.scoped(organizationId, (sql) => append(sql, organizationId, action, { id, doneOf: action.id })),

    actions: (organizationId, userRef, { skip, limit }) =>
      database.scoped(organizationId, async (sql) => {
        const rows = await sql<ActionRow[]>`
          select a.id, a.at, a.account_id, a.user_ref, a.member_ref, a.action, a.api_key_id, a.request_id, ${isDone(sql)} as done
          from keystride.admin_action a
          where a.organization_id = ${organizationId} and a.user_ref = ${userRef} and a.done_of is null
          order by a.id desc offset ${skip} limit ${limit}`
        const [all] = await sql<{ n: number }[]>`
          select count(*)::int as n from keystride.admin_action
          where organization_id = ${organizationId} and user_ref = ${userRef} and done_of is null`
        const entries = rows.map((row) => ({
          id: row.id,
          at: row.at.getTime(),
          accountId: row.account_id,
          userRef: row.user_ref,
          memberRef: row.member_ref,
          action: row.action,
          apiKeyId: row.api_key_id,
          requestId: row.request_id,
          done: row.done,
        }))
        return { entries, count: all?.n ?? 0 }
      }),

    entries: (organizationId, userRef, { skip, limit }) =>
      database.scoped(organizationId, async (sql) => {
        // Each side returns only its newest rows, because a page needs no more of either.
        const rows = await sql<EntryRow[]>`
          select * from (
            (select id, created_at as at, 'authentication' as kind, member_ref, method as what, recommended_action as outcome,
                reason
              from keystride.authentication where organization_id = ${organizationId} and user_ref = ${userRef}
              order by id desc limit ${skip + limit})
            union all
            (select a.id, a.at, 'action', a.member_ref, a.action, case when ${isDone(sql)} then 'done' else 'not-done' end, ''
              from keystride.admin_action a
              where a.organization_id = ${organizationId} and a.user_ref = ${userRef} and a.done_of is null
              order by a.id desc limit ${skip + limit})) both_kinds
          order by id desc offset ${skip} limit ${limit}`
        const [all] = await sql<{ n: number }[]>`
          select (select count(*) from keystride.authentication
              where organization_id = ${organizationId} and user_ref = ${userRef})::int
            + (select count(*) from keystride.admin_action
              where organization_id = ${organizationId} and user_ref = ${userRef} and done_of is null)::int as n`
        const entries = rows.map(({ member_ref, at, ...row }) => ({ ...row, at: at.getTime(), memberRef: member_ref }))
        return { entries, count: all?.n ?? 0 }
      }),
  }
}

const isDone = (sql: Transaction) => sql`
  exists (select 1 from keystride.admin_action d where d.organization_id = a.organization_id and d.done_of = a.id)`

async function append(
  sql: Transaction,
  organizationId: string,
  action: RecordedAction,
  { id, doneOf }: { readonly id: string; readonly doneOf: string | null },
): Promise<void> {
  await sql`
    insert into keystride.admin_action (organization_id, id, at, account_id, user_ref, member_ref, action, api_key_id,
      request_id, done_of)
    values (${organizationId}, ${id}, ${new Date(action.at)}, ${action.accountId}, ${action.userRef}, ${action.memberRef},
      ${action.action}, ${action.apiKeyId}, ${action.requestId}, ${doneOf})`
}
