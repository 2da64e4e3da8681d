import { pendingAfter } from '../../../domain/pending-action.js'
import type { PendingActionStore } from '../../pending-action.js'
import type { Database } from '../connection/client.js'
import { lockMember, type MemberRow, memberColumns, queuedAs, toMember } from './member.js'

/** Queued actions on the member's row in PostgreSQL. */
export function postgresPendingActions(database: Database): PendingActionStore {
  return {
    change: (organizationId, memberId, event, at) =>
      database.keyed(organizationId, async (sql) => {
        const member = await lockMember(sql, organizationId, memberId)
        if (member === null) return null
        const [row] = await sql<MemberRow[]>`
          update keystride.member m set ${queuedAs(sql, pendingAfter(member.pending, event, at))}
          where m.organization_id = ${organizationId} and m.id = ${memberId} returning ${memberColumns(sql)}`
        return row === undefined ? null : toMember(row)
      }),
  }
}
