/** The kinds of export and their columns. Nothing else is exported. */
export const EXPORT_COLUMNS = {
  authentications: [
    'id',
    'created_at',
    'user_ref',
    'member_ref',
    'account_type',
    'session_id',
    'auth_method',
    'authenticated',
    'recommended_action',
    'reason',
    'confidence',
    'confidence_biometrics',
    'confidence_context',
    'policy_id',
    'n_patterns_ref',
    'n_patterns_ref_used',
    'typed_words',
  ],
  logs: ['id', 'created_at', 'api', 'method', 'route', 'status', 'duration_ms'],
  usage: ['kind', 'date', 'n_accounts', 'n_accounts_generic', 'n_users_nominative', 'n_users_generic', 'over_quota'],
} as const satisfies Record<string, readonly string[]>
export type ExportKind = keyof typeof EXPORT_COLUMNS
export const EXPORT_KINDS = ['authentications', 'logs', 'usage'] as const satisfies readonly ExportKind[]

export const EXPORT_STATUSES = ['queued', 'running', 'ready', 'failed'] as const
export type ExportStatus = (typeof EXPORT_STATUSES)[number]

export const EXPORT_KEPT_MS = 7 * 24 * 3600 * 1000

/** One value of a row; null is an empty cell. */
export type Cell = string | number | boolean | Date | null

/**
 * First characters that make a spreadsheet run a cell as a formula or truncate it: = + - @ and their full-width forms,
 * TAB, CR, LF, NUL.
 */
const FORMULA = /^[=+\-@\t\r\n\0\uff0b\uff0d\uff1d\uff20]/

/** A cell as text that spreadsheets do not run: a formula gets the prefix '. Dates are ISO 8601. */
export function safeCell(value: Cell): string {
  if (value === null) return ''
  const text = value instanceof Date ? value.toISOString() : String(value)
  return FORMULA.test(text) ? `'${text}` : text
}
