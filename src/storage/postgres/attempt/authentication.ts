import type { AuthenticationStore } from '../../authentication.js'
import type { Database } from '../connection/client.js'
import { groupCommit } from './group-commit.js'
import { resembling } from './known-patterns.js'
import { type AuthenticationRow, authenticationColumns, toAuthentication } from './record-codec.js'
import { testedPatterns } from './tested-patterns.js'

/** Judged attempts in PostgreSQL; concurrent attempts share one commit. */
export function postgresAuthentications(
  database: Database,
  committed?: (attempts: number) => void,
): AuthenticationStore {
  return {
    record: groupCommit(database, committed),

    resembling: resembling(database),

    find: (organizationId, id) =>
      database.keyed(organizationId, async (sql) => {
        const [row] = await sql<AuthenticationRow[]>`
          select ${authenticationColumns(sql)} from keystride.authentication where organization_id = ${organizationId} and id = ${id}`
        return row === undefined ? null : toAuthentication(row)
      }),

    typedInSession: (organizationId, { userRef, memberId, sessionId, since }) =>
      database.keyed(organizationId, async (sql) => {
        const [row] = await sql<{ created_at: Date }[]>`
          select created_at from keystride.authentication
          where organization_id = ${organizationId} and user_ref = ${userRef} and id >= keystride.uuid_from(${new Date(since)})
            and session_id = ${sessionId} and member_id = ${memberId} and method = 'biometric' and authenticated
          order by id desc limit 1`
        return row?.created_at.getTime() ?? null
      }),

    tested: testedPatterns(database),

    // Uses the index on the user's attempts, because an index on pattern_id would cost every attempt.
    findByPattern: (organizationId, userRef, patternId) =>
      database.keyed(organizationId, async (sql) => {
        const [row] = await sql<AuthenticationRow[]>`
          select ${authenticationColumns(sql)} from keystride.authentication
          where organization_id = ${organizationId} and user_ref = ${userRef} and pattern_id = ${patternId}`
        return row === undefined ? null : toAuthentication(row)
      }),

    list: (organizationId, userRef, limit) =>
      database.keyed(organizationId, async (sql) => {
        const rows = await sql<AuthenticationRow[]>`
          select ${authenticationColumns(sql)} from keystride.authentication
          where organization_id = ${organizationId} and user_ref = ${userRef} order by id desc limit ${limit}`
        return rows.map(toAuthentication)
      }),
  }
}
