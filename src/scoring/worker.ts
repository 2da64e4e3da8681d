import { readFileSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { unpackTasks } from './batch.js'
import { createKernel } from './kernel.js'
import { scoreTask } from './score.js'
import type { WorkerAnswer, WorkerFiles } from './worker-files.js'

// createScoringPool is the only maker of this worker and passes WorkerFiles.
const files = workerData as WorkerFiles
const kernel = createKernel(new Uint8Array(readFileSync(files.wasmFile)), new Uint8Array(readFileSync(files.modelFile)))

/** Piscina's entry: a packed batch in, an answer for each task, in order. Holds no store client and no timer. */
export default function scoreBatch(packed: ArrayBuffer): WorkerAnswer[] {
  return unpackTasks(packed).map((task) => {
    try {
      return scoreTask(kernel, task)
    } catch (error) {
      return { ok: null, stack: error instanceof Error ? (error.stack ?? error.message) : String(error) }
    }
  })
}
