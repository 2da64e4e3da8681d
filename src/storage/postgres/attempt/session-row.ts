import type { Session } from '../../session.js'
import type { Statements } from '../connection/client.js'

export interface SessionRow {
  session_user_ref: string
  session_member_ref: string | null
  member_version: string | null
  used_biometric: number
  used_security_code: number
  typing_failed: boolean
  reported_action: string | null
  words: string | null
  words_used: number
}

/** The column list of a `SessionRow`, for a statement that names the table `session`. */
export const sessionColumns = (sql: Statements) => sql`
  session.member_ref as session_member_ref, session.member_version, session.user_ref as session_user_ref,
  session.used_biometric, session.used_security_code, session.typing_failed, session.reported_action, session.words,
  session.words_used`

/** The bytes of a SHA-256 in hex. Other texts become bytes that no session has. */
export const sessionBytes = (sha256: string) => Buffer.from(sha256, 'hex')

export function toSession(row: SessionRow): Session {
  return {
    userRef: row.session_user_ref,
    memberRef: row.session_member_ref,
    memberVersion: row.member_version === null ? null : Number(row.member_version),
    used: { biometric: row.used_biometric, security_code: row.used_security_code, typingFailed: row.typing_failed },
    reportedAction: row.reported_action,
    words: row.words === null ? null : { issued: row.words, used: row.words_used },
  }
}
