import { createHash } from 'node:crypto'
import { Piscina } from 'piscina'
import { packTasks } from './batch.js'
import type { Scoring, ScoringResult, ScoringTask } from './scoring.js'
import type { WorkerAnswer, WorkerBatch, WorkerFiles } from './worker-files.js'

interface ScoringPoolOptions extends WorkerFiles {
  /** The compiled worker; `artifacts.ts` knows where all three files lie. */
  readonly workerFile: string
  /** Threads, one or more; as many as cores less one is a good start. */
  readonly workers: number
  readonly log?: (message: string) => void
}

/** Tasks in one hop at the most: 32 make the hop's 10 µs nearly free, more would only wait for one another. */
const BATCH_MAX = 32
const LOOK_MS = 50
/** A task takes 1 ms, 20 ms with the largest body: one that has taken 400 ms never ends, on a starved machine neither. */
const TASK_LOOKS_MAX = 8
/** Loading kernel and model takes 0.2 s; a thread that has not begun after 10 s never will. */
const BOOT_LOOKS_MAX = 200
/** Far above what a thread needs (20 MB), far below what would bring the process down. The kernel's memory is fixed. */
const HEAP_MAX_MB = 128
/** Hashes of patterns that have killed twice. */
const POISONS_MAX = 1000

interface Waiting {
  readonly task: ScoringTask
  readonly resolve: (result: ScoringResult) => void
  readonly reject: (error: Error) => void
  /** Workers that died while at it. */
  kills: number
  /** Batches of it that no worker began. */
  misses: number
}

/** A batch on its way through a worker. */
interface Running {
  /** Set by the worker: the task it is at, counted from 1 (0 before the first), and its kernel's memory. */
  readonly progress: Int32Array
  readonly ending: AbortController
  seenAt: number
  looks: number
}

/**
 * Scoring on worker threads. What waits crosses as one batch, 32 at the most, to each worker that is free; no timer, so an
 * idle service adds no latency. A worker that dies, runs out of memory or stays at one task for 400 ms is replaced. The
 * task it was at is tried once more, alone, and refused by a rejected promise where it kills again: from then on the same
 * bytes are no readable pattern. The others of its batch go to the next worker.
 */
export function createScoringPool({ workerFile, wasmFile, modelFile, workers, log }: ScoringPoolOptions): Scoring {
  const files: WorkerFiles = { wasmFile, modelFile }
  const pool = new Piscina({
    filename: workerFile,
    workerData: files,
    minThreads: workers,
    maxThreads: workers,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MAX_MB },
  })
  // A thread that breaks between two batches is replaced as well; unheard, the event would end the process.
  pool.on('error', (error: Error) => log?.(`a scoring worker failed while idle: ${error.message}`))
  let waiting: Waiting[] = []
  const running = new Set<Running>()
  const poisons = new Set<string>()
  let memoryBytes = 0
  let flushing = false
  let closed = false
  let whenIdle: (() => void) | null = null
  let watch: NodeJS.Timeout | null = null

  function score(task: ScoringTask): Promise<ScoringResult> {
    if (closed) return Promise.reject(new Error('the scoring pool is closed'))
    if (poisons.size > 0 && poisons.has(hashOf(task)))
      return Promise.resolve({ ok: false, message: 'this typing pattern cannot be read' })
    return new Promise((resolve, reject) => {
      waiting.push({ task, resolve, reject, kills: 0, misses: 0 })
      if (flushing) return
      flushing = true
      setImmediate(flush)
    })
  }

  /** Deals what waits over the free workers, so that two arrivals use two cores. */
  function flush(): void {
    flushing = false
    for (let free = workers - running.size; free > 0 && waiting.length > 0; free--) {
      const size = Math.min(BATCH_MAX, Math.ceil(waiting.length / free))
      // A suspect goes alone.
      const suspect = waiting.slice(0, size).findIndex(({ kills }) => kills > 0)
      void send(waiting.splice(0, suspect < 0 ? size : Math.max(1, suspect)))
    }
    if (waiting.length === 0 && running.size === 0) whenIdle?.()
  }

  async function send(batch: readonly Waiting[]): Promise<void> {
    const packed = packTasks(batch.map(({ task }) => task))
    const run: Running = {
      progress: new Int32Array(new SharedArrayBuffer(8)),
      ending: new AbortController(),
      seenAt: 0,
      looks: 0,
    }
    running.add(run)
    watch ??= setInterval(lookAround, LOOK_MS).unref()
    try {
      const given: WorkerBatch = { packed, progress: run.progress }
      // The worker's default export is typed as this; a promise of Piscina's is any.
      const answers = (await pool.run(given, {
        transferList: [packed],
        signal: run.ending.signal,
      })) as readonly WorkerAnswer[]
      memoryBytes = Math.max(memoryBytes, Atomics.load(run.progress, 1))
      for (const [i, one] of batch.entries()) settle(one, answers[i])
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(String(error))
      log?.(`a scoring worker failed on a batch of ${batch.length}: ${reason.message}`)
      again(batch, Atomics.load(run.progress, 0) - 1, reason)
    }
    running.delete(run)
    flush()
  }

  function settle({ resolve, reject }: Waiting, answer: WorkerAnswer | undefined): void {
    if (answer === undefined || answer.ok === null)
      reject(new Error(answer?.stack ?? 'the scoring worker left a task out'))
    else resolve(answer)
  }

  /** After a worker's death: the task it was at waits behind the others, which nothing is held against. */
  function again(batch: readonly Waiting[], last: number, reason: Error): void {
    const suspect = batch[last]
    const others = batch.filter((one) => one !== suspect)
    if (suspect === undefined) {
      // No worker came to begin it: a second one may.
      for (const one of others) one.misses += 1
      for (const { reject } of others.filter(({ misses }) => misses > 1)) reject(reason)
    }
    waiting = [...others.filter(({ misses }) => misses < 2), ...waiting]
    if (suspect === undefined) return
    suspect.kills += 1
    if (suspect.kills === 1) {
      waiting.push(suspect)
      return
    }
    if (poisons.size < POISONS_MAX) poisons.add(hashOf(suspect.task))
    suspect.reject(reason)
  }

  /** Ends workers that do not get on. Nobody looks while none is at work. */
  function lookAround(): void {
    if (running.size === 0) rest()
    for (const run of running) {
      const at = Atomics.load(run.progress, 0)
      run.looks = at === run.seenAt ? run.looks + 1 : 0
      run.seenAt = at
      if (run.looks >= (at === 0 ? BOOT_LOOKS_MAX : TASK_LOOKS_MAX)) run.ending.abort('it does not get on')
    }
  }

  function rest(): void {
    if (watch !== null) clearInterval(watch)
    watch = null
  }

  return {
    score,
    memoryBytes: () => memoryBytes,
    async close() {
      closed = true
      // What was asked for is answered first.
      await new Promise<void>((resolve) => {
        whenIdle = resolve
        flush()
      })
      rest()
      await pool.close()
    },
  }
}

const hashOf = ({ body }: ScoringTask): string => createHash('sha256').update(body).digest('base64')
