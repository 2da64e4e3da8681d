import type { ScoringResult } from './scoring.js'

/** Files that every scoring thread reads at its start. */
export interface WorkerFiles {
  readonly wasmFile: string
  readonly modelFile: string
}

/** A batch on its way to a worker. */
export interface WorkerBatch {
  /** Tasks in the format of `packTasks`; ownership passes to the worker. */
  readonly packed: ArrayBuffer
  /**
   * Two shared numbers that the worker sets. The first is its current task, counted from 1, which identifies the task during
   * which a worker failed. The second is its kernel's memory in bytes, after the batch.
   */
  readonly progress: Int32Array
}

/** A result, or the stack of an error: classes do not survive the transfer, so nothing is thrown across it. */
export type WorkerAnswer = ScoringResult | { readonly ok: null; readonly stack: string }
