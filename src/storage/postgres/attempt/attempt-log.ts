import type { RecommendedAction } from '../../../domain/verdict.js'
import type { AttemptFilter, AttemptLog, KeptPattern, LoggedAttempt } from '../../attempt-log.js'
import { within } from '../connection/attempts-within.js'
import type { Database, Transaction } from '../connection/client.js'
import { fromFactsText } from './facts-codec.js'
import { attemptOfPattern } from './pattern-attempt.js'
import { type AuthenticationRow, authenticationColumns, listedColumns, toAuthentication } from './record-codec.js'

type LoggedRow = AuthenticationRow & { display_name: string | null }

interface PatternRow {
  id: string
  kind: KeptPattern['kind']
  user_ref: string
  member_ref: string
  mode: KeptPattern['mode']
  created_at: Date
  authentication_id: string | null
  tags: KeptPattern['tags'] | null
}

/** Recorded attempts in PostgreSQL. A page finds its ids by an index-only scan and reads only the rows that it shows. */
export function postgresAttemptLog(database: Database): AttemptLog {
  return {
    page: (organizationId, filter, { skip, limit }, before) =>
      database.scoped(organizationId, async (sql) => {
        const rows = await sql<LoggedRow[]>`
          select ${listedColumns(sql)}, ${label(sql)} from keystride.authentication t
          where t.organization_id = ${organizationId} and t.id in (
            select id from keystride.authentication where ${filtered(sql, organizationId, filter)}
              and ${older(sql, before)}
            order by id desc offset ${skip} limit ${limit})
          order by t.id desc`
        return rows.map(toLogged)
      }),

    count: (organizationId, filter) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<{ n: number }[]>`
          select count(*)::int as n from keystride.authentication where ${filtered(sql, organizationId, filter)}`
        return row?.n ?? 0
      }),

    find: (organizationId, id) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<LoggedRow[]>`
          select ${authenticationColumns(sql)}, ${label(sql)} from keystride.authentication t
          where t.organization_id = ${organizationId} and t.id = ${id}`
        return row === undefined ? null : toLogged(row)
      }),

    judged: (organizationId, window, before, limit) =>
      database.scoped(organizationId, async (sql) => {
        const rows = await sql<
          { id: string; user_ref: string; recommended_action: RecommendedAction; facts: string }[]
        >`
          select id, user_ref, recommended_action, facts from keystride.authentication
          where organization_id = ${organizationId} and ${within(sql, window)} and facts is not null
            and ${older(sql, before)}
          order by id desc limit ${limit}`
        return rows.map(({ id, user_ref, recommended_action, facts }) => ({
          id,
          userRef: user_ref,
          recommendedAction: recommended_action,
          get facts() {
            return fromFactsText(facts)
          },
        }))
      }),

    patterns: (organizationId, window, { skip, limit }) =>
      database.scoped(organizationId, async (sql) => {
        const rows = await sql<PatternRow[]>`
          select ${testedColumns(sql)} from keystride.authentication a
          where organization_id = ${organizationId} and ${within(sql, window)} and pattern_id is not null
          order by a.id desc offset ${skip} limit ${limit}`
        return rows.map(toPattern)
      }),

    patternsById: (organizationId, ids) =>
      database.scoped(organizationId, async (sql) => {
        const wanted = `{${ids.join(',')}}`
        const references = await sql<PatternRow[]>`
          select r.id, r.kind, a.user_ref, m.member_ref, r.mode, r.created_at, null as authentication_id, null as tags
          from keystride.reference_pattern r
            join keystride.member m on m.organization_id = r.organization_id and m.id = r.member_id
            join keystride.account a on a.organization_id = m.organization_id and a.id = m.account_id
          where r.organization_id = ${organizationId} and r.id = any (${wanted}::uuid[])`
        const tested = await sql<PatternRow[]>`
          select t.* from unnest(${wanted}::uuid[]) wanted (id), lateral (
            select ${testedColumns(sql)} from keystride.authentication
            where ${attemptOfPattern(sql, organizationId)}
            limit 1) t`
        return [...references, ...tested].map(toPattern)
      }),

    tags: (organizationId, key, window, among) =>
      database.scoped(organizationId, async (sql) => {
        const named = key === null ? sql`tag ->> 'k'` : sql`tag ->> 'v'`
        const of = key === null ? sql`true` : sql`tag ->> 'k' = ${key}`
        const rows = await sql<{ name: string; n: number }[]>`
          select ${named} as name, count(*)::int as n from (
            select tags from keystride.authentication
            where organization_id = ${organizationId} and ${within(sql, window)} and pattern_id is not null
            order by id desc limit ${among}) latest, jsonb_array_elements(latest.tags) tag
          where ${of}
          group by 1 order by n desc, name limit 500`
        return rows.map(({ name, n }) => ({ name, n }))
      }),
  }
}

const older = (sql: Transaction, before: string | null) => (before === null ? sql`true` : sql`id < ${before}`)

/** The conditions of a filter. Every attempt with a reason has an event, so the index of events finds it. */
const filtered = (
  sql: Transaction,
  organizationId: string,
  { window, userRef, method, action, reason, application }: AttemptFilter,
) => sql`
  organization_id = ${organizationId} and ${within(sql, window)}
  and ${userRef === null ? sql`true` : sql`user_ref = ${userRef}`}
  and ${method === null ? sql`true` : sql`method = ${method}`}
  and ${action === null ? sql`true` : sql`recommended_action = ${action}`}
  and ${reason === null ? sql`true` : sql`events is not null and reason = ${reason}`}
  and ${application === null ? sql`true` : sql`facets ->> 'application' = ${application}`}`

/** A person's own label, otherwise the label of the account. */
const label = (sql: Transaction) => sql`
  coalesce(
    (select m.display_name from keystride.member m where m.organization_id = t.organization_id and m.id = t.member_id),
    (select a.display_name from keystride.account a where a.organization_id = t.organization_id and a.id = t.account_id)
  ) as display_name`

const testedColumns = (sql: Transaction) => sql`
  pattern_id as id, 'tested' as kind, user_ref, member_ref, facts::json ->> 'mode' as mode, created_at, id as authentication_id, tags`

const toLogged = (row: LoggedRow): LoggedAttempt => ({ ...toAuthentication(row), displayName: row.display_name })

function toPattern(row: PatternRow): KeptPattern {
  return {
    id: row.id,
    kind: row.kind,
    userRef: row.user_ref,
    memberRef: row.member_ref,
    mode: row.mode,
    createdAt: row.created_at.getTime(),
    authenticationId: row.authentication_id,
    tags: row.tags ?? [],
  }
}
