import type { Examples } from './boosting.js'

/** Grows a row-major matrix without an array of arrays. */
export function collector(width: number) {
  let rows = new Float32Array(width * 4096)
  const labels: number[] = []
  return {
    add(row: Float32Array, label: 0 | 1): void {
      if ((labels.length + 1) * width > rows.length) {
        const larger = new Float32Array(rows.length * 2)
        larger.set(rows)
        rows = larger
      }
      rows.set(row, labels.length * width)
      labels.push(label)
    },
    done: (): Examples => ({ width, rows: rows.subarray(0, labels.length * width), labels: Uint8Array.from(labels) }),
  }
}
