import { readFileSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { unpackTasks } from './batch.js'
import { createKernel } from './kernel.js'
import { KernelTrap } from './kernel-instance.js'
import { scoreTask } from './score.js'
import type { ScoringResult, ScoringTask } from './scoring.js'
import type { WorkerAnswer, WorkerBatch, WorkerFiles } from './worker-files.js'

// Sound: only createScoringPool starts this worker, and it passes WorkerFiles.
const files = workerData as WorkerFiles
const kernel = createKernel(new Uint8Array(readFileSync(files.wasmFile)), new Uint8Array(readFileSync(files.modelFile)))

/** Entry point for Piscina: one answer for each task of the batch, in order. Has no store client and no timer. */
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

/** Retries after a trap: data of an earlier task may have caused it, and the next call uses a fresh kernel. */
function scoreTwice(task: ScoringTask): ScoringResult {
  try {
    return scoreTask(kernel, task)
  } catch (error) {
    if (!(error instanceof KernelTrap)) throw error
    return scoreTask(kernel, task)
  }
}
