import { REPLAY_BANDS_SHARED, REPLAY_MEMORY_DAYS } from '../../../domain/replay.js'
import type { AuthenticationStore, RecordOutcome } from '../../authentication.js'
import { ask, type Database } from '../connection/client.js'
import { shareStatement, type Waiting } from '../connection/shared-statement.js'
import { type Owned, parametersOf, RECORD_ATTEMPTS } from './record-codec.js'

type WaitingAttempt = Waiting<Owned, RecordOutcome>

/** Attempts a commit at most: the disk's flush is shared well before, and one statement stays far under its time-out. */
const BATCH_MAX = 64
/**
 * A commit waits for no more than so many, and while one is under way another is worth its flush from so many on. A statement
 * costs PostgreSQL some 340 us and 110 for each attempt in it, so larger is cheaper, but for the fronts' time: with as many as
 * a front works on at once it has nothing to do meanwhile (x 0.84 where it is alone). Of 64 at work (`REQUESTS_AT_ONCE`) 24
 * make x 1.10 of 16 of 32, with two fronts on two cores at 256 connections (medians of 10 rounds taking turns).
 */
const WORTH_A_COMMIT = 24

/**
 * Makes `record`: attempts that arrive while a commit is under way share the next one, and its flush of the disk. Across
 * organizations, through one security-definer function.
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
 * Takes from the queue what one statement may hold: it looks marks up as they were before it, so it is given none that
 * resemble each other or one under way. The others stay for a commit after that, which finds them to be replays.
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

/** By a band, the attempts whose mark has it. */
type Holders = Map<bigint, WaitingAttempt[]>

function hold(holders: Holders, waiting: WaitingAttempt): void {
  for (const band of waiting.asked.attempt.replayMark?.bands ?? []) {
    const others = holders.get(band)
    if (others === undefined) holders.set(band, [waiting])
    else others.push(waiting)
  }
}

function resemblesAny({ asked: { organizationId, attempt } }: WaitingAttempt, holders: Holders): boolean {
  const shared = new Map<WaitingAttempt, number>()
  for (const band of new Set(attempt.replayMark?.bands))
    for (const other of holders.get(band) ?? []) {
      if (other.asked.organizationId !== organizationId) continue
      const n = (shared.get(other) ?? 0) + 1
      if (n >= REPLAY_BANDS_SHARED) return true
      shared.set(other, n)
    }
  return false
}

function write(database: Database, batch: readonly Owned[]): Promise<RecordOutcome[]> {
  return database.call(async (sql) => {
    const parameters = [...parametersOf(batch), REPLAY_BANDS_SHARED, REPLAY_MEMORY_DAYS]
    const [row] = await ask<{ outcomes: Record<number, RecordOutcome> }>(sql, RECORD_ATTEMPTS, parameters)
    if (row === undefined) throw new Error('record_attempts told no outcome')
    return batch.map((_, i) => row.outcomes[i + 1] ?? 'absent')
  })
}
