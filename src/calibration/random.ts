/**
 * A seeded generator of numbers in [0, 1): the same seed gives the same model on every machine.
 * Source: mulberry32, Tommy Ettinger (public domain).
 */
export type Random = () => number

/** How a forger draws times. They are rounded to `gridMs`. */
export interface Drawing {
  readonly gridMs: number
  readonly random: Random
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** A shuffled copy (Fisher and Yates). */
export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const out = [...items]
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const kept = out[i] as T // i and j are below the length
    out[i] = out[j] as T
    out[j] = kept
  }
  return out
}

/** A standard normal number (Box and Muller). */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
