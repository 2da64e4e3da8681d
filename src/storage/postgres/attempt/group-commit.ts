import { REPLAY_MEMORY_DAYS } from '../../../domain/replay.js'
import type { AuthenticationStore, RecordOutcome } from '../../authentication.js'
import { ask, type Database } from '../connection/client.js'
import { shareStatement, type Waiting } from '../connection/shared-statement.js'
import { type Owned, parametersOf, RECORD_ATTEMPTS } from './record-codec.js'

type WaitingAttempt = Waiting<Owned, RecordOutcome>

/** Largest number of attempts per commit, with which the statement stays far below its time-out. */
const BATCH_MAX = 64
/**
 * A commit waits for at most this many attempts, and while one is under way, another one begins with this many. PostgreSQL 17.10
 * executes 1.77 million instructions of `record_attempts` for one attempt, and 0.58 million for each of forty (callgrind). The start
 * of the plan takes 0.48 of the 1.77, and the check constraints of `member`, which each statement parses again, 0.26. A loop of
 * simple statements takes 1.63 for one, but 1.32 for each of forty. Larger batches are therefore cheaper. But a batch of all requests
 * of a front (`REQUESTS_AT_ONCE`, 64) leaves that front idle meanwhile. With 40 instead of 24, the processor time of front and stores per
 * verify, the rate and p99 are x 0.92, 1.01 and 0.92 with one front at 64 connections, and x 0.96, 1.03 and 0.92 with two fronts at
 * 256. With 56 and one front they are x 0.94, 0.90 and 1.04 (medians of 5 alternating rounds on two cores).
 */
const WORTH_A_COMMIT = 40

/**
 * Makes `record`: attempts that arrive during a commit share the next one and its disk flush, across organizations, through
 * one security-definer function. `committed` gets the number of attempts of each commit.
 */
export function groupCommit(
  database: Database,
  committed: (attempts: number) => void = () => {},
): AuthenticationStore['record'] {
  const record = shareStatement<Owned, RecordOutcome>({
    async run(batch) {
      const outcomes = await write(database, batch)
      committed(batch.length)
      return outcomes
    },
    take: takeBatch,
    worthWaitingFor: WORTH_A_COMMIT,
    worthAnother: WORTH_A_COMMIT,
  })
  return (organizationId, attempt, change = null) => record({ organizationId, attempt, change })
}

/**
 * Takes the attempts of one statement from the queue. The statement sees marks as they were before it, so no two of its
 * attempts resemble each other, and none resembles one under way. The others stay for a later commit, which detects them as
 * replays. Bands of two organizations are equal only by chance, which costs a wait.
 */
function takeBatch(queue: WaitingAttempt[], underWay: readonly WaitingAttempt[]): WaitingAttempt[] {
  const batch: WaitingAttempt[] = []
  const later: WaitingAttempt[] = []
  const held = new Set<bigint>()
  const hold = (waiting: WaitingAttempt) => {
    for (const band of bandsOf(waiting)) held.add(band)
  }
  underWay.forEach(hold)
  let taken = 0
  for (const waiting of queue) {
    if (batch.length === BATCH_MAX) break
    taken += 1
    if (bandsOf(waiting).some((band) => held.has(band))) {
      later.push(waiting)
      continue
    }
    batch.push(waiting)
    hold(waiting)
  }
  queue.splice(0, taken, ...later)
  return batch
}

const bandsOf = ({ asked }: WaitingAttempt): readonly bigint[] => asked.attempt.replayMark?.bands ?? []

function write(database: Database, batch: readonly Owned[]): Promise<RecordOutcome[]> {
  return database.call(async (sql) => {
    const parameters = [...parametersOf(batch), REPLAY_MEMORY_DAYS]
    const [row] = await ask<{ outcomes: Record<number, RecordOutcome> }>(sql, RECORD_ATTEMPTS, parameters)
    if (row === undefined) throw new Error('record_attempts returned no outcome')
    return batch.map((_, i) => row.outcomes[i + 1] ?? 'absent')
  })
}
