import type { Repeat } from '../../src/scoring/scoring.js'

/** A decoded sketch; `assembly/repeats.ts` describes the bytes. */
interface Decoded {
  readonly confirmed: boolean
  readonly keys: readonly number[]
  readonly holds: readonly number[]
  readonly intervals: readonly number[]
}

export function decode(sketch: Uint8Array): Decoded {
  const n = (sketch[0] ?? 0) & 0x7f
  const part = (i: number) => [...sketch.subarray(1 + i * n, 1 + (i + 1) * n)]
  return { confirmed: (sketch[0] ?? 0) > 0x7f, keys: part(0), holds: part(1), intervals: part(2) }
}

interface Pair {
  /** Press of the probe. */
  readonly i: number
  readonly hold: number
  readonly interval: number
}

/** Differences (probe minus known) between presses of the same key after the same key. */
const pairsOf = (probe: Decoded, known: Decoded): Pair[] =>
  probe.keys.flatMap((key, i) =>
    known.keys.flatMap((other, t) => {
      const isSame = i > 0 && t > 0 && key === other && probe.keys[i - 1] === known.keys[t - 1]
      const difference = (of: 'holds' | 'intervals') => (probe[of][i] ?? 0) - (known[of][t] ?? 0)
      return isSame ? [{ i, hold: difference('holds'), interval: difference('intervals') }] : []
    }),
  )

function tally(probe: Decoded, known: Decoded) {
  const pairs = pairsOf(probe, known)
  const repeats = (difference: number, shift: number) => Number(Math.abs(difference - shift) <= 3)
  const shifts = Array.from({ length: 12 }, (_, i) => [i + 1, -i - 1]).flat()
  const shared = (shift: number) =>
    pairs.reduce((sum, { hold, interval }) => sum + repeats(hold, shift) + repeats(interval, shift), 0)
  const shift = shifts.reduce((best, one) => (shared(one) > shared(best) ? one : best), 0)
  const best = new Map<number, number>()
  for (const { i, hold, interval } of pairs)
    best.set(i, Math.max(best.get(i) ?? 0, repeats(hold, shift) + repeats(interval, shift)))
  return { repeated: [...best.values()].reduce((sum, n) => sum + n, 0), compared: 2 * best.size }
}

/** A slow reference for `Kernel.repeats`. */
export function slowRepeats(sketch: Uint8Array, known: readonly Uint8Array[]): Repeat | null {
  const probe = decode(sketch)
  const counts = known.map((one) => ({ ...tally(probe, decode(one)), confirmed: decode(one).confirmed }))
  let found: Repeat | null = null
  for (const [index, own] of counts.entries()) {
    const others = counts.filter((one, i) => one.confirmed && i !== index)
    const sum = (of: 'repeated' | 'compared') => others.reduce((all, one) => all + one[of], 0)
    const p0 = Math.min(0.95, Math.max(0.3, (sum('repeated') + 60 * 0.3) / (sum('compared') + 60)))
    const p1 = p0 + 0.8 * (1 - p0)
    const { repeated, compared } = own
    const evidence = repeated * Math.log(p1 / p0) + (compared - repeated) * Math.log((1 - p1) / (1 - p0))
    if (found === null || evidence > found.evidence) found = { index, evidence, repeated, compared }
  }
  return found
}
