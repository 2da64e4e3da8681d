import type pg from 'pg'
import { attemptEvents } from '../../src/domain/attempt-events.js'
import { facetsOf } from '../../src/domain/attempt-facts.js'
import { REPLAY_MEMORY_DAYS, type ReplayMark } from '../../src/domain/replay.js'
import type { AttemptRecord, AuthenticationStore, RecordOutcome } from '../../src/storage/authentication.js'
import { toFactsText } from '../../src/storage/postgres/attempt/facts-codec.js'

/** Two marks that share this many bands are alike. */
const BANDS_SHARED = 2

/** Writes an attempt in its own transaction: begin, four prepared statements one after the other, commit. */
export const usualRecord =
  (pool: pg.Pool): AuthenticationStore['record'] =>
  async (organizationId, attempt) => {
    const client = await pool.connect()
    try {
      await client.query('begin')
      const outcome = await write(client, organizationId, attempt)
      await client.query(outcome === 'recorded' ? 'commit' : 'rollback')
      return outcome
    } catch (error) {
      await client.query('rollback').catch(() => {})
      throw error
    } finally {
      client.release()
    }
  }

async function write(client: pg.PoolClient, organizationId: string, attempt: AttemptRecord): Promise<RecordOutcome> {
  const { replayMark, facts } = attempt
  const at = new Date(attempt.createdAt)
  const moved = await client.query({
    name: 'move-member',
    text: MOVE_MEMBER,
    values: [
      ...[organizationId, attempt.memberId, attempt.attemptsVersion, attempt.generation, attempt.rowVersion ?? null],
      ...[JSON.stringify(attempt.counters), attempt.habits],
      ...[attempt.authenticated, at],
    ],
  })
  if (moved.rowCount !== 1) return 'conflict'
  if (replayMark !== null && !(await claim(client, organizationId, attempt, replayMark))) return 'replay'
  await client.query({
    name: 'insert-authentication',
    text: INSERT_AUTHENTICATION,
    values: [
      ...[
        organizationId,
        attempt.id,
        at,
        attempt.accountId,
        attempt.memberId,
        attempt.userRef,
        attempt.memberRef,
        attempt.accountType,
        attempt.sessionId,
      ],
      ...[
        attempt.method,
        attempt.authenticated,
        attempt.recommendedAction,
        attempt.reason,
        attempt.confidence,
        attempt.confidenceBiometrics,
      ],
      ...[
        attempt.confidenceContext,
        attempt.policyId,
        attempt.nPatternsRef,
        attempt.nPatternsRefUsed,
        attempt.patternId,
      ],
      ...[attempt.sealed, facts === null ? null : toFactsText(facts)],
      ...[facts === null || facts.tags.length === 0 ? null : JSON.stringify(facts.tags)],
      ...[
        facts === null ? null : JSON.stringify(facetsOf(facts, attempt)),
        JSON.stringify(attemptEvents(attempt, attempt.counters)),
      ],
    ],
  })
  return 'recorded'
}

/** Inserts the mark; false if a known mark resembles it. */
async function claim(
  client: pg.PoolClient,
  organizationId: string,
  { createdAt, memberId, patternId, generation }: AttemptRecord,
  { exact, bands, cleared = [] }: ReplayMark,
): Promise<boolean> {
  const at = new Date(createdAt)
  const oldest = new Date(at.getTime() - REPLAY_MEMORY_DAYS * 86_400_000)
  const bandsText = `{${bands.join()}}`
  const alike = await client.query({
    name: 'marks-alike',
    text: MARKS_ALIKE,
    values: [organizationId, bandsText, oldest, BANDS_SHARED, cleared.map((mark) => Buffer.from(mark))],
  })
  if (alike.rowCount !== 0) return false
  const claimed = await client.query({
    name: 'insert-mark',
    text: INSERT_MARK,
    values: [organizationId, exact, bandsText, memberId, at, patternId, generation],
  })
  return claimed.rowCount === 1
}

const MOVE_MEMBER = `
  update keystride.member set attempts = $6, attempts_version = attempts_version + 1, row_version = row_version + 1,
    habits = coalesce($7, habits), last_success_at = case when $8 then $9 else last_success_at end,
    typed_at = case when $8 then $9 else typed_at end
  where organization_id = $1 and id = $2 and attempts_version = $3 and generation = $4
    and row_version = coalesce($5, row_version)`

const MARKS_ALIKE = `
  select 1 from (select * from keystride.replay_mark where bands && $2::bigint[] offset 0) m
  where m.organization_id = $1 and m.seen_at > $3 and m.exact <> all ($5::bytea[])
    and (select count(distinct band) from unnest(m.bands) band where band = any ($2::bigint[])) >= $4
  limit 1`

const INSERT_MARK = `
  insert into keystride.replay_mark (organization_id, exact, bands, member_id, seen_at, pattern_id, generation)
  values ($1, $2, $3::bigint[], $4, $5, $6, $7) on conflict do nothing`

const COLUMNS = [
  ...['organization_id', 'id', 'created_at', 'account_id', 'member_id', 'user_ref', 'member_ref', 'account_type'],
  ...['session_id', 'method', 'authenticated', 'recommended_action', 'reason', 'confidence', 'confidence_biometrics'],
  ...['confidence_context', 'policy_id', 'n_patterns_ref', 'n_patterns_ref_used', 'pattern_id', 'sealed', 'facts'],
  ...['tags', 'facets', 'events'],
]
const INSERT_AUTHENTICATION = `
  insert into keystride.authentication (${COLUMNS.join()}) values (${COLUMNS.map((_, i) => `$${i + 1}`).join()})`
