import { attemptEvents } from '../../../domain/attempt-events.js'
import { facetsOf } from '../../../domain/attempt-facts.js'
import { REPLAY_BANDS } from '../../../domain/replay.js'
import type { AttemptToRecord } from '../../authentication.js'
import { textElement } from '../connection/client.js'
import { toFactsText } from './facts-codec.js'

/** An attempt and whose it is. */
export interface Owned {
  readonly organizationId: string
  readonly attempt: AttemptToRecord
}

/** Of one attempt, its element of an array as PostgreSQL reads it; null stands for itself. */
type Element = (owned: Owned) => string | number | boolean | null

/**
 * The arrays that keystride.record_attempts takes, by the names of its parameters. Elements that stand bare are uuids,
 * numbers and booleans; whatever may hold another character is quoted.
 */
const ARRAYS: Readonly<Record<string, Element>> = {
  organization_ids: ({ organizationId }) => organizationId,
  account_ids: ({ attempt }) => attempt.authentication.accountId,
  member_ids: ({ attempt }) => attempt.authentication.memberId,
  attempts_versions: ({ attempt }) => attempt.attemptsVersion,
  generations: ({ attempt }) => attempt.generation,
  row_versions: ({ attempt }) => attempt.rowVersion ?? null,
  exacts: ({ attempt }) => (attempt.replayMark === null ? null : bytea(attempt.replayMark.exact)),
  bands: ({ attempt }) => attempt.replayMark?.bands.join() ?? NO_BANDS,
  cleareds: ({ attempt }) => clearedOf(attempt.replayMark?.cleared ?? []),
  ids: ({ attempt }) => attempt.authentication.id,
  created_ms: ({ attempt }) => attempt.authentication.createdAt,
  user_refs: ({ attempt }) => textElement(attempt.authentication.userRef),
  member_refs: ({ attempt }) => textElement(attempt.authentication.memberRef),
  account_types: ({ attempt }) => textElement(attempt.authentication.accountType),
  session_ids: ({ attempt }) => textElement(attempt.authentication.sessionId),
  methods: ({ attempt }) => textElement(attempt.authentication.method),
  authenticated: ({ attempt }) => attempt.authentication.authenticated,
  recommended_actions: ({ attempt }) => textElement(attempt.authentication.recommendedAction),
  reasons: ({ attempt }) => textElement(attempt.authentication.reason),
  confidences: ({ attempt }) => attempt.authentication.confidence,
  confidences_biometrics: ({ attempt }) => attempt.authentication.confidenceBiometrics,
  confidences_context: ({ attempt }) => attempt.authentication.confidenceContext,
  policy_ids: ({ attempt }) => attempt.authentication.policyId,
  n_patterns_ref: ({ attempt }) => attempt.authentication.nPatternsRef,
  n_patterns_ref_used: ({ attempt }) => attempt.authentication.nPatternsRefUsed,
  pattern_ids: ({ attempt }) => attempt.authentication.pattern?.id ?? null,
}

/** Of one attempt, its part of a text; null where it has none. */
type Part = (owned: Owned) => string | null

/** The texts it takes: too long for arrays, whose elements PostgreSQL reads character by character. */
const TEXTS: Readonly<Record<string, Part>> = {
  sealed: ({ attempt: { authentication: a } }) => (a.pattern === null ? null : base64(a.pattern.sealed)),
  facts: ({ attempt: { authentication: a } }) => (a.facts === null ? null : toFactsText(a.facts)),
  tags: ({ attempt: { authentication: a } }) =>
    a.facts === null || a.facts.tags.length === 0 ? null : json(a.facts.tags),
  facets: ({ attempt: { authentication: a } }) => (a.facts === null ? null : json(facetsOf(a.facts, a))),
  events: ({ attempt }) => json(attemptEvents(attempt.authentication, attempt.counters)),
  counters: ({ attempt }) => json(attempt.counters),
  habits: ({ attempt }) => attempt.habits,
}

/** Between the parts of a text: no JSON has this character but escaped. */
const PARTING = '\u001f'

const NO_BANDS = Array<number>(REPLAY_BANDS).fill(0).join()

const [arrays, texts] = [Object.entries(ARRAYS), Object.entries(TEXTS)]
const named = [...[...arrays, ...texts].map(([name]) => name), 'bands_shared', 'memory_days']

/** `parametersOf` of a batch, and then the limits of a replay: bands shared, days remembered. */
export const RECORD_ATTEMPTS = `select keystride.record_attempts(${named
  .map((name, i) => `${name} => $${i + 1}`)
  .join(', ')}) as outcomes`

export function parametersOf(batch: readonly Owned[]): string[] {
  return [
    ...arrays.map(([, element]) => `{${batch.map((owned) => element(owned) ?? 'null').join()}}`),
    ...texts.map(([, part]) => batch.map((owned) => part(owned) ?? '').join(PARTING)),
  ]
}

const base64 = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString('base64')

const bytea = (bytes: Uint8Array): string => `"\\\\x${Buffer.from(bytes).toString('hex')}"`

const clearedOf = (marks: readonly Uint8Array[]): string | null =>
  marks.length === 0 ? null : textElement(marks.map((mark) => Buffer.from(mark).toString('hex')).join())

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))
