/**
 * Converts a sample's bytes to features: hold, press-press, release-press and release-release times. The first two are in
 * log scale; the other two can be negative (roll-over) and are in signed log. Each is then expressed in standard deviations of
 * the population's distribution for that key or key pair. Source: log-normal key timing, Dhakal et al. (CHI 2018). The back-off
 * (pair, then second key, then all) is the usual one for digraphs that are too rare for their own statistics.
 *
 * Sample bytes (`src/scoring/sample.ts` writes them): u8 version, u8 mode, u16 presses n, n x u8 key indices padded
 * to a multiple of four, n x f32 press and n x f32 release times in ms since the first press.
 */
import {
  COMPARED_MAX, COUNTS, KEYS, KEYS_MAX, PAIRS, RAW, SAMPLES, SAMPLE_BYTES, SLOTS, Z, lanesAt, row, setF32,
} from './layout'
import { holdContext, pairContextOf, populationInverseSd, populationMean } from './model'

const SAMPLE_VERSION: u8 = 1

export function slotOf(slot: i32): usize {
  return SAMPLES + <usize>(slot * SAMPLE_BYTES)
}

export function pressesIn(slot: i32): i32 {
  return <i32>load<u16>(slotOf(slot), 2)
}

/** Address of the press times; the release times follow them. */
export function timesOf(slot: i32): usize {
  return slotOf(slot) + 4 + <usize>((pressesIn(slot) + 3) & ~3)
}

// @ts-ignore: decorator
@inline
function clamp(value: f32, low: f32, high: f32): f32 {
  return max(low, min(high, value))
}

/** The scale changes from linear to logarithmic at 30 ms, about the spread of one person's roll-over. */
// @ts-ignore: decorator
@inline
function signedLog(ms: f32): f32 {
  return copysign<f32>(Mathf.log(1 + abs(ms) * <f32>(1.0 / 30.0)), ms)
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
  for (let i = 0; i < compared; i++) {
    const key = <i32>load<u8>(at + 4 + i) & 127
    store<u8>(KEYS + <usize>(slot * COMPARED_MAX + i), <u8>key)
    const press = load<f32>(presses + (<usize>i << 2))
    const release = load<f32>(releases + (<usize>i << 2))
    put(slot, 0, i, holdContext(key), Mathf.log(clamp(release - press, 8, 1000)))
    if (i == 0) {
      for (let kind = 1; kind < 4; kind++) setF32(lanesAt(slot, 0), kind, 0)
      continue
    }
    const before = <i32>load<u8>(at + 3 + i) & 127
    const context = pairContextOf(before, key)
    store<u16>(PAIRS + ((<usize>(slot * COMPARED_MAX + i - 1)) << 1), <u16>context)
    const pressBefore = load<f32>(presses + (<usize>(i - 1) << 2))
    const releaseBefore = load<f32>(releases + (<usize>(i - 1) << 2))
    put(slot, 1, i - 1, context, Mathf.log(clamp(press - pressBefore, 5, 3000)))
    put(slot, 2, i - 1, context, signedLog(clamp(press - releaseBefore, -800, 3000)))
    put(slot, 3, i - 1, context, signedLog(clamp(release - releaseBefore, -800, 3000)))
  }
  return compared
}

/** Stores a time. Clamps at four standard deviations: beyond that an event is a pause or a slip. */
function put(slot: i32, kind: i32, event: i32, context: i32, value: f32): void {
  setF32(row(RAW, slot, kind), event, value)
  const z = (value - populationMean(kind, context)) * populationInverseSd(kind, context)
  const clamped = clamp(z, -4, 4)
  setF32(row(Z, slot, kind), event, clamped)
  setF32(lanesAt(slot, kind == 0 ? event : event + 1), kind, clamped)
}
