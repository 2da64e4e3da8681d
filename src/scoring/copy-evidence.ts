/** Evidence of a copy (table in `assembly/copies.ts`). */
export interface CopyMeasures {
  /** Correlation of the departures with those of one known pattern, in standard deviations. */
  readonly correlation: number
  /** Log likelihood ratio of a pattern that takes its presses from the known patterns. */
  readonly sources: number
  /** Excess of the most similar pattern where keys are not compared, nats. */
  readonly positions: number
}

/** Evidence that a pattern was made from known ones. */
export interface CopyEvidence {
  /** Share of sincere patterns that have as much evidence, 0 to 1. */
  readonly chance: number
  /** Position in `ScoringTask.known` of the nearest pattern. */
  readonly index: number
}

/**
 * Weights that join the measures: a blurred copy has some evidence by the first two, a splice much by the second, a copy under
 * other keys by the third alone.
 */
const SOURCES_WITH_CORRELATION = 0.15
const SOURCES_ALONE = 0.35
const SOURCES_MAX = 60
/**
 * Joined evidence that one sincere pattern in 200 reaches, and one in 1,000, against up to 48 earlier patterns of the same person
 * in the worst of five open data sets (`npm run bench -- accuracy --captures`). The logarithm of the chance is a line through both.
 */
const IN_200 = 6.4
const IN_1000 = 7.9

const chanceOfCopy = (joined: number): number => Math.min(1, 0.005 * 0.2 ** ((joined - IN_200) / (IN_1000 - IN_200)))

/** Joins the measures. `patterns` has the position of the pattern that each measure belongs to. */
export function copyEvidence(
  measures: CopyMeasures,
  patterns: Readonly<Record<keyof CopyMeasures, number>>,
): CopyEvidence {
  const sources = Math.min(SOURCES_MAX, measures.sources)
  const one = measures.correlation + SOURCES_WITH_CORRELATION * Math.max(-5, sources)
  const several = SOURCES_ALONE * sources
  const joined = Math.max(one, several, measures.positions)
  const index = joined === one ? patterns.correlation : joined === several ? patterns.sources : patterns.positions
  return { chance: chanceOfCopy(joined), index }
}

/** A pattern with a lower chance counts as a copy. */
const COPY_CHANCE = 0.001
/** A pattern with a lower chance may be a copy. */
const DOUBT_CHANCE = 0.005

export const isCopy = (evidence: CopyEvidence | null): boolean => evidence !== null && evidence.chance < COPY_CHANCE
export const mayBeCopy = (evidence: CopyEvidence | null): boolean => evidence !== null && evidence.chance < DOUBT_CHANCE
