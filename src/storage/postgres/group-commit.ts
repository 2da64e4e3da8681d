import { Refusal } from '../../domain/refusal.js'
import { REPLAY_BANDS_SHARED, REPLAY_MEMORY_DAYS } from '../../domain/replay.js'
import type { AuthenticationStore, RecordOutcome } from '../authentication.js'
import { type Owned, parametersOf, RECORD_ATTEMPTS } from './attempt-columns.js'
import type { Database } from './client.js'

interface Waiting extends Owned {
  resolve(outcome: RecordOutcome): void
  reject(error: unknown): void
}

/** Attempts a commit at most: the disk's flush is shared well before, and one statement stays far under its time-out. */
const BATCH_MAX = 64
/** A commit waits for no more than so many: with twice that a front alone has nothing left to do meanwhile (x 0.84). */
const WORTH_WAITING_FOR = 16
/**
 * While one commit is under way another is worth its flush from so many on: the front goes on meanwhile. A statement costs
 * PostgreSQL some 340 us and 110 for each attempt in it: over half of this, two fronts on two cores make x 1.19, and one
 * front x 1.00 (medians of 7 rounds taking turns).
 */
const WORTH_ANOTHER = 16
const COMMITS_AT_ONCE = 2

/**
 * Makes `record`: what arrives while a commit is under way shares the next one, so an idle service adds no wait and a
 * busy one pays one flush of the disk for many attempts. Across organizations, through one security-definer function.
 * A batch that fails as a whole is tried again attempt by attempt, so that only the bad one fails.
 */
export function groupCommit(database: Database): AuthenticationStore['record'] {
  const queue: Waiting[] = []
  const underWay = new Set<Waiting>()
  let commits = 0

  async function flush(): Promise<void> {
    commits += 1
    for (;;) {
      await gather()
      const batch = takeBatch(queue, underWay)
      if (batch.length === 0) break
      for (const waiting of batch) underWay.add(waiting)
      await settle(batch)
      for (const waiting of batch) underWay.delete(waiting)
    }
    commits -= 1
  }

  /** No timer: as long as each turn of the event loop brings more, it belongs to the same commit. */
  async function gather(): Promise<void> {
    for (let before = 0; queue.length > before && queue.length < WORTH_WAITING_FOR; ) {
      before = queue.length
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Tells those of the batch what became of them. */
  async function settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await write(database, batch)
      // Sound: write gives as many as it was given.
      for (const [i, waiting] of batch.entries()) waiting.resolve(outcomes[i] as RecordOutcome)
    } catch (error) {
      if (batch.length === 1 || error instanceof Refusal) for (const waiting of batch) waiting.reject(error)
      else for (const waiting of batch) await settle([waiting])
    }
  }

  return (organizationId, attempt) =>
    new Promise((resolve, reject) => {
      queue.push({ organizationId, attempt, resolve, reject })
      if (commits === 0 || (commits < COMMITS_AT_ONCE && queue.length >= WORTH_ANOTHER)) void flush()
    })
}

/**
 * Takes from the queue what one statement may hold: it looks marks up as they were before it, so it is given none that
 * resemble each other or one under way. The others stay for a commit after that, which finds them to be replays.
 */
function takeBatch(queue: Waiting[], underWay: ReadonlySet<Waiting>): Waiting[] {
  const batch: Waiting[] = []
  const later: Waiting[] = []
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
type Holders = Map<bigint, Waiting[]>

function hold(holders: Holders, waiting: Waiting): void {
  for (const band of waiting.attempt.replayMark?.bands ?? []) {
    const others = holders.get(band)
    if (others === undefined) holders.set(band, [waiting])
    else others.push(waiting)
  }
}

function resemblesAny({ organizationId, attempt }: Waiting, holders: Holders): boolean {
  const shared = new Map<Waiting, number>()
  for (const band of new Set(attempt.replayMark?.bands))
    for (const other of holders.get(band) ?? []) {
      if (other.organizationId !== organizationId) continue
      const n = (shared.get(other) ?? 0) + 1
      if (n >= REPLAY_BANDS_SHARED) return true
      shared.set(other, n)
    }
  return false
}

function write(database: Database, batch: readonly Waiting[]): Promise<RecordOutcome[]> {
  const parameters = [...parametersOf(batch), REPLAY_BANDS_SHARED, REPLAY_MEMORY_DAYS]
  return database.call(async (sql) => {
    const [row] = await sql.unsafe<{ outcomes: Record<number, RecordOutcome> }[]>(RECORD_ATTEMPTS, parameters, {
      prepare: true,
    })
    if (row === undefined) throw new Error('record_attempts told no outcome')
    return batch.map((_, i) => row.outcomes[i + 1] ?? 'absent')
  })
}
