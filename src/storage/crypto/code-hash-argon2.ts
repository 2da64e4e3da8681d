import { createHmac } from 'node:crypto'
import { Piscina } from 'piscina'
import { tooManyCodes } from '../../domain/refusal.js'
import type { CodeHash, CodeOwner } from '../code-hash.js'
import type { HashTask } from './code-hash-task.js'

/** argon2id at the minimum of OWASP's Password Storage Cheat Sheet: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** A hash occupies a core for about 23 ms. With at most two concurrent hashes, the other cores serve typing. */
const AT_ONCE_MAX = 2
/** A core computes 40 hashes a second, so the last one waits 1.6 s: four times as long during typing, half as long with two cores. */
const WAITING_MAX = 64
/**
 * A hash moves 19 MiB through caches that typing shares, which a low priority does not prevent. So while this process is busy,
 * the next hash waits this many times the duration of a hash that had a core. During 500 codes a second, the 99th percentile of typing
 * was 1.2 to 1.7 times its value without codes in four runs, and 1.6 to 1.8 times without rests.
 */
const RESTS_MAX = 3
/** Event loop utilization from which this process counts as busy; below it, rests are proportionally shorter. */
const BUSY = 3 / 8
const RETRY_AFTER_S = 1
/** A hash under `COST` that no code matches, because salt and digest are zeros. */
const NOBODYS = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`

interface Needs {
  /** The organization's pepper, 32 bytes, which no database has unencrypted. */
  pepperOf(organizationId: string): Promise<Uint8Array>
  /** The compiled `code-hash-thread.ts`. */
  readonly threadFile: string
  /** Number of concurrent hashes, at most two; one if several processes share the machine or cores are few. */
  readonly atOnce?: number
}

/** An idle thread ends after this, so a deployment without codes has no threads. */
const IDLE_MS = 60_000
/** Typing gets nine tenths of a core that both need (Linux), because it takes milliseconds and a code waits for its hash anyway. */
const NICER = 10

/**
 * argon2id over HMAC-SHA256 of the code and its owner under the organization's pepper, so that a stolen database alone does not
 * allow guessing the few possible codes. Runs on threads with a lower priority than all others of the process.
 */
export function createCodeHash({
  pepperOf,
  threadFile,
  atOnce = AT_ONCE_MAX,
}: Needs): CodeHash & { close(): Promise<void> } {
  const threadsMax = Math.min(AT_ONCE_MAX, atOnce)
  const inTurn = limited(threadsMax, WAITING_MAX, restOf(utilization()))
  const threads = new Piscina({
    filename: threadFile,
    minThreads: 0,
    maxThreads: threadsMax,
    idleTimeout: IDLE_MS,
    niceIncrement: NICER,
  })
  // A thread that breaks while idle is replaced. Without a listener, the event would end the process.
  threads.on('error', () => {})
  const compute = (task: HashTask) => threads.run(task)
  // The digest is text, because the package's verify reads bytes as UTF-8. The pepper is read before the queue, so that no slot waits for it.
  const peppered = async ({ organizationId, memberId }: CodeOwner, code: string) =>
    createHmac('sha256', await pepperOf(organizationId))
      .update(JSON.stringify([organizationId, memberId, code]))
      .digest('base64url')
  return {
    async hash(owner, code) {
      const text = await peppered(owner, code)
      return inTurn(() => compute({ text, cost: COST, kept: null }) as Promise<string>)
    },
    async matches(owner, code, kept) {
      const text = await peppered(owner, code)
      return inTurn(async () => (await compute({ text, cost: COST, kept: kept ?? NOBODYS })) === true && kept !== null)
    },
    close: () => threads.destroy(),
  }
}

/** Event loop utilization of this thread since the last call, 0 to 1. */
function utilization(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  }
}

/**
 * Time, ms, for which a slot stays empty after a hash that took `workedMs`. The shortest hash so far counts, because a rest is for
 * the caches and must not grow with the time that a hash waited for a core.
 */
export function restOf(busy: () => number): (workedMs: number) => number {
  let shortestMs = Number.POSITIVE_INFINITY
  return (workedMs) => {
    shortestMs = Math.min(shortestMs, workedMs)
    return shortestMs * RESTS_MAX * Math.min(1, busy() / BUSY)
  }
}

/**
 * Runs at most `atOnce` tasks concurrently, and further ones in order of arrival. Refuses if `waiting` tasks wait. After a task,
 * its slot stays empty for `restMs` of the task's duration.
 */
export function limited(
  atOnce: number,
  waiting: number,
  restMs: (workedMs: number) => number = () => 0,
): <T>(task: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = []
  let running = 0
  return async (task) => {
    if (running >= atOnce) {
      if (queue.length >= waiting) throw tooManyCodes(RETRY_AFTER_S)
      // A task that ends hands over its slot, so `running` is unchanged.
      await new Promise<void>((resolve) => queue.push(resolve))
    } else running += 1
    const begun = performance.now()
    try {
      return await task()
    } finally {
      const rest = restMs(performance.now() - begun)
      if (rest > 0) setTimeout(handOver, rest)
      else handOver()
    }
  }

  function handOver(): void {
    const next = queue.shift()
    if (next === undefined) running -= 1
    else next()
  }
}
