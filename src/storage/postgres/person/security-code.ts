import { UNTIL_UNLOCKED } from '../../../domain/attempts.js'
import type { SecurityCodeStore } from '../../security-code.js'
import type { Database } from '../connection/client.js'
import { type MemberRow, memberColumns, toMember } from './member.js'

interface CodeRow {
  code_hash: string | null
  code_previous_hash: string | null
  code_issued: number[]
  code_version: string
}

/** Security codes on the member's row in PostgreSQL. */
export function postgresSecurityCodes(database: Database): SecurityCodeStore {
  return {
    find: (organizationId, memberId) =>
      database.keyed(organizationId, async (sql) => {
        const [row] = await sql<CodeRow[]>`
          select code_hash, code_previous_hash, code_issued, code_version from keystride.member
          where organization_id = ${organizationId} and id = ${memberId} and archived_at is null`
        if (row === undefined) return null
        return {
          hash: row.code_hash,
          previousHash: row.code_previous_hash,
          issued: row.code_issued,
          version: Number(row.code_version),
        }
      }),

    set: (organizationId, memberId, version, code) =>
      database.keyed(organizationId, async (sql) => {
        const expiresAt = code.expiresAt === null ? null : new Date(code.expiresAt)
        const [row] = await sql<MemberRow[]>`
          update keystride.member m set code_hash = ${code.hash},
            code_previous_hash = coalesce(code_hash, code_previous_hash), code_temporary = ${expiresAt !== null},
            code_used = false, code_set_at = ${new Date(code.setAt)}, code_expires_at = ${expiresAt},
            code_issued = ${JSON.stringify(code.issued)}::text::jsonb, code_version = code_version + 1,
            attempts = jsonb_set(attempts, '{security_code,off}',
              to_jsonb((attempts #>> '{security_code,closedUntil}')::numeric >= ${String(UNTIL_UNLOCKED)}::numeric)),
            attempts_version = attempts_version + 1
          where m.organization_id = ${organizationId} and m.id = ${memberId} and m.archived_at is null
            and m.code_version = ${version}
          returning ${memberColumns(sql)}`
        return row === undefined ? { outcome: 'conflict' } : { outcome: 'changed', member: toMember(row) }
      }),

    clear: (organizationId, memberId) =>
      database.keyed(organizationId, async (sql) => {
        const [row] = await sql<MemberRow[]>`
          update keystride.member m set code_hash = null,
            code_previous_hash = coalesce(code_hash, code_previous_hash), code_temporary = false, code_used = false,
            code_set_at = null, code_expires_at = null, code_version = code_version + 1,
            attempts_version = attempts_version + 1
          where m.organization_id = ${organizationId} and m.id = ${memberId} and m.archived_at is null
          returning ${memberColumns(sql)}`
        return row === undefined ? null : toMember(row)
      }),
  }
}
