import type { AttemptKind } from '../../../domain/attempts.js'
import { STRANGER_INVALID, STRANGER_LIMITS } from '../../../domain/stranger-tries.js'
import type { NoTryLeft, StrangerTryStore } from '../../stranger-tries.js'
import type { Database, Transaction } from '../connection/client.js'

const DAY_MS = 24 * 3600_000

/** Tries of strangers in PostgreSQL, also if Redis is configured, because a flush of Redis must not restore them. */
export const postgresStrangerTries = (database: Database): StrangerTryStore => ({
  member: (organizationId, userRef) =>
    database.keyed(organizationId, async (sql) => {
      const [row] = await sql<{ member_id: string; kept: boolean; owners_from: number }[]>`
        select m.id as member_id, s.member_id is not null as kept, greatest(0, 1000 * extract(epoch from s.owners_from))::float8 as owners_from
        from keystride.account a
        join keystride.member m on m.organization_id = a.organization_id and m.account_id = a.id and m.archived_at is null
        left join keystride.sso_stranger s on s.organization_id = m.organization_id and s.member_id = m.id
        where a.organization_id = ${organizationId} and a.user_ref = ${userRef} and a.type = 'nominative'`
      if (row === undefined) return null
      // The row must exist before a browser becomes the person's own, so that an unlock finds it.
      if (!row.kept)
        await sql`
          insert into keystride.sso_stranger (organization_id, member_id) values (${organizationId}, ${row.member_id})
          on conflict do nothing`
      return { memberId: row.member_id, ownersFrom: row.owners_from }
    }),

  take: (organizationId, memberId, kind) =>
    database.keyed(organizationId, async (sql) => {
      const taken = await nextTry(sql, organizationId, memberId, kind)
      if (typeof taken !== 'string') return taken
      const [typing, code] = kind === 'biometric' ? [`{"${taken}"}`, '{}'] : ['{}', `{"${taken}"}`]
      await sql`
        update keystride.sso_stranger s set
          typing = ${recent(sql, 'typing', DAY_MS)} || ${typing}::text::timestamptz[],
          code = ${recent(sql, 'code', DAY_MS)} || ${code}::text::timestamptz[],
          invalid = ${recent(sql, 'invalid', STRANGER_INVALID.withinMs)} || ${typing}::text::timestamptz[]
        where organization_id = ${organizationId} and member_id = ${memberId}`
      return { taken }
    }),

  peek: (organizationId, memberId, kind) =>
    database.keyed(organizationId, async (sql) => {
      const next = await nextTry(sql, organizationId, memberId, kind)
      return typeof next === 'string' ? null : next
    }),

  settle: (organizationId, memberId, taken, outcome) =>
    database.keyed(organizationId, async (sql) => {
      const without = (name: string, gone: boolean) =>
        gone ? sql`array_remove(${sql(name)}, ${taken}::text::timestamptz)` : sql`${sql(name)}`
      await sql`
        update keystride.sso_stranger set typing = ${without('typing', outcome !== 'failed')},
          code = ${without('code', outcome !== 'failed')}, invalid = ${without('invalid', outcome !== 'invalid')}
        where organization_id = ${organizationId} and member_id = ${memberId}`
    }),
})

/** The time of a try that may be taken now, under the lock of the row. No two tries have the same time. */
async function nextTry(
  sql: Transaction,
  organizationId: string,
  memberId: string,
  kind: AttemptKind,
): Promise<string | NoTryLeft> {
  const { perDay, streak } = STRANGER_LIMITS[kind]
  const column = kind === 'biometric' ? 'typing' : 'code'
  const rows = await sql<
    { at: string; tried: number; invalid: number; streak: number; day_ms: number; invalid_ms: number }[]
  >`
    with held as (
      select * from keystride.sso_stranger s
      where organization_id = ${organizationId} and member_id = ${memberId} for no key update)
    select clock_timestamp()::text as at, cardinality(${recent(sql, column, DAY_MS)}) as tried,
      cardinality(${recent(sql, 'invalid', STRANGER_INVALID.withinMs)}) as invalid,
      (m.attempts #>> array[${kind}, 'streak'])::int as streak,
      ${msUntil(sql, column, DAY_MS)} as day_ms, ${msUntil(sql, 'invalid', STRANGER_INVALID.withinMs)} as invalid_ms
    from held s join keystride.member m on m.organization_id = s.organization_id and m.id = s.member_id`
  const [row] = rows
  if (row === undefined || row.streak >= streak) return { taken: null, waitMs: null }
  if (row.tried >= perDay) return { taken: null, waitMs: row.day_ms }
  if (kind === 'biometric' && row.invalid >= STRANGER_INVALID.most) return { taken: null, waitMs: row.invalid_ms }
  return row.at
}

const recent = (sql: Transaction, column: string, withinMs: number) => sql`
  array(select t from unnest(s.${sql(column)}) t where t > clock_timestamp() - ${withinMs} * interval '1 millisecond' order by t)`

/** Milliseconds until the oldest try no longer counts. */
const msUntil = (sql: Transaction, column: string, withinMs: number) => sql`
  coalesce(greatest(0, ${withinMs} + 1000 * extract(epoch from (${recent(sql, column, withinMs)})[1] - clock_timestamp())), 0)::float8`
