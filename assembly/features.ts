/**
 * Converts a sample's bytes to features: hold, press-press, release-press and release-release times. The first two are in
 * log scale; the other two can be negative (roll-over) and are in signed log. Each is then expressed in standard deviations of
 * the population's distribution for that key or key pair. Source: log-normal key timing, Dhakal et al. (CHI 2018). The back-off
 * (pair, then second key, then all) is the usual one for digraphs that are too rare for their own statistics.
 *
 * Sample bytes (`src/scoring/sample.ts` writes them): u8 version, u8 mode, u16 presses n, n x u8 key indices padded
 * to a multiple of four, n x f32 press and n x f32 release times in ms since the first press.
 */
import { COMPARED_MAX, COUNTS, KEYS, KEYS_MAX, PAIRS, RAW, SAMPLES, SAMPLE_BYTES, SLOTS, Z, lanesAt, row } from './layout'
import { naturalLogs } from './natural-log'
import { holdContext, pairContextOf, populationInverseSds, populationMeans } from './model'

const SAMPLE_VERSION: u8 = 1
const ROW_BYTES: usize = <usize>COMPARED_MAX << 2

export function slotOf(slot: i32): usize {
  return SAMPLES + <usize>(slot * SAMPLE_BYTES)
}

export function pressesIn(slot: i32): i32 {
  return <i32>load<u16>(slotOf(slot), 2)
}

/** Length of the sample at an address. */
export function sampleBytesAt(sample: usize): usize {
  const n = <usize>load<u16>(sample, 2)
  return 4 + ((n + 3) & ~3) + (n << 3)
}

/** Address of the press times; the release times follow them. */
export function timesOf(slot: i32): usize {
  return slotOf(slot) + 4 + <usize>((pressesIn(slot) + 3) & ~3)
}

// @ts-ignore: decorator
@inline
function clamp(value: v128, low: v128, high: v128): v128 {
  return f32x4.pmax(f32x4.pmin(value, high), low)
}

/**
 * Logarithms of a hold and a press-press time, then signed logarithms of a release-press and a release-release time. The scale
 * of the latter changes from linear to logarithmic at 30 ms, about the spread of one person's roll-over.
 */
// @ts-ignore: decorator
@inline
function logTimes(ms: v128): v128 {
  const clamped = clamp(ms, f32x4(8, 5, -800, -800), f32x4(1000, 3000, 3000, 3000))
  const shifted = f32x4.add(f32x4.splat(1), f32x4.mul(f32x4.abs(clamped), f32x4.splat(<f32>(1.0 / 30.0))))
  const signs = v128.and(clamped, i32x4(0, 0, i32.MIN_VALUE, i32.MIN_VALUE))
  return v128.or(naturalLogs(i32x4.shuffle(clamped, shifted, 0, 1, 6, 7)), signs)
}

/** Reads the slot's sample into KEYS, PAIRS, RAW and Z. Returns the number of presses compared, at most 128. */
export function readSample(slot: i32): i32 {
  assert(slot >= 0 && slot < SLOTS)
  const at = slotOf(slot)
  const n = pressesIn(slot)
  assert(load<u8>(at) == SAMPLE_VERSION && n >= 1 && n <= KEYS_MAX)
  const compared = min(n, COMPARED_MAX)
  const presses = timesOf(slot)
  const releases = presses + (<usize>n << 2)
  store<i32>(COUNTS + ((<usize>slot) << 2), compared)
  const keys = KEYS + <usize>(slot * COMPARED_MAX)
  let key = <i32>load<u8>(at, 4) & 127
  store<u8>(keys, <u8>key)
  putFirst(slot, key, load<f32>(releases) - load<f32>(presses))
  for (let i = 1; i < compared; i++) {
    const before = key
    key = <i32>load<u8>(at + 4 + i) & 127
    store<u8>(keys + i, <u8>key)
    const context = pairContextOf(before, key)
    store<u16>(PAIRS + ((<usize>(slot * COMPARED_MAX + i - 1)) << 1), <u16>context)
    // Lane 0 is of the previous press, lane 1 of this one.
    const press = v128.load64_zero(presses + (<usize>(i - 1) << 2))
    const release = v128.load64_zero(releases + (<usize>(i - 1) << 2))
    const ms = f32x4.sub(i32x4.shuffle(press, release, 5, 1, 1, 5), i32x4.shuffle(press, release, 1, 0, 4, 4))
    put(slot, i, logTimes(ms), holdContext(key), context)
  }
  return compared
}

/** Stores the hold of the first press. */
function putFirst(slot: i32, key: i32, holdMs: f32): void {
  const raw = logTimes(f32x4.splat(holdMs))
  const lanes = normalised(raw, holdContext(key), 0)
  v128.store32_lane(row(RAW, slot, 0), raw, 0)
  v128.store32_lane(row(Z, slot, 0), lanes, 0)
  v128.store(lanesAt(slot, 0), v128.and(lanes, i32x4(-1, 0, 0, 0)))
}

/** Stores the four times of a press after the first. */
// @ts-ignore: decorator
@inline
function put(slot: i32, press: i32, raw: v128, held: i32, pair: i32): void {
  const lanes = normalised(raw, held, pair)
  v128.store(lanesAt(slot, press), lanes)
  putRows(row(RAW, slot, 0) + (<usize>press << 2), raw)
  putRows(row(Z, slot, 0) + (<usize>press << 2), lanes)
}

/** Stores lane 0 at `at` and the others in the following rows, one event earlier. */
// @ts-ignore: decorator
@inline
function putRows(at: usize, lanes: v128): void {
  v128.store32_lane(at, lanes, 0)
  v128.store32_lane(at + ROW_BYTES - 4, lanes, 1)
  v128.store32_lane(at + 2 * ROW_BYTES - 4, lanes, 2)
  v128.store32_lane(at + 3 * ROW_BYTES - 4, lanes, 3)
}

/** In population standard deviations. Clamps at four: beyond that an event is a pause or a slip. */
// @ts-ignore: decorator
@inline
function normalised(raw: v128, held: i32, pair: i32): v128 {
  const means = i32x4.shuffle(populationMeans(held), populationMeans(pair), 0, 5, 6, 7)
  const inverseSds = i32x4.shuffle(populationInverseSds(held), populationInverseSds(pair), 0, 5, 6, 7)
  return clamp(f32x4.mul(f32x4.sub(raw, means), inverseSds), f32x4.splat(-4), f32x4.splat(4))
}
