import { readFileSync } from 'node:fs'
import { createTickGate } from '../base/tick-gate.js'
import { createKernel } from './kernel.js'
import { scoreTask } from './score.js'
import { scoringId } from './scorer.js'
import type { Scoring } from './scoring.js'
import type { WorkerFiles } from './worker-files.js'

/**
 * Scores per event loop tick: one or two milliseconds. Attempts arrive in groups, as many as Redis answered at once. If all
 * were scored in one tick, the disk would be idle until the last score, and this thread idle while the disk writes them all.
 * With this limit and two concurrent commits one front made 1.4 times as many verifies a second (1,809 against 1,332,
 * alternating, on two virtual cores).
 */
const SCORES_PER_TICK = 8

/** Scoring on the caller's own thread (`SCORING=inline`): faster with as many fronts as cores. */
export function createInlineScoring({ wasmFile, modelFile }: WorkerFiles): Scoring {
  const [wasm, model] = [new Uint8Array(readFileSync(wasmFile)), new Uint8Array(readFileSync(modelFile))]
  const kernel = createKernel(wasm, model)
  const enter = createTickGate(SCORES_PER_TICK)
  return {
    id: scoringId(wasm, model),
    async score(task) {
      await enter()
      return scoreTask(kernel, task)
    },
    memoryBytes: kernel.memoryBytes,
    close: async () => {},
  }
}
