import { REPLAY_MEMORY_DAYS } from '../../../domain/replay.js'
import type { AuthenticationStore, RecordOutcome } from '../../authentication.js'
import { ask, type Database } from '../connection/client.js'
import { shareStatement, type Waiting } from '../connection/shared-statement.js'
import { type Owned, parametersOf, RECORD_ATTEMPTS } from './record-codec.js'

type WaitingAttempt = Waiting<Owned, RecordOutcome>

/** Largest number of attempts per commit: fewer already share the disk's flush, and the statement stays far below its time-out. */
const BATCH_MAX = 64
/**
 * A commit waits for at most this many attempts, and while one is under way, another one begins with this many. A statement
 * costs PostgreSQL some 340 us, and 110 us per attempt, so larger batches are cheaper. But a batch of all requests of a front
 * leaves that front idle meanwhile (x 0.84 with one front). 24 of 64 requests (`REQUESTS_AT_ONCE`) give x 1.10 of the rate
 * with 16 of 32, with two fronts on two cores at 256 connections (medians of 10 alternating rounds).
 */
const WORTH_A_COMMIT = 24

/**
 * Makes `record`: attempts that arrive during a commit share the next one and its disk flush, across organizations, through
 * one security-definer function.
 */
export function groupCommit(database: Database): AuthenticationStore['record'] {
  const record = shareStatement<Owned, RecordOutcome>({
    run: (batch) => write(database, batch),
    take: takeBatch,
    worthWaitingFor: WORTH_A_COMMIT,
    worthAnother: WORTH_A_COMMIT,
  })
  return (organizationId, attempt) => record({ organizationId, attempt })
}

/**
 * Takes the attempts of one statement from the queue. The statement sees marks as they were before it, so it gets none that
 * resemble each other or one under way. Those stay for a later commit, which detects them as replays.
 */
function takeBatch(queue: WaitingAttempt[], underWay: readonly WaitingAttempt[]): WaitingAttempt[] {
  const batch: WaitingAttempt[] = []
  const later: WaitingAttempt[] = []
  const holders: Holders = new Map()
  for (const waiting of underWay) hold(holders, waiting)
  let taken = 0
  for (const waiting of queue) {
    if (batch.length === BATCH_MAX) break
    taken += 1
    if (resemblesAny(waiting, holders)) {
      later.push(waiting)
      continue
    }
    batch.push(waiting)
    hold(holders, waiting)
  }
  queue.splice(0, taken, ...later)
  return batch
}

/** Attempts by band of their mark. */
type Holders = Map<bigint, WaitingAttempt[]>

function hold(holders: Holders, waiting: WaitingAttempt): void {
  for (const band of waiting.asked.attempt.replayMark?.bands ?? []) {
    const others = holders.get(band)
    if (others === undefined) holders.set(band, [waiting])
    else others.push(waiting)
  }
}

const resemblesAny = ({ asked: { organizationId, attempt } }: WaitingAttempt, holders: Holders): boolean =>
  (attempt.replayMark?.bands ?? []).some((band) =>
    (holders.get(band) ?? []).some(({ asked }) => asked.organizationId === organizationId),
  )

function write(database: Database, batch: readonly Owned[]): Promise<RecordOutcome[]> {
  return database.call(async (sql) => {
    const parameters = [...parametersOf(batch), REPLAY_MEMORY_DAYS]
    const [row] = await ask<{ outcomes: Record<number, RecordOutcome> }>(sql, RECORD_ATTEMPTS, parameters)
    if (row === undefined) throw new Error('record_attempts returned no outcome')
    return batch.map((_, i) => row.outcomes[i + 1] ?? 'absent')
  })
}
