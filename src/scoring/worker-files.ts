import type { ScoringResult } from './scoring.js'

/** What every scoring thread reads at its start. */
export interface WorkerFiles {
  readonly wasmFile: string
  readonly modelFile: string
}

/** What crosses to a worker. */
export interface WorkerBatch {
  /** Tasks as packTasks makes them; the worker's from here on. */
  readonly packed: ArrayBuffer
  /**
   * Two shared numbers. The task it is at, counted from 1, so that its last one is known when it dies; and what its kernel's
   * memory was at the end.
   */
  readonly progress: Int32Array
}

/** A result, or the stack of what broke: classes do not survive the crossing, so nothing is thrown over it. */
export type WorkerAnswer = ScoringResult | { readonly ok: null; readonly stack: string }
