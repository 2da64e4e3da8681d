/** Rows of a chunk: one array of a million rows would be longer than an array may be. */
export const CHUNK_ROWS = 4096

/** Training rows of features, `width` a row: row-major chunks of CHUNK_ROWS rows. */
export interface Examples {
  readonly width: number
  readonly chunks: readonly Float32Array[]
  /** 1 or 0 a row. */
  readonly labels: Uint8Array
  /** Weight of each row; all are equal if absent. */
  readonly weights?: Float32Array
}

/** The value of a column of a row that is there. */
export const valueAt = ({ width, chunks }: Examples, row: number, column: number): number =>
  (chunks[Math.floor(row / CHUNK_ROWS)] as Float32Array)[(row % CHUNK_ROWS) * width + column] as number

/** Collects rows of `width` numbers with their labels. */
export function collector(width: number) {
  const chunks: Float32Array[] = []
  const labels: number[] = []
  return {
    add(row: Float32Array, label: 0 | 1): void {
      const at = labels.length % CHUNK_ROWS
      if (at === 0) chunks.push(new Float32Array(CHUNK_ROWS * width))
      chunks.at(-1)?.set(row, at * width)
      labels.push(label)
    },
    done: (): Examples => ({ width, chunks, labels: Uint8Array.from(labels) }),
  }
}
