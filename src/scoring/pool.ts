import { Piscina } from 'piscina'
import { packTasks } from './batch.js'
import type { Scoring, ScoringResult, ScoringTask } from './scoring.js'
import type { WorkerAnswer, WorkerFiles } from './worker-files.js'

export interface ScoringPoolOptions extends WorkerFiles {
  /** The compiled worker; `artifacts.ts` knows where all three files lie. */
  readonly workerFile: string
  /** Threads, one or more; as many as cores less one is a good start. */
  readonly workers: number
  readonly log?: (message: string) => void
}

/** Tasks in one hop at the most: 32 make the hop's 10 µs nearly free, more would only wait for one another. */
const BATCH_MAX = 32

interface Waiting {
  readonly task: ScoringTask
  readonly resolve: (result: ScoringResult) => void
  readonly reject: (error: Error) => void
}

/**
 * Scoring on worker threads. What is asked for in one turn of the event loop crosses as one batch, 32 at the most, spread
 * over the workers; no timer, so an idle service adds no latency. When a worker dies, Piscina starts another and each
 * task of its batch is tried once more, alone, so that only the task that kills twice is refused: its promise rejects.
 */
export function createScoringPool({ workerFile, wasmFile, modelFile, workers, log }: ScoringPoolOptions): Scoring {
  const files: WorkerFiles = { wasmFile, modelFile }
  const pool = new Piscina({ filename: workerFile, workerData: files, minThreads: workers, maxThreads: workers })
  let waiting: Waiting[] = []
  let closed = false

  /** Sends a batch; every task of it is settled by then. */
  async function send(batch: readonly Waiting[], isRetry: boolean): Promise<void> {
    const packed = packTasks(batch.map(({ task }) => task))
    let answers: readonly WorkerAnswer[]
    try {
      // The worker's default export is typed as this; a promise of Piscina's is any.
      answers = (await pool.run(packed, { transferList: [packed] })) as readonly WorkerAnswer[]
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(String(error))
      log?.(`a scoring worker failed on a batch of ${batch.length}: ${reason.message}`)
      if (isRetry || closed) for (const { reject } of batch) reject(reason)
      else await Promise.all(batch.map((one) => send([one], true)))
      return
    }
    batch.forEach(({ resolve, reject }, i) => {
      const answer = answers[i]
      if (answer === undefined || answer.ok === null)
        reject(new Error(answer?.stack ?? 'the scoring worker left a task out'))
      else resolve(answer)
    })
  }

  /** Deals this turn's tasks over the workers, so that two arrivals use two cores. */
  function flush(): void {
    const tasks = waiting
    waiting = []
    const size = Math.min(BATCH_MAX, Math.max(1, Math.ceil(tasks.length / workers)))
    for (let i = 0; i < tasks.length; i += size) void send(tasks.slice(i, i + size), false)
  }

  return {
    score(task) {
      if (closed) return Promise.reject(new Error('the scoring pool is closed'))
      return new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(flush)
        waiting.push({ task, resolve, reject })
      })
    },
    async close() {
      closed = true
      // What was asked for is answered first: close waits for the running and queued batches.
      if (waiting.length > 0) flush()
      await pool.close()
    },
  }
}
