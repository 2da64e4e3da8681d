import { attemptEvents } from '../../../domain/attempt-events.js'
import { facetsOf } from '../../../domain/attempt-facts.js'
import { REPLAY_BANDS } from '../../../domain/replay.js'
import type { AttemptRecord, Authentication } from '../../authentication.js'
import type { SetChange } from '../../comparison-set.js'
import { type Transaction, textElement } from '../connection/client.js'
import { fromFactsText, toFactsText } from './facts-codec.js'

/**
 * The columns of `keystride.authentication`, each with its parameter of `keystride.record_attempts` and its reader. A new column
 * needs a field of the attempt, a line here, and a place in the schema.
 */
const COLUMNS: { readonly [Field in keyof Authentication]: Column<Authentication[Field]> } = {
  id: { column: 'id', parameter: 'ids', write: bare, read: unchanged },
  createdAt: { column: 'created_at', parameter: 'created_ms', write: bare, read: (at) => (at as Date).getTime() },
  accountId: { column: 'account_id', parameter: 'account_ids', write: bare, read: unchanged },
  memberId: { column: 'member_id', parameter: 'member_ids', write: bare, read: unchanged },
  userRef: { column: 'user_ref', parameter: 'user_refs', write: textElement, read: unchanged },
  memberRef: { column: 'member_ref', parameter: 'member_refs', write: textElement, read: unchanged },
  accountType: { column: 'account_type', parameter: 'account_types', write: bare, read: unchanged },
  sessionId: { column: 'session_id', parameter: 'session_ids', write: textElement, read: unchanged },
  method: { column: 'method', parameter: 'methods', write: bare, read: unchanged },
  authenticated: { column: 'authenticated', parameter: 'authenticated', write: bare, read: unchanged },
  recommendedAction: {
    column: 'recommended_action',
    parameter: 'recommended_actions',
    write: bare,
    read: unchanged,
  },
  reason: { column: 'reason', parameter: 'reasons', write: textElement, read: unchanged },
  confidence: { column: 'confidence', parameter: 'confidences', write: bare, read: unchanged },
  confidenceBiometrics: {
    column: 'confidence_biometrics',
    parameter: 'confidences_biometrics',
    write: bare,
    read: unchanged,
  },
  confidenceContext: {
    column: 'confidence_context',
    parameter: 'confidences_context',
    write: bare,
    read: unchanged,
  },
  policyId: { column: 'policy_id', parameter: 'policy_ids', write: bare, read: unchanged },
  nPatternsRef: { column: 'n_patterns_ref', parameter: 'n_patterns_ref', write: bare, read: unchanged },
  nPatternsRefUsed: { column: 'n_patterns_ref_used', parameter: 'n_patterns_ref_used', write: bare, read: unchanged },
  // Retention removes the sample, and the id alone is useless.
  patternId: {
    column: 'pattern_id',
    parameter: 'pattern_ids',
    write: bare,
    read: (id, { sealed }) => (sealed === null ? null : (id as string)),
  },
  sealed: { column: 'sealed', text: 'sealed', write: (bytes) => bytes && base64(bytes), read: unchanged },
  facts: {
    column: 'facts',
    text: 'facts',
    write: (facts) => facts && toFactsText(facts),
    read: (text) => (text === null ? null : fromFactsText(text as string)),
  },
}

/**
 * Further parameters of `keystride.record_attempts`: organization, replay mark, the versions on which the attempt was judged, and the
 * change of the comparison set.
 */
const CHECKS: Readonly<Record<string, (owned: Owned) => Element>> = {
  organization_ids: ({ organizationId }) => organizationId,
  attempts_versions: ({ attempt }) => attempt.attemptsVersion,
  generations: ({ attempt }) => attempt.generation,
  row_versions: ({ attempt }) => attempt.rowVersion ?? null,
  exacts: ({ attempt }) => (attempt.replayMark === null ? null : bytea(attempt.replayMark.exact)),
  bands: ({ attempt }) => attempt.replayMark?.bands.join() ?? NO_BANDS,
  cleareds: ({ attempt }) => clearedOf(attempt.replayMark?.cleared ?? []),
  sets_adaptive: ({ change }) => (change?.kind === 'replace' ? change.hasAdaptive : null),
  sets_oldest_ms: ({ change }) => (change?.kind === 'replace' ? Math.floor(change.oldestAt) : null),
}

/** Parameters for the effects of an attempt on other tables: the comparison set, tags, counts by facet, events, and the member's counters and habits. */
const EFFECTS: Readonly<Record<string, (attempt: AttemptRecord, change: SetChange | null) => string | null>> = {
  set_entries: (_, change) => (change?.kind === 'append' ? base64(change.entry) : null),
  set_bases: (_, change) => (change?.kind === 'replace' ? base64(change.base) : null),
  tags: ({ facts }) => (facts === null || facts.tags.length === 0 ? null : JSON.stringify(facts.tags)),
  facets: (attempt) => (attempt.facts === null ? null : JSON.stringify(facetsOf(attempt.facts, attempt))),
  events: (attempt) => json(attemptEvents(attempt, attempt.counters)),
  counters: ({ counters }) => JSON.stringify(counters),
  habits: ({ habits }) => habits,
}

/** An attempt and its organization. */
export interface Owned {
  readonly organizationId: string
  readonly attempt: AttemptRecord
  /** The change of the member's comparison set. */
  readonly change: SetChange | null
}

/** An element of an array as PostgreSQL reads it. Only ids, numbers, booleans and words of closed sets need no quotes. */
type Element = string | number | boolean | null

/** A `parameter` is an array. A `text` joins all parts, because PostgreSQL reads long elements of an array character by character. */
type Column<Value> = {
  readonly column: string
  readonly read: (stored: unknown, row: AuthenticationRow) => Value
} & (
  | { readonly parameter: string; readonly write: (value: Value) => Element }
  | { readonly text: string; readonly write: (value: Value) => string | null }
)

/** A row of `keystride.authentication` by column. */
export type AuthenticationRow = Readonly<Record<string, unknown>>

// Sound for both: the mapped type of COLUMNS ties each field to its column.
function unchanged<Value>(stored: unknown): Value {
  return stored as Value
}
function bare<Value extends Element>(value: Value): Element {
  return value
}

type AnyColumn = Column<unknown>
const columns = Object.entries(COLUMNS) as [keyof Authentication, AnyColumn][]

/** The array parameters in their order; the text parameters follow. */
const ARRAYS: readonly (readonly [parameter: string, element: (owned: Owned) => Element])[] = [
  ...columns.flatMap(([field, column]) =>
    'parameter' in column ? [[column.parameter, (o: Owned) => column.write(o.attempt[field])] as const] : [],
  ),
  ...Object.entries(CHECKS),
]
const TEXTS: readonly (readonly [parameter: string, part: (owned: Owned) => string | null])[] = [
  ...columns.flatMap(([field, column]) =>
    'text' in column ? [[column.text, (o: Owned) => column.write(o.attempt[field])] as const] : [],
  ),
  ...Object.entries(EFFECTS).map(([name, part]) => [name, (o: Owned) => part(o.attempt, o.change)] as const),
]

/** Separates the parts of a text. JSON contains this character only in escaped form. */
const SEPARATOR = '\u001f'

const NO_BANDS = Array<number>(REPLAY_BANDS).fill(0).join()

const named = [...[...ARRAYS, ...TEXTS].map(([parameter]) => parameter), 'memory_days']

/** Takes `parametersOf` of a batch, then the days for which marks are kept. */
export const RECORD_ATTEMPTS = `select keystride.record_attempts(${named
  .map((name, i) => `${name} => $${i + 1}`)
  .join(', ')}) as outcomes`

export function parametersOf(batch: readonly Owned[]): string[] {
  return [
    ...ARRAYS.map(([, element]) => `{${batch.map((owned) => element(owned) ?? 'null').join()}}`),
    ...TEXTS.map(([, part]) => batch.map((owned) => part(owned) ?? '').join(SEPARATOR)),
  ]
}

const selected = columns.map(([, { column }]) => column)

/** The columns of an attempt for a select. */
export const authenticationColumns = (sql: Transaction) => sql(selected)

/** The columns for a list, with empty bytes for the sample, which would be a third of the bytes read. */
export const listedColumns = (sql: Transaction) =>
  sql`${sql(selected.filter((column) => column !== 'sealed'))}, case when sealed is not null then ''::bytea end as sealed`

export function toAuthentication(row: AuthenticationRow): Authentication {
  const fields: Partial<Record<keyof Authentication, unknown>> = {}
  for (const [field, { column, read }] of columns) fields[field] = read(row[column], row)
  return fields as Authentication
}

const base64 = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString('base64')

const bytea = (bytes: Uint8Array): string => `"\\\\x${Buffer.from(bytes).toString('hex')}"`

const clearedOf = (marks: readonly Uint8Array[]): string | null =>
  marks.length === 0 ? null : textElement(marks.map((mark) => Buffer.from(mark).toString('hex')).join())

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))
