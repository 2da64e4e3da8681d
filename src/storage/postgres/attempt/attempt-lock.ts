import { type AttemptCounters, NO_ATTEMPTS, UNTIL_UNLOCKED } from '../../../domain/attempts.js'
import type { AttemptLockStore } from '../../attempt-lock.js'
import type { Database } from '../connection/client.js'
import { forgetStrangers } from '../person/stranger-row.js'

/** The counters on the member's row in PostgreSQL. */
export function postgresAttemptLocks(database: Database): AttemptLockStore {
  return {
    clear: (organizationId, memberId) =>
      database.keyed(organizationId, async (sql) => {
        const [row] = await sql<{ attempts: AttemptCounters }[]>`
          with held as (
            select id, attempts from keystride.member
            where organization_id = ${organizationId} and id = ${memberId} for no key update)
          update keystride.member m set attempts = ${JSON.stringify(NO_ATTEMPTS)}::text::jsonb,
            attempts_version = attempts_version + 1
          from held where m.organization_id = ${organizationId} and m.id = held.id returning held.attempts`
        await forgetStrangers(sql, organizationId, memberId)
        return row?.attempts ?? null
      }),

    close: (organizationId, memberId) =>
      database.keyed(organizationId, async (sql) => {
        const closed = await sql`
          update keystride.member set attempts_version = attempts_version + 1,
            attempts = jsonb_set(jsonb_set(jsonb_set(attempts, '{biometric,off}', 'true'), '{security_code,off}', 'true'),
              '{security_code,closedUntil}', ${String(UNTIL_UNLOCKED)}::text::jsonb)
          where organization_id = ${organizationId} and id = ${memberId}`
        return closed.count > 0
      }),
  }
}
