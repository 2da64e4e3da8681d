import { createHmac } from 'node:crypto'
import { Piscina } from 'piscina'
import { Refusal } from '../../domain/refusal.js'
import type { CodeHash, CodeOwner } from '../code-hash.js'
import type { HashTask } from './code-hash-task.js'

/** argon2id as OWASP's Password Storage Cheat Sheet has it at the least: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** A hash takes a core for about 23 ms: two at once leave the others to the typing. */
const AT_ONCE_MAX = 2
/** A core computes 40 hashes a second, so the last one waits 1.6 s, four times that while typing is served, half of it where there are two at once. */
const WAITING_MAX = 64
/**
 * A hash moves 19 MiB through caches that the typing shares, which no priority spares it: while this process is busy, so many
 * times as long as a hash took passes before the next one. Beside 500 codes a second the 99th percentile of typing was then
 * 1.2 to 1.7 times what it is alone, in four runs; without rests 1.6 to 1.8 times.
 */
const RESTS_MAX = 3
/** Share of its thread's time from which this process counts as busy; below, rests are shorter in proportion. */
const BUSY = 3 / 8
const RETRY_AFTER_S = 1
/** A hash of no code under `COST`: the salt and the digest are zeros, which HMAC never meets. */
const NOBODYS = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`

interface Needs {
  /** 32 bytes of the organization that lie in no database unencrypted. */
  pepperOf(organizationId: string): Promise<Uint8Array>
  /** The compiled `code-hash-thread.ts`. */
  readonly threadFile: string
  /** Hashes at once, two at the most: fewer where this process is one of several on its machine, or has few cores. */
  readonly atOnce?: number
}

/** A thread without work ends after so long: where nobody uses codes there is none. */
const IDLE_MS = 60_000
/** Typing waits for milliseconds, a code for its hash anyway: where both want a core, typing gets nine tenths (Linux). */
const NICER = 10

/**
 * argon2id over HMAC-SHA256 of the code and its owner under the organization's pepper: a stolen database alone lets
 * nobody try the few codes there are. Computed on threads of a lower priority than everything else here.
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
  // A thread that breaks while idle is replaced; unheard, the event would end the process.
  threads.on('error', () => {})
  const compute = (task: HashTask) => threads.run(task)
  // As text: the package's verify reads bytes as UTF-8. The pepper comes first, so that nobody holds a turn and waits for it.
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

/** Of this thread since the last time it was asked, 0 to 1. */
function utilization(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  }
}

/** How long, in ms, the place of a hash stays empty that took so long. */
export const restOf =
  (busy: () => number) =>
  (workedMs: number): number =>
    workedMs * RESTS_MAX * Math.min(1, busy() / BUSY)

/**
 * Runs at most `atOnce` tasks, the others in the order they came; past `waiting` of them it refuses. The place of one that
 * ended stays empty for what `restMs` makes of its time.
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
      if (queue.length >= waiting) {
        throw new Refusal('rate-limited', 'too many security codes at once: try again shortly', RETRY_AFTER_S)
      }
      // Whoever ends hands its place over, so `running` stays as it is.
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
