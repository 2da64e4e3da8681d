import { readFileSync } from 'node:fs'
import { Piscina } from 'piscina'
import { packTasks } from './batch.js'
import { createPoolWatchdog, type Run } from './pool-watchdog.js'
import { scoringId } from './scorer.js'
import type { Scoring, ScoringResult, ScoringTask } from './scoring.js'
import { createScoringQueue, type QueuedTask } from './scoring-queue.js'
import type { WorkerAnswer, WorkerBatch, WorkerFiles } from './worker-files.js'

interface ScoringPoolOptions extends WorkerFiles {
  /** The compiled worker; `artifacts.ts` has the paths of all three files. */
  readonly workerFile: string
  /** Threads, at least one; a good start is one fewer than cores. */
  readonly workers: number
  readonly log?: (message: string) => void
}

/** A thread needs 20 MB, and this size does not exhaust the process. The kernel's memory is fixed and comes on top. */
const HEAP_MAX_MB = 128

/**
 * Scoring on worker threads. Each free worker gets waiting tasks as one batch, at most 32. No timer delays a batch, so an idle
 * service adds no latency. A worker that exits, runs out of memory or stays at one task for 400 ms is replaced. The
 * worker's current task is retried once, alone. If that fails too, the task's promise rejects, and from then on a pattern of
 * the same bytes is refused as unreadable. The other tasks of the batch go to the next worker.
 */
export function createScoringPool({ workerFile, workers, log, ...files }: ScoringPoolOptions): Scoring {
  const pool = startThreads(workerFile, files, workers, log)
  const queue = createScoringQueue()
  const watchdog = createPoolWatchdog()
  let memoryBytes = 0
  let flushing = false
  let closed = false
  let whenIdle: (() => void) | null = null

  function score(task: ScoringTask): Promise<ScoringResult> {
    if (closed) return Promise.reject(new Error('the scoring pool is closed'))
    if (queue.isPoison(task)) return Promise.resolve({ ok: false, message: 'this typing pattern cannot be read' })
    return new Promise((resolve, reject) => {
      queue.add({ task, resolve, reject, kills: 0, misses: 0 })
      if (flushing) return
      flushing = true
      setImmediate(flush)
    })
  }

  function flush(): void {
    flushing = false
    for (let free = workers - watchdog.running(); free > 0 && queue.length() > 0; free--)
      void send(queue.nextBatch(free))
    if (queue.length() === 0 && watchdog.running() === 0) whenIdle?.()
  }

  async function send(batch: readonly QueuedTask[]): Promise<void> {
    const run = watchdog.begin()
    try {
      const answers = await runBatch(pool, batch, run)
      memoryBytes = Math.max(memoryBytes, Atomics.load(run.progress, 1))
      for (const [i, one] of batch.entries()) settle(one, answers[i])
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(String(error))
      log?.(`a scoring worker failed on a batch of ${batch.length}: ${reason.message}`)
      queue.retry(batch, Atomics.load(run.progress, 0) - 1, reason)
    }
    watchdog.end(run)
    flush()
  }

  return {
    id: scoringId(readFileSync(files.wasmFile), readFileSync(files.modelFile)),
    score,
    memoryBytes: () => memoryBytes,
    async close() {
      closed = true
      // Tasks that already wait are answered first.
      await new Promise<void>((resolve) => {
        whenIdle = resolve
        flush()
      })
      watchdog.stop()
      await pool.close()
    },
  }
}

function startThreads(
  filename: string,
  { wasmFile, modelFile }: WorkerFiles,
  workers: number,
  log: ScoringPoolOptions['log'],
): Piscina {
  const workerData: WorkerFiles = { wasmFile, modelFile }
  const resourceLimits = { maxOldGenerationSizeMb: HEAP_MAX_MB }
  const pool = new Piscina({ filename, workerData, minThreads: workers, maxThreads: workers, resourceLimits })
  // A thread that fails between two batches is also replaced. Without a listener the event would end the process.
  pool.on('error', (error: Error) => log?.(`a scoring worker failed while idle: ${error.message}`))
  return pool
}

function runBatch(pool: Piscina, batch: readonly QueuedTask[], run: Run): Promise<readonly WorkerAnswer[]> {
  const packed = packTasks(batch.map(({ task }) => task))
  const given: WorkerBatch = { packed, progress: run.progress }
  // Sound: the worker's default export has this type; Piscina declares a promise of any.
  return pool.run(given, { transferList: [packed], signal: run.ending.signal }) as Promise<readonly WorkerAnswer[]>
}

function settle({ resolve, reject }: QueuedTask, answer: WorkerAnswer | undefined): void {
  if (answer === undefined || answer.ok === null)
    reject(new Error(answer?.stack ?? 'the scoring worker left a task out'))
  else resolve(answer)
}
