/** Limit of a wait that has none of its own, ms: far above what a busy machine needs. */
const WAIT_MS = 120_000

/** Settles as `wait` does, or rejects with what was waited for once the limit has passed. */
export async function within<T>(what: string, wait: Promise<T>, ms = WAIT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${Math.round(ms / 1000)} s in vain for ${what}`)), ms)
  })
  try {
    return await Promise.race([wait, limit])
  } finally {
    clearTimeout(timer)
  }
}
