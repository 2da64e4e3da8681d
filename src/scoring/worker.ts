import { readFileSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { unpackTasks } from './batch.js'
import { createKernel, KernelTrap } from './kernel.js'
import { scoreTask } from './score.js'
import type { ScoringResult, ScoringTask } from './scoring.js'
import type { WorkerAnswer, WorkerBatch, WorkerFiles } from './worker-files.js'

// createScoringPool is the only maker of this worker and passes WorkerFiles.
const files = workerData as WorkerFiles
const kernel = createKernel(new Uint8Array(readFileSync(files.wasmFile)), new Uint8Array(readFileSync(files.modelFile)))

/** Piscina's entry: an answer for each task of the batch, in order. Holds no store client and no timer. */
export default function scoreBatch({ packed, progress }: WorkerBatch): WorkerAnswer[] {
  const answers = unpackTasks(packed).map((task, i): WorkerAnswer => {
    Atomics.store(progress, 0, i + 1)
    try {
      return scoreTwice(task)
    } catch (error) {
      return { ok: null, stack: error instanceof Error ? (error.stack ?? error.message) : String(error) }
    }
  })
  Atomics.store(progress, 1, kernel.memoryBytes())
  return answers
}

/** A trap may be the doing of what an earlier task left behind: the kernel that comes after it is a fresh one. */
function scoreTwice(task: ScoringTask): ScoringResult {
  try {
    return scoreTask(kernel, task)
  } catch (error) {
    if (!(error instanceof KernelTrap)) throw error
    return scoreTask(kernel, task)
  }
}
