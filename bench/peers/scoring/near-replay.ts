import type { KeyPress } from '../../../src/domain/key-press.js'

/** Same values as the kernel (assembly/near-replay.ts). */
const SLIDE_MAX = 2
const OVERLAP_MIN = 13
const SCALE_LOW = 0.2
const SCALE_HIGH = 5

/** Alternating press and release times, ms since the first press. */
export function timesOf(presses: readonly KeyPress[]): Float64Array {
  const origin = presses[0]?.pressMs ?? 0
  const times = new Float64Array(2 * presses.length)
  presses.forEach(({ pressMs, releaseMs }, i) => {
    times[2 * i] = Math.fround(pressMs - origin)
    times[2 * i + 1] = Math.fround(releaseMs - origin)
  })
  return times
}

/** Mean difference, ms, to the nearest reference, shift and scale removed; infinite if none can be aligned. */
export function nearestReplay(times: Float64Array, references: readonly Float64Array[]): number {
  let least = Number.POSITIVE_INFINITY
  for (const reference of references)
    for (let slide = -SLIDE_MAX; slide <= SLIDE_MAX; slide++)
      least = Math.min(least, difference(times, reference, slide))
  return least
}

function difference(a: Float64Array, b: Float64Array, slide: number): number {
  const [na, nb] = [a.length / 2, b.length / 2]
  const from = Math.max(0, -slide)
  const to = Math.min(na, nb - slide)
  if (Math.abs(na - nb) > SLIDE_MAX || to - from < OVERLAP_MIN) return Number.POSITIVE_INFINITY
  const count = 2 * (to - from)
  const offset = 2 * slide
  let [meanA, meanB] = [0, 0]
  for (let i = 2 * from; i < 2 * to; i++) {
    meanA += a[i] ?? 0
    meanB += b[i + offset] ?? 0
  }
  meanA /= count
  meanB /= count
  let [ab, bb] = [0, 0]
  for (let i = 2 * from; i < 2 * to; i++) {
    const away = (b[i + offset] ?? 0) - meanB
    ab += away * ((a[i] ?? 0) - meanA)
    bb += away * away
  }
  const scale = bb > 0 ? ab / bb : 0
  if (scale < SCALE_LOW || scale > SCALE_HIGH) return Number.POSITIVE_INFINITY
  let sum = 0
  for (let i = 2 * from; i < 2 * to; i++) sum += Math.abs((a[i] ?? 0) - meanA - scale * ((b[i + offset] ?? 0) - meanB))
  return sum / count
}
