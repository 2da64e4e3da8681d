import type { PatternReading, Scoring, ScoringResult, ScoringTask } from '../../scoring/scoring.js'

/** A typing pattern of a call. */
export interface PatternInput {
  readonly kind: 'pattern'
  /** The request body as received. */
  readonly body: Uint8Array
  /** The body as `scoreInput` has read it, so that it is scanned once; null if it is no typing pattern, absent until it is read. */
  scanned?: Pick<PatternReading, 'sample' | 'replayMark'> | null
}

/** Scores the pattern, and stores the reading in `input.scanned`. */
export async function scoreInput(
  scoring: Scoring,
  input: PatternInput,
  task: Omit<ScoringTask, 'body'>,
): Promise<ScoringResult> {
  const result = await scoring.score({ ...task, body: input.body })
  input.scanned = (result.ok ? result.reading : result.touched) ?? null
  return result
}
