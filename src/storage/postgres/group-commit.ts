import { attemptEvents } from '../../domain/attempt-events.js'
import { facetsOf } from '../../domain/attempt-facts.js'
import { Refusal } from '../../domain/refusal.js'
import { REPLAY_BANDS_SHARED, REPLAY_MEMORY_DAYS } from '../../domain/replay.js'
import type { AttemptToRecord, AuthenticationStore, RecordOutcome } from '../authentication.js'
import type { Database } from './client.js'

interface Waiting {
  readonly organizationId: string
  readonly attempt: AttemptToRecord
  resolve(outcome: RecordOutcome): void
  reject(error: unknown): void
}

/** Attempts a commit at most: the disk's flush is shared well before, and one statement stays far under its time-out. */
const BATCH_MAX = 64

/**
 * Makes `record`: what arrives while a commit is under way shares the next one, so an idle service adds no wait and a
 * busy one pays one flush of the disk for many attempts. Across organizations, through one security-definer function.
 * A batch that fails as a whole is tried again attempt by attempt, so that only the bad one fails.
 */
export function groupCommit(database: Database): AuthenticationStore['record'] {
  const queue: Waiting[] = []
  let flushing = false

  async function flush(): Promise<void> {
    flushing = true
    // What this turn of the event loop still brings belongs to the same commit.
    await Promise.resolve()
    while (queue.length > 0) await settle(queue.splice(0, BATCH_MAX))
    flushing = false
  }

  async function settle(batch: Waiting[]): Promise<void> {
    try {
      const outcomes = await write(database, batch)
      batch.forEach((waiting, i) => {
        const outcome = outcomes[i]
        if (outcome === undefined) waiting.reject(new Error('record_attempts told no outcome'))
        else waiting.resolve(outcome)
      })
    } catch (error) {
      if (batch.length === 1 || error instanceof Refusal) for (const waiting of batch) waiting.reject(error)
      else for (const waiting of batch) await settle([waiting])
    }
  }

  return (organizationId, attempt) =>
    new Promise((resolve, reject) => {
      queue.push({ organizationId, attempt, resolve, reject })
      if (!flushing) void flush()
    })
}

function write(database: Database, batch: readonly Waiting[]): Promise<RecordOutcome[]> {
  const attempts = JSON.stringify(batch.map(toRecord))
  return database.call(async (sql) => {
    const [row] = await sql<{ outcomes: RecordOutcome[] }[]>`
      select keystride.record_attempts(${attempts}::text::jsonb, ${REPLAY_BANDS_SHARED}, ${REPLAY_MEMORY_DAYS})
        as outcomes`
    return row?.outcomes ?? []
  })
}

/** One attempt as keystride.record_attempts reads it; `ordinal` counts from 1. */
function toRecord({ organizationId, attempt }: Waiting, i: number) {
  const { authentication: a, replayMark } = attempt
  return {
    ordinal: i + 1,
    organization_id: organizationId,
    id: a.id,
    created_at: new Date(a.createdAt).toISOString(),
    account_id: a.accountId,
    member_id: a.memberId,
    user_ref: a.userRef,
    member_ref: a.memberRef,
    account_type: a.accountType,
    session_id: a.sessionId,
    method: a.method,
    authenticated: a.authenticated,
    recommended_action: a.recommendedAction,
    reason: a.reason,
    confidence: a.confidence,
    confidence_biometrics: a.confidenceBiometrics,
    confidence_context: a.confidenceContext,
    policy_id: a.policyId,
    n_patterns_ref: a.nPatternsRef,
    n_patterns_ref_used: a.nPatternsRefUsed,
    pattern_id: a.pattern?.id ?? null,
    sealed: a.pattern === null ? null : Buffer.from(a.pattern.sealed).toString('base64'),
    facts: a.facts,
    facets: a.facts === null ? null : facetsOf(a.facts, a),
    events: attemptEvents(a, attempt.counters),
    counters: attempt.counters,
    habits: attempt.habits,
    attempts_version: attempt.attemptsVersion,
    generation: attempt.generation,
    row_version: attempt.rowVersion ?? null,
    exact: replayMark === null ? null : `\\x${Buffer.from(replayMark.exact).toString('hex')}`,
    bands: replayMark === null ? null : replayMark.bands.map(String),
  }
}
