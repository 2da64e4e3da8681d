/** Version of the binary format of written samples (`src/scoring/sample.ts`). */
export const SAMPLE_FORMAT = 1
/** Versions that the scorer reads. A profile in another version is `expired`. */
export const READABLE_SAMPLE_FORMATS: readonly number[] = [SAMPLE_FORMAT]
