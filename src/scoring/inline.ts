import { readFileSync } from 'node:fs'
import { createKernel } from './kernel.js'
import { scoreTask } from './score.js'
import type { Scoring } from './scoring.js'
import type { WorkerFiles } from './worker-files.js'

/** Scoring on the caller's own thread (`SCORING=inline`): wins where there are as many fronts as cores. */
export function createInlineScoring({ wasmFile, modelFile }: WorkerFiles): Scoring {
  const kernel = createKernel(new Uint8Array(readFileSync(wasmFile)), new Uint8Array(readFileSync(modelFile)))
  return {
    score: async (task) => scoreTask(kernel, task),
    memoryBytes: kernel.memoryBytes,
    close: async () => {},
  }
}
