import { INVALID_PATTERNS_MAX, INVALID_PATTERNS_WINDOW_MS } from '../../../domain/invalid-patterns.js'
import type { InvalidPatternStore } from '../../invalid-patterns.js'
import type { Database } from '../connection/client.js'
import { closedForMs } from '../person/member.js'

/** Refused patterns on the member's row in PostgreSQL, so that a flush of Redis resets no limit. */
export function postgresInvalidPatterns(database: Database): InvalidPatternStore {
  return {
    count: (organizationId, memberId) =>
      database.keyed(
        organizationId,
        async (sql) => {
          const windowS = INVALID_PATTERNS_WINDOW_MS / 1000
          const { count } = await sql`
            update keystride.member m set (invalid_patterns, patterns_closed_until) = (
              select latest, case when cardinality(latest) >= ${INVALID_PATTERNS_MAX}
                then latest[1] + make_interval(secs => ${windowS}) end
              from (select array(
                select at from unnest(m.invalid_patterns || clock_timestamp()) at
                where at > clock_timestamp() - make_interval(secs => ${windowS})
                order by at) as latest) counted)
            where m.organization_id = ${organizationId} and m.id = ${memberId}
              and coalesce(m.patterns_closed_until <= clock_timestamp(), true)`
          if (count === 1) return 0
          const [row] = await sql<{ closed_for_ms: number }[]>`
            select ${closedForMs(sql)} as closed_for_ms from keystride.member m
            where m.organization_id = ${organizationId} and m.id = ${memberId}`
          return row?.closed_for_ms ?? 0
        },
        // A crash of the server may lose the latest patterns.
        { durable: false },
      ),
  }
}
