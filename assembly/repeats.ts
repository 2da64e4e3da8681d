/**
 * Finds a pattern that repeats one of the member's known patterns although it was edited: presses dropped, pauses changed,
 * parts swapped or stretched. A person does not repeat the holds and press-press intervals of an earlier pattern; a copy does.
 *
 * A sketch is a pattern in 1 + 3n bytes: u8 presses n (127 at most) and in its highest bit whether the pattern is confirmed,
 * n key indices, n holds, n intervals from the previous press (0 at the first). A time is a step on a logarithmic scale, 2.75 %
 * wide (`src/scoring/sketch.ts` writes it).
 *
 * Each press of the probe is compared with the presses of the same key after the same key in a known pattern. A time repeats
 * if it differs by at most `TOLERANCE` steps from the shift that most times share: a factor on all times is one shift. The
 * evidence of a copy is the log likelihood ratio of the repeats under two shares: p0 between sincere patterns, p1 between a
 * pattern and its copy (Wald, Sequential Tests of Statistical Hypotheses, 1945). p0 is the probe's share with the other
 * confirmed patterns (references and successful sign-ins), because regular typists repeat more. Unconfirmed patterns are left
 * out, because an attacker may have sent copies to raise p0.
 */
import {
  KNOWN_SKETCHES, KNOWN_SKETCHES_MAX, PAIR_IDS, PROBE_SKETCH, REPEATED, REPEAT_COUNTS, REPEAT_NEXT, REPEAT_PRESSES, REPEAT_SHARED, REPEAT_SHIFTS,
} from './layout'

/** 3 steps are 8 %. */
const TOLERANCE: i32 = 3
/** Bounds of p0. The prior of p0 is the lower bound, with a weight of `SHARE_WEIGHT` times. */
const SHARE_MIN: f64 = 0.3
const SHARE_MAX: f64 = 0.95
const SHARE_WEIGHT: f64 = 60
/** p1 - p0 as a share of 1 - p0. */
const COPY_GAIN: f64 = 0.8
/** Largest shift, in steps: a factor of 0.72 to 1.39. A pattern stretched further is not typed at the owner's pace. */
const SHIFT_MAX: i32 = 12
const CONFIRMED: i32 = 0x80

/**
 * Compares PROBE_SKETCH with the sketches in the first `bytes` bytes of KNOWN_SKETCHES. Afterwards REPEATED holds f64 evidence,
 * i32 index of the pattern with the most of it (-1: none), i32 repeated times and i32 compared times; REPEAT_PRESSES holds a
 * byte for each press of the probe: 0 if not compared with that pattern, else 1 + its repeated times (0 to 2).
 */
export function repeats(bytes: i32): void {
  linkProbe()
  const end = KNOWN_SKETCHES + <usize>bytes
  let patterns = 0, repeated = 0, compared = 0
  for (let at = KNOWN_SKETCHES; at < end && patterns < KNOWN_SKETCHES_MAX; at += sizeAt(at)) {
    count(at)
    if (isConfirmed(at)) {
      repeated += tallyRepeated
      compared += tallyCompared
    }
    const counts = REPEAT_COUNTS + (<usize>patterns << 4)
    store<i32>(counts, tallyRepeated)
    store<i32>(counts, tallyCompared, 4)
    store<i32>(counts, <i32>isConfirmed(at), 8)
    patterns++
  }
  let most: f64 = -Infinity
  let found = -1
  for (let i = 0; i < patterns; i++) {
    const counts = REPEAT_COUNTS + (<usize>i << 4)
    const hits = load<i32>(counts)
    const times = load<i32>(counts, 4)
    const own = load<i32>(counts, 8)
    const evidence = evidenceOf(hits, times, repeated - own * hits, compared - own * times)
    if (evidence <= most) continue
    most = evidence
    found = i
  }
  store<f64>(REPEATED, most)
  store<i32>(REPEATED, found, 8)
  let at = KNOWN_SKETCHES
  for (let i = 0; i < found; i++) at += sizeAt(at)
  if (found >= 0) count(at)
  store<i32>(REPEATED, found < 0 ? 0 : tallyRepeated, 12)
  store<i32>(REPEATED, found < 0 ? 0 : tallyCompared, 16)
  unlinkProbe()
}

/** Evidence of a copy; `repeated` of `compared` times repeat with the other confirmed patterns. */
function evidenceOf(hits: i32, times: i32, repeated: i32, compared: i32): f64 {
  const share = (<f64>repeated + SHARE_WEIGHT * SHARE_MIN) / (<f64>compared + SHARE_WEIGHT)
  const p0 = min(SHARE_MAX, max(SHARE_MIN, share))
  const p1 = p0 + COPY_GAIN * (1 - p0)
  return <f64>hits * Math.log(p1 / p0) + <f64>(times - hits) * Math.log((1 - p1) / (1 - p0))
}

// @ts-ignore: decorator
@inline
function pressesAt(sketch: usize): i32 {
  return <i32>load<u8>(sketch) & ~CONFIRMED
}

// @ts-ignore: decorator
@inline
function isConfirmed(sketch: usize): bool {
  return (<i32>load<u8>(sketch) & CONFIRMED) != 0
}

// @ts-ignore: decorator
@inline
function sizeAt(sketch: usize): usize {
  return 1 + 3 * <usize>pressesAt(sketch)
}

// @ts-ignore: decorator
@inline
function pairAt(sketch: usize, press: i32): usize {
  const key = sketch + <usize>press
  return PAIR_IDS + (<usize>((<i32>load<u8>(key) << 7) + <i32>load<u8>(key, 1)) << 1)
}

/** Links the probe's presses by key pair. */
function linkProbe(): void {
  for (let i = pressesAt(PROBE_SKETCH) - 1; i > 0; i--) {
    const head = pairAt(PROBE_SKETCH, i)
    store<u8>(REPEAT_NEXT + <usize>i, <u8>load<u16>(head))
    store<u16>(head, <u16>i)
  }
}

function unlinkProbe(): void {
  for (let i = pressesAt(PROBE_SKETCH) - 1; i > 0; i--) store<u16>(pairAt(PROBE_SKETCH, i), 0)
}

let tallyRepeated: i32 = 0
let tallyCompared: i32 = 0

/** Compares the probe with one sketch: fills REPEAT_PRESSES and the tallies. */
function count(sketch: usize): void {
  const shared = listShared(sketch)
  const n = <usize>pressesAt(PROBE_SKETCH)
  const m = <usize>pressesAt(sketch)
  clear(REPEAT_PRESSES)
  tallyRepeated = 0
  tallyCompared = 0
  if (shared == REPEAT_SHARED) return
  const shift = shiftOf(sketch, shared)
  for (let listed = REPEAT_SHARED; listed < shared; listed++) {
    const t = sketch + 1 + m + <usize>load<u8>(listed)
    const hold = <i32>load<u8>(t) + shift
    const interval = <i32>load<u8>(t + m) + shift
    for (let i = firstMatch(sketch, listed); i != 0; i = <usize>load<u8>(REPEAT_NEXT + i)) {
      const isHold = abs(hold - <i32>load<u8>(PROBE_SKETCH + 1 + n + i)) <= TOLERANCE
      const isInterval = abs(interval - <i32>load<u8>(PROBE_SKETCH + 1 + 2 * n + i)) <= TOLERANCE
      const mark = REPEAT_PRESSES + i
      store<u8>(mark, <u8>max(<i32>load<u8>(mark), 1 + <i32>isHold + <i32>isInterval))
    }
  }
  let compared = i32x4.splat(0), marks = compared
  for (let i: usize = 0; i < n; i += 16) {
    const sixteen = v128.load(REPEAT_PRESSES + i)
    marks = i16x8.add(marks, i16x8.extadd_pairwise_i8x16_u(sixteen))
    compared = i16x8.add(compared, i16x8.extadd_pairwise_i8x16_u(i8x16.min_u(sixteen, i8x16.splat(1))))
  }
  tallyCompared = 2 * sumOf(compared)
  tallyRepeated = sumOf(marks) - sumOf(compared)
}

/**
 * Lists in REPEAT_SHARED the presses of a sketch whose key pair the probe has, and returns the end of the list. Most pairs of
 * another text are not shared; a branch on each would be mispredicted.
 */
function listShared(sketch: usize): usize {
  let end = REPEAT_SHARED
  const m = pressesAt(sketch)
  for (let t = 1; t < m; t++) {
    store<u8>(end, <u8>t)
    end += <usize>(load<u16>(pairAt(sketch, t)) != 0)
  }
  return end
}

/** Zeroes 128 bytes; `memory.fill` is a call out of the module. */
// @ts-ignore: decorator
@inline
function clear(at: usize): void {
  for (const end = at + 128; at < end; at += 16) v128.store(at, i32x4.splat(0))
}

/** First press of the probe with the key pair of a listed press. */
// @ts-ignore: decorator
@inline
function firstMatch(sketch: usize, listed: usize): usize {
  return <usize>load<u16>(pairAt(sketch, <i32>load<u8>(listed)))
}

// @ts-ignore: decorator
@inline
function sumOf(value: v128): i32 {
  const four = i32x4.extadd_pairwise_i16x8_u(value)
  const two = i32x4.add(four, i32x4.shuffle(four, four, 2, 3, 0, 1))
  return i32x4.extract_lane(two, 0) + i32x4.extract_lane(two, 1)
}

/** A larger difference, in steps, is not counted. */
const REACH: i32 = SHIFT_MAX + TOLERANCE

/** The shift in steps from the sketch to the probe that most times share; the smallest if several are equal. */
function shiftOf(sketch: usize, shared: usize): i32 {
  const n = <usize>pressesAt(PROBE_SKETCH)
  const m = <usize>pressesAt(sketch)
  clear(REPEAT_SHIFTS)
  for (let listed = REPEAT_SHARED; listed < shared; listed++) {
    const t = sketch + 1 + m + <usize>load<u8>(listed)
    const hold = <i32>load<u8>(t)
    const interval = <i32>load<u8>(t + m)
    for (let i = firstMatch(sketch, listed); i != 0; i = <usize>load<u8>(REPEAT_NEXT + i)) {
      tally(<i32>load<u8>(PROBE_SKETCH + 1 + n + i) - hold)
      tally(<i32>load<u8>(PROBE_SKETCH + 1 + 2 * n + i) - interval)
    }
  }
  const a = within(0), b = within(8), c = within(16), d = within(24)
  const most = highest(i16x8.max_u(i16x8.max_u(a, b), i16x8.max_u(c, d)))
  const shifts = lanesWith(a, most) | (lanesWith(b, most) << 8) | (lanesWith(c, most) << 16) | (lanesWith(d, most) << 24)
  // Bit `SHIFT_MAX` is a shift of 0. The positive one of two equally near shifts is the result.
  const up = ctz(shifts >> SHIFT_MAX)
  const down = 1 + clz(shifts << (32 - SHIFT_MAX))
  return up <= down ? up : -down
}

/** REPEAT_SHIFTS counts each difference from -REACH to REACH, and all others in its last number. */
const OTHERS: i32 = 63

// @ts-ignore: decorator
@inline
function tally(difference: i32): void {
  const within = <u32>(difference + REACH) <= 2 * REACH
  const at = REPEAT_SHIFTS + (<usize>select(difference + REACH, OTHERS, within) << 1)
  store<u16>(at, load<u16>(at) + 1)
}

/** Numbers of times that repeat under eight shifts from `first - SHIFT_MAX` on; 0 beyond SHIFT_MAX. */
function within(first: i32): v128 {
  const at = REPEAT_SHIFTS + (<usize>first << 1)
  const four = i16x8.add(i16x8.add(v128.load(at), v128.load(at, 2)), i16x8.add(v128.load(at, 4), v128.load(at, 6)))
  const seven = i16x8.add(four, i16x8.add(i16x8.add(v128.load(at, 8), v128.load(at, 10)), v128.load(at, 12)))
  return first == 24 ? v128.and(seven, i16x8(-1, 0, 0, 0, 0, 0, 0, 0)) : seven
}

function highest(value: v128): i32 {
  const four = i16x8.max_u(value, i32x4.shuffle(value, value, 2, 3, 0, 1))
  const two = i16x8.max_u(four, i32x4.shuffle(four, four, 1, 0, 3, 2))
  return max(<i32>i16x8.extract_lane_u(two, 0), <i32>i16x8.extract_lane_u(two, 1))
}

/** A bit for each lane that has this value. */
// @ts-ignore: decorator
@inline
function lanesWith(value: v128, count: i32): i32 {
  return i16x8.bitmask(i16x8.eq(value, i16x8.splat(<i16>count)))
}
