import { randomFillSync } from 'node:crypto'

/** Returns `size` random bytes, owned by the caller, from a pool of `count`: single draws take some microseconds each. */
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
