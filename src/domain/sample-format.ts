/** Version of the binary form in which samples are written (`src/scoring/sample.ts`). */
export const SAMPLE_FORMAT = 1
/** Versions that the scorer reads: a profile whose references are in another one is `expired`. */
export const READABLE_SAMPLE_FORMATS: readonly number[] = [SAMPLE_FORMAT]
