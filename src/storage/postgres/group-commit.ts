import { attemptEvents } from '../../domain/attempt-events.js'
import { facetsOf } from '../../domain/attempt-facts.js'
import { Refusal } from '../../domain/refusal.js'
import { REPLAY_BANDS_SHARED, REPLAY_MEMORY_DAYS } from '../../domain/replay.js'
import type { AttemptToRecord, AuthenticationStore, RecordOutcome } from '../authentication.js'
import type { Database } from './client.js'
import { toFactsText } from './facts-row.js'

interface Waiting {
  readonly organizationId: string
  readonly attempt: AttemptToRecord
  resolve(outcome: RecordOutcome): void
  reject(error: unknown): void
}

/** Attempts a commit at most: the disk's flush is shared well before, and one statement stays far under its time-out. */
const BATCH_MAX = 64
/** A commit waits for no more than so many: past them one more saves little, and the front would stand still meanwhile. */
const WORTH_WAITING_FOR = 16

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
    while (queue.length > 0) {
      await gather()
      const { batch, alike } = takeBatch(queue.splice(0, BATCH_MAX))
      const recorded = await settle(batch)
      for (const { waiting, like } of alike)
        if (recorded.has(like)) waiting.resolve('replay')
        else queue.push(waiting)
    }
    flushing = false
  }

  /** No timer: as long as each turn of the event loop brings more, it belongs to the same commit. */
  async function gather(): Promise<void> {
    for (let before = 0; queue.length > before && queue.length < WORTH_WAITING_FOR; ) {
      before = queue.length
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Tells those of the batch, and gives which were recorded. */
  async function settle(batch: Waiting[]): Promise<ReadonlySet<Waiting>> {
    const recorded = new Set<Waiting>()
    try {
      const outcomes = await write(database, batch)
      for (const [i, waiting] of batch.entries()) {
        const outcome = outcomes[i]
        if (outcome === 'recorded') recorded.add(waiting)
        if (outcome === undefined) waiting.reject(new Error('record_attempts told no outcome'))
        else waiting.resolve(outcome)
      }
    } catch (error) {
      if (batch.length === 1 || error instanceof Refusal) for (const waiting of batch) waiting.reject(error)
      else for (const waiting of batch) for (const one of await settle([waiting])) recorded.add(one)
    }
    return recorded
  }

  return (organizationId, attempt) =>
    new Promise((resolve, reject) => {
      queue.push({ organizationId, attempt, resolve, reject })
      if (!flushing) void flush()
    })
}

interface Batch {
  readonly batch: Waiting[]
  /** Whose mark resembles one of the batch: replays, if that one is recorded. */
  readonly alike: readonly { readonly waiting: Waiting; readonly like: Waiting }[]
}

/** One statement looks marks up as they were before it, so it is given none that resemble each other. */
function takeBatch(taken: readonly Waiting[]): Batch {
  const batch: Waiting[] = []
  const alike: { waiting: Waiting; like: Waiting }[] = []
  const holders = new Map<bigint, Waiting[]>()
  for (const waiting of taken) {
    const bands = new Set(waiting.attempt.replayMark?.bands)
    const like = resembled(waiting, bands, holders)
    if (like !== null) {
      alike.push({ waiting, like })
      continue
    }
    batch.push(waiting)
    for (const band of bands) {
      const others = holders.get(band)
      if (others === undefined) holders.set(band, [waiting])
      else others.push(waiting)
    }
  }
  return { batch, alike }
}

function resembled(
  { organizationId }: Waiting,
  bands: ReadonlySet<bigint>,
  holders: ReadonlyMap<bigint, readonly Waiting[]>,
): Waiting | null {
  const shared = new Map<Waiting, number>()
  for (const band of bands)
    for (const other of holders.get(band) ?? []) {
      if (other.organizationId !== organizationId) continue
      const n = (shared.get(other) ?? 0) + 1
      if (n >= REPLAY_BANDS_SHARED) return other
      shared.set(other, n)
    }
  return null
}

function write(database: Database, batch: readonly Waiting[]): Promise<RecordOutcome[]> {
  const attempts = JSON.stringify(batch.map(toRecord))
  return database.call(async (sql) => {
    const [row] = await sql<{ outcomes: RecordOutcome[] }[]>`
      select keystride.record_attempts(${attempts}::text::json, ${REPLAY_BANDS_SHARED}, ${REPLAY_MEMORY_DAYS})
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
    facts: a.facts === null ? null : toFactsText(a.facts),
    tags: a.facts === null || a.facts.tags.length === 0 ? null : a.facts.tags,
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
