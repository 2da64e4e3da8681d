/**
 * Detects a probe that repeats a reference: the mean absolute difference of all press and release times after the best
 * shift and scale (least squares) are removed. A jitter of 5 ms on each event leaves 2.5 ms; two sincere patterns differ by
 * tens of ms even with equal text. Shifts by up to two presses are also tried, so that a copy with a cut end is found, too.
 */
import { f32At } from './layout'
import { pressesIn, timesOf } from './features'

const SLIDE_MAX: i32 = 2
const OVERLAP_MIN: i32 = 13
/** A copy that is stretched further has no human pace. */
const SCALE_LOW: f64 = 0.2
const SCALE_HIGH: f64 = 5

/** The smallest difference from slots 1 to `references`, ms; infinity if none can be aligned with the probe. */
export function nearestReplay(references: i32): f64 {
  let least = Infinity
  for (let slot = 1; slot <= references; slot++) {
    for (let slide = -SLIDE_MAX; slide <= SLIDE_MAX; slide++) least = min(least, difference(slot, slide))
  }
  return least
}

function difference(slot: i32, slide: i32): f64 {
  const from = max(0, -slide)
  const to = min(pressesIn(0), pressesIn(slot) - slide)
  // Two patterns of the same capture differ in length only by the presses that were cut.
  if (abs(pressesIn(0) - pressesIn(slot)) > SLIDE_MAX || to - from < OVERLAP_MIN) return Infinity
  const a = timesOf(0)
  const b = timesOf(slot)
  const na = pressesIn(0)
  const nb = pressesIn(slot)
  let am: f64 = 0, bm: f64 = 0
  for (let i = from; i < to; i++) {
    am += <f64>f32At(a, i) + <f64>f32At(a, na + i)
    bm += <f64>f32At(b, i + slide) + <f64>f32At(b, nb + i + slide)
  }
  const count = <f64>(2 * (to - from))
  am /= count
  bm /= count
  let ab: f64 = 0, bb: f64 = 0
  for (let i = from; i < to; i++) {
    const p = <f64>f32At(b, i + slide) - bm
    const r = <f64>f32At(b, nb + i + slide) - bm
    ab += p * (<f64>f32At(a, i) - am) + r * (<f64>f32At(a, na + i) - am)
    bb += p * p + r * r
  }
  const scale = bb > 0 ? ab / bb : 0
  if (scale < SCALE_LOW || scale > SCALE_HIGH) return Infinity
  let sum: f64 = 0
  for (let i = from; i < to; i++) {
    sum += abs(<f64>f32At(a, i) - am - scale * (<f64>f32At(b, i + slide) - bm))
    sum += abs(<f64>f32At(a, na + i) - am - scale * (<f64>f32At(b, nb + i + slide) - bm))
  }
  return sum / count
}
