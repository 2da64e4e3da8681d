/**
 * Finds a copy whose keys were renamed or masked: runs of presses whose times are similar to those of a run of a known pattern, under
 * any keys. Presses with the same known key are skipped, because equal keys have similar times; `sources.ts` compares those.
 *
 * The score of a press is `HOLD_GAIN` plus `INTERVAL_GAIN`, plus a part of the distances of its hold and interval from the level of the
 * probe, less their differences from those of a press of the pattern. All are natural logarithms relative to the pattern's own level.
 * The best path through a pattern continues press by press, and may jump anywhere at the cost of `JUMP` (local alignment: Smith,
 * Waterman, 1981). The result is the excess of the best pattern over the others, because the habits that all patterns of a person
 * share, such as a slow Space, are in all of their scores.
 *
 * The times of the patterns are in sixteen cells, so that a table of sixteen bytes gives the score of a press of the probe
 * against sixteen presses at once. The cost is presses x presses / 16 steps of thirteen vector instructions a pattern.
 */
import { CELLS, POSITION_SCORES, PRESS_GAINS, PROBE_SKETCH } from './layout'
import { FULL_LENGTH, patterns, sketchAt, zero } from './departures'
import { UNKNOWN_KEY, holdsAt, isConfirmed, isRepeated, pressesAt, sketchKey } from './sketch'

/** Units of the score are quarters of a nat. */
const HOLD_GAIN: i32 = 2
const INTERVAL_GAIN: i32 = 3
/** A time gains this many eighths of its distance from the level: agreement of usual times is little evidence. */
const UNUSUAL: i32 = 3
const LEAST: i32 = -7
const JUMP: i8 = 24
/** Highest score that a byte holds: 31 nats. */
const SCORE_MAX: i32 = 127
/** Steps times 7/16 are sixteenths of a natural logarithm. A difference of a sixteenth costs a quarter of a nat. */
const STEP_FACTOR: i16 = 7
/** Cells are 32/11 sixteenths wide, and the lowest begins at `LOWEST`. */
const CELL_FACTOR: i16 = 11
const LOWEST: i16 = -24
/** A key that no sketch has, so that unknown keys do not count as the same. */
const NO_KEY: i32 = 0xff
/** Shorter holds, below 20 ms, come from events that a busy browser delivered late, one right after the other. */
const HOLD_LEAST: i32 = 40
/** Bounds in steps between which a time counts for a pattern's level: 30 to 260 ms for holds, 42 to 460 ms for intervals. */
const HOLD_LOW: i32 = 50
const HOLD_HIGH: i32 = 120
const INTERVAL_LOW: i32 = 60
const INTERVAL_HIGH: i32 = 140
/** Share of the other confirmed patterns that score below the level of comparison. */
const LEVEL: f32 = 0.85
const ROW: usize = 144

/** The known pattern with the highest score; 0 without known patterns. */
export let bestPosition: i32 = 0

/** Compares the probe with the patterns of the last `readPatterns`. Returns the excess of the best one, nats. */
export function comparePositions(): f64 {
  fillGains()
  bestPosition = 0
  for (let pattern = 1; pattern <= patterns; pattern++) {
    const sketch = sketchAt(pattern)
    fillCells(sketch)
    store<i32>(scoreAt(pattern), pathScore(sketch))
    if (bestPosition == 0 || scoreOf(pattern) > scoreOf(bestPosition)) bestPosition = pattern
  }
  if (bestPosition == 0) return 0
  const n = pressesAt(PROBE_SKETCH)
  return <f64>(scoreOf(bestPosition) - levelOfOthers()) / 4 * <f64>min(n, FULL_LENGTH) / <f64>max(n, 1)
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

/** The score with a share of `LEVEL` of the other confirmed patterns below it; 0 without others. */
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

/** Fills the gains of each press of the probe from holds and from intervals in each cell; repeated keys and late events gain nothing. */
function fillGains(): void {
  const n = pressesAt(PROBE_SKETCH)
  const holds = holdsAt(PROBE_SKETCH), intervals = holds + <usize>n
  const hold = levelOf(holds, n, HOLD_LOW, HOLD_HIGH), interval = levelOf(intervals, n, INTERVAL_LOW, INTERVAL_HIGH)
  for (let i = 1; i < n; i++) {
    const at = PRESS_GAINS + (<usize>i << 5)
    if (isRepeated(PROBE_SKETCH, i) || <i32>load<u8>(holds + <usize>i) < HOLD_LEAST) {
      zero(at, 32)
      continue
    }
    fillTable(at, HOLD_GAIN, (<i32>load<u8>(holds + <usize>i) * <i32>STEP_FACTOR >> 4) - hold)
    fillTable(at + 16, INTERVAL_GAIN, (<i32>load<u8>(intervals + <usize>i) * <i32>STEP_FACTOR >> 4) - interval)
  }
}

/** Middles of the cells, in sixteenths of a natural logarithm above the level. */
const MIDDLES: v128 = i8x16(-23, -20, -17, -14, -11, -8, -5, -2, 1, 3, 6, 9, 12, 15, 18, 21)

/** Gains of a time, in sixteenths above its level, from the middles of the cells. */
// @ts-ignore: decorator
@inline
function fillTable(table: usize, gain: i32, time: i32): void {
  const within = max(<i32>LOWEST, min(<i32>LOWEST + 46, time))
  const most = i8x16.splat(<i8>(gain + (abs(within) * UNUSUAL >> 3)))
  const apart = i8x16.abs(i8x16.sub(MIDDLES, i8x16.splat(<i8>within)))
  v128.store(table, i8x16.max_s(i8x16.splat(<i8>LEAST), i8x16.sub(most, apart)))
}

/** Fills the cells of a sketch's holds and intervals. */
function fillCells(sketch: usize): void {
  const n = pressesAt(sketch)
  const holds = holdsAt(sketch), intervals = holds + <usize>n
  fillTimes(CELLS, holds, n, levelOf(holds, n, HOLD_LOW, HOLD_HIGH))
  fillTimes(CELLS + ROW, intervals, n, levelOf(intervals, n, INTERVAL_LOW, INTERVAL_HIGH))
}

/** Mean of the steps after the first, each within bounds. */
function levelOf(steps: usize, n: i32, low: i32, high: i32): i32 {
  let sum = 0
  for (let i = 1; i < n; i++) sum += max(low, min(high, <i32>load<u8>(steps + <usize>i)))
  return n > 1 ? sum * <i32>STEP_FACTOR / ((n - 1) << 4) : 0
}

/** Cells of n times; a time after them is in no cell. */
function fillTimes(to: usize, steps: usize, n: i32, level: i32): void {
  for (let i = (<usize>n + 15) & ~15; i < ROW; i += 16) v128.store(to + i, i32x4.splat(-1))
  const offset = i16x8.splat(<i16>(-<i32>LOWEST - level)), top = i8x16.splat(15)
  for (let i: usize = 0; i < <usize>n; i += 16) {
    const sixteen = v128.load(steps + i)
    const low = cellsOf(i16x8.extend_low_i8x16_u(sixteen), offset), high = cellsOf(i16x8.extend_high_i8x16_u(sixteen), offset)
    const behind = i8x16.ge_u(i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), i8x16.splat(<i8>min(16, n - <i32>i)))
    v128.store(to + i, v128.or(behind, i8x16.min_u(top, i8x16.narrow_i16x8_u(low, high))))
  }
}

// @ts-ignore: decorator
@inline
function cellsOf(steps: v128, offset: v128): v128 {
  const sixteenths = i16x8.add(i16x8.shr_u(i16x8.mul(steps, i16x8.splat(STEP_FACTOR)), 4), offset)
  return i16x8.shr_s(i16x8.mul(sixteenths, i16x8.splat(CELL_FACTOR)), 5)
}

/** Score of the best path through a pattern whose cells are filled, 64 presses at a time. */
function pathScore(sketch: usize): i32 {
  const m = pressesAt(sketch)
  const first = blockScore(sketch, 0)
  return m > 64 ? max(first, blockScore(sketch, 64)) : first
}

/**
 * Score of the best path through 64 presses from `from` on. The scores of one row stay in four vectors. A path enters at
 * the best score of two presses before, so that a row does not wait for the reduction of the row before. Lanes after the end of
 * the pattern gain nothing.
 */
function blockScore(sketch: usize, from: usize): i32 {
  const n = pressesAt(PROBE_SKETCH)
  const isLong = pressesAt(sketch) > <i32>from + 48
  const keys = sketch + 1 + from, holdCells = CELLS + from, intervalCells = CELLS + ROW + from
  const keys0 = v128.load(keys), keys1 = v128.load(keys, 16), keys2 = v128.load(keys, 32), keys3 = v128.load(keys, 48)
  const holds0 = v128.load(holdCells), holds1 = v128.load(holdCells, 16), holds2 = v128.load(holdCells, 32), holds3 = v128.load(holdCells, 48)
  const intervals0 = v128.load(intervalCells), intervals1 = v128.load(intervalCells, 16), intervals2 = v128.load(intervalCells, 32), intervals3 = v128.load(intervalCells, 48)
  let path0 = i32x4.splat(0), path1 = path0, path2 = path0, path3 = path0
  let best = i32x4.splat(0), entering = best, enteringNext = best
  for (let i = 1; i < n; i++) {
    const pressed = sketchKey(PROBE_SKETCH, i)
    const key = i8x16.splat(<i8>(pressed == UNKNOWN_KEY ? NO_KEY : pressed))
    const holds = v128.load(PRESS_GAINS + (<usize>i << 5)), intervals = v128.load(PRESS_GAINS + (<usize>i << 5), 16)
    if (isLong) path3 = advanced(path2, path3, entering, gainOf(holds, intervals, holds3, intervals3, keys3, key))
    path2 = advanced(path1, path2, entering, gainOf(holds, intervals, holds2, intervals2, keys2, key))
    path1 = advanced(path0, path1, entering, gainOf(holds, intervals, holds1, intervals1, keys1, key))
    path0 = advanced(i32x4.splat(0), path0, entering, gainOf(holds, intervals, holds0, intervals0, keys0, key))
    best = i8x16.max_s(best, i8x16.max_s(i8x16.max_s(path0, path1), i8x16.max_s(path2, path3)))
    entering = enteringNext
    enteringNext = i8x16.max_s(i32x4.splat(0), i8x16.sub(highest(best), i8x16.splat(JUMP)))
  }
  return <i32>i8x16.extract_lane_s(highest(best), 0)
}

/** Gain of a press of the probe against sixteen of a pattern; 0 under the same key. */
// @ts-ignore: decorator
@inline
function gainOf(holds: v128, intervals: v128, holdCells: v128, intervalCells: v128, keys: v128, key: v128): v128 {
  return v128.andnot(i8x16.add(i8x16.swizzle(holds, holdCells), i8x16.swizzle(intervals, intervalCells)), i8x16.eq(keys, key))
}

/** Scores of the paths to sixteen presses: each path continues from the press before, or enters. */
// @ts-ignore: decorator
@inline
function advanced(before: v128, path: v128, entering: v128, gain: v128): v128 {
  const shifted = i8x16.shuffle(before, path, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30)
  return i8x16.add_sat_s(i8x16.max_s(shifted, entering), gain)
}

/** The highest of sixteen scores in all lanes. */
// @ts-ignore: decorator
@inline
function highest(scores: v128): v128 {
  const eight = i8x16.max_s(scores, i32x4.shuffle(scores, scores, 2, 3, 0, 1))
  const four = i8x16.max_s(eight, i32x4.shuffle(eight, eight, 1, 0, 3, 2))
  const two = i8x16.max_s(four, i16x8.shuffle(four, four, 1, 0, 3, 2, 5, 4, 7, 6))
  return i8x16.max_s(two, i8x16.shuffle(two, two, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14))
}
