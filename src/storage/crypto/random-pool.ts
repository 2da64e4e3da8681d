import { randomFillSync } from 'node:crypto'

/** Makes a function that returns `size` random bytes from a pool for `count` calls, because single draws take microseconds each. */
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
