import { randomFillSync } from 'node:crypto'

/** Gives `size` random bytes, the caller's, `count` of them drawn at a time: one by one each draw takes some microseconds. */
export function randomPool(size: number, count = 256): () => Uint8Array {
  const pool = new Uint8Array(size * count)
  let used = pool.length
  return () => {
    if (used === pool.length) {
      randomFillSync(pool)
      used = 0
    }
    used += size
    return pool.slice(used - size, used)
  }
}
