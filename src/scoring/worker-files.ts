import type { ScoringResult } from './scoring.js'

/** What every scoring thread reads at its start. */
export interface WorkerFiles {
  readonly wasmFile: string
  readonly modelFile: string
}

/** A result, or the stack of what broke: classes do not survive the crossing, so nothing is thrown over it. */
export type WorkerAnswer = ScoringResult | { readonly ok: null; readonly stack: string }
