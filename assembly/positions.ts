/**
 * Finds a copy whose keys were renamed: runs of presses whose times go with those of a run of a known pattern, whatever the
 * keys. Presses with the same key are skipped, because equal keys have similar times; `sources.ts` compares those.
 *
 * The score of a press is `GAIN` less the differences of its hold and interval from those of a press of the pattern, in
 * sixteenths of a natural logarithm and less the patterns' own levels. The best path through a pattern goes on press by press
 * and may jump anywhere for `JUMP` (local alignment: Smith, Waterman, 1981). The result is by how much the best pattern
 * exceeds the others: what all patterns of a person share, such as a slow Space, is in all of their scores.
 *
 * The cost is presses x presses / 16 vector steps a pattern, 0.4 us for 50 presses.
 */
import { PATH_SCORES, POSITION_SCORES, PROBE_SKETCH, ROWS_OF_STEPS } from './layout'
import { patterns, sketchAt } from './departures'
import { holdsAt, isConfirmed, pressesAt } from './sketch'

/** Units of the score are quarters of a nat. */
const GAIN: i8 = 7
const LEAST: i8 = -12
const JUMP: i32 = 24
/** Highest score, within the bytes of a vector: 25 nats. */
const SCORE_MAX: i32 = 100
/** Steps times 7/16 are sixteenths of a natural logarithm. */
const STEP_FACTOR: i16 = 7
/** Bounds in steps between which a time counts for a pattern's level: 30 to 260 ms for holds, 42 to 460 ms for intervals. */
const HOLD_LOW: i32 = 50
const HOLD_HIGH: i32 = 120
const INTERVAL_LOW: i32 = 60
const INTERVAL_HIGH: i32 = 140
/** Part of the other confirmed patterns whose score is below the level of comparison. */
const LEVEL: f32 = 0.85
const ROW: usize = 144
const PROBE_ROWS: usize = ROWS_OF_STEPS
const KNOWN_ROWS: usize = ROWS_OF_STEPS + 3 * ROW

/** The known pattern with the highest score; 0 if none is known. */
export let bestPosition: i32 = 0

/** Compares the probe with the patterns of the last `readPatterns`. Returns the excess of the best one, nats. */
export function comparePositions(): f64 {
  fillRows(PROBE_ROWS, PROBE_SKETCH)
  bestPosition = 0
  for (let pattern = 1; pattern <= patterns; pattern++) {
    fillRows(KNOWN_ROWS, sketchAt(pattern))
    store<i32>(scoreAt(pattern), pathScore(pressesAt(sketchAt(pattern))))
    if (bestPosition == 0 || scoreOf(pattern) > scoreOf(bestPosition)) bestPosition = pattern
  }
  return bestPosition == 0 ? 0 : <f64>(scoreOf(bestPosition) - levelOfOthers()) / 4
}

// @ts-ignore: decorator
@inline
function scoreAt(pattern: i32): usize {
  return POSITION_SCORES + (<usize>pattern << 2)
}

// @ts-ignore: decorator
@inline
function scoreOf(pattern: i32): i32 {
  return load<i32>(scoreAt(pattern))
}

/** The score below which `LEVEL` of the other confirmed patterns lie; 0 without others. */
function levelOfOthers(): i32 {
  let others = 0
  for (let pattern = 1; pattern <= patterns; pattern++) if (pattern != bestPosition && isConfirmed(sketchAt(pattern))) others++
  let above = others - 1 - <i32>(LEVEL * <f32>(others - 1))
  for (let score = SCORE_MAX; score > 0; score--) {
    for (let pattern = 1; pattern <= patterns; pattern++)
      if (scoreOf(pattern) == score && pattern != bestPosition && isConfirmed(sketchAt(pattern)) && above-- == 0) return score
  }
  return 0
}

/** Fills the keys, holds and intervals of a sketch, less its levels; what lies behind them differs from everything. */
function fillRows(rows: usize, sketch: usize): void {
  const n = pressesAt(sketch)
  const holds = holdsAt(sketch)
  fillTimes(rows + ROW, holds, n, levelOf(holds, n, HOLD_LOW, HOLD_HIGH))
  fillTimes(rows + 2 * ROW, holds + <usize>n, n, levelOf(holds + <usize>n, n, INTERVAL_LOW, INTERVAL_HIGH))
  for (let i: usize = 0; i < <usize>n; i += 16) v128.store(rows + i, v128.load(sketch + 1 + i))
}

/** Mean of the steps after the first, each within bounds. */
function levelOf(steps: usize, n: i32, low: i32, high: i32): i32 {
  let sum = 0
  for (let i = 1; i < n; i++) sum += max(low, min(high, <i32>load<u8>(steps + <usize>i)))
  return n > 1 ? sum * <i32>STEP_FACTOR / ((n - 1) << 4) : 0
}

function fillTimes(to: usize, steps: usize, n: i32, level: i32): void {
  const offset = i16x8.splat(<i16>(128 - level)), factor = i16x8.splat(STEP_FACTOR)
  for (let i: usize = 0; i < <usize>n; i += 16) {
    const sixteen = v128.load(steps + i)
    const low = i16x8.shr_u(i16x8.mul(i16x8.extend_low_i8x16_u(sixteen), factor), 4)
    const high = i16x8.shr_u(i16x8.mul(i16x8.extend_high_i8x16_u(sixteen), factor), 4)
    v128.store(to + i, i8x16.narrow_i16x8_u(i16x8.add(low, offset), i16x8.add(high, offset)))
  }
}

/** Score of the best path through a pattern of m presses in KNOWN_ROWS. */
function pathScore(m: i32): i32 {
  const n = pressesAt(PROBE_SKETCH)
  let from = PATH_SCORES + 16, to = PATH_SCORES + 176
  const end = <usize>m
  for (let at = PATH_SCORES; at < PATH_SCORES + 320; at += 16) v128.store(at, i32x4.splat(0))
  let best = 0
  for (let i = 1; i < n; i++) {
    const key = v128.load8_splat(PROBE_ROWS + <usize>i)
    const hold = v128.load8_splat(PROBE_ROWS + ROW + <usize>i), interval = v128.load8_splat(PROBE_ROWS + 2 * ROW + <usize>i)
    const entering = i8x16.splat(<i8>max(0, best - JUMP))
    let most = i8x16.splat(<i8>best)
    store<u8>(from - 1, 0)
    for (let j: usize = 0; j < end; j += 16) {
      const apart = i8x16.add_sat_u(differences(v128.load(KNOWN_ROWS + ROW + j), hold), differences(v128.load(KNOWN_ROWS + 2 * ROW + j), interval))
      const gain = i8x16.max_s(i8x16.splat(LEAST), i8x16.sub(i8x16.splat(GAIN), i8x16.min_u(apart, i8x16.splat(100))))
      const counted = v128.andnot(gain, i8x16.eq(v128.load(KNOWN_ROWS + j), key))
      const path = i8x16.min_s(i8x16.splat(<i8>SCORE_MAX), i8x16.add_sat_s(i8x16.max_s(v128.load(from + j - 1), entering), counted))
      v128.store(to + j, path)
      most = i8x16.max_s(most, inPattern(path, end - j))
    }
    best = highest(most)
    const swapped = from
    from = to
    to = swapped
  }
  return best
}

/** The first `count` of sixteen scores, and 0 in place of the others. */
// @ts-ignore: decorator
@inline
function inPattern(scores: v128, count: usize): v128 {
  if (count >= 16) return scores
  const inside = i8x16.lt_u(i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), i8x16.splat(<i8>count))
  return v128.and(scores, inside)
}

// @ts-ignore: decorator
@inline
function differences(a: v128, b: v128): v128 {
  return v128.or(i8x16.sub_sat_u(a, b), i8x16.sub_sat_u(b, a))
}

// @ts-ignore: decorator
@inline
function highest(scores: v128): i32 {
  const eight = i8x16.max_s(scores, i32x4.shuffle(scores, scores, 2, 3, 0, 1))
  const four = i8x16.max_s(eight, i32x4.shuffle(eight, eight, 1, 0, 3, 2))
  const two = i8x16.max_s(four, i16x8.shuffle(four, four, 1, 0, 3, 2, 5, 4, 7, 6))
  return max(<i32>i8x16.extract_lane_s(two, 0), <i32>i8x16.extract_lane_s(two, 1))
}
