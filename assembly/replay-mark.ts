/**
 * The replay mark of the pattern in TIMES: keyed hashes from which no time can be read. `exact` covers all times after the
 * shift is removed. The bands are chosen by content and not by position, so that they survive dropped keys, changed pauses and
 * swapped parts: every 14 consecutive intervals (or holds) are a window. The logarithms of a window's times are standardized:
 * subtracting the mean removes a local scale, and dividing by the spread keeps regular rhythms from being alike by chance. The
 * results are mapped to cells so coarse that a jitter of a few ms leaves most windows unchanged. The windows with the least keyed
 * hashes are stored (bottom-k min-hash: Broder, 1997). Seven bands are of intervals, and one is of holds, which edited pauses do
 * not change. The key determines the cell borders and the stored windows, so an attacker without the
 * key cannot aim an edit at them.
 * MARK holds the host's keys and the result:
 *
 * | byte | holds                                                         |
 * |------|---------------------------------------------------------------|
 * | 0    | key of the bands, their borders and their selection, 16 bytes |
 * | 16   | key of `exact`, 16 bytes                                      |
 * | 32   | `exact`, 16 bytes                                             |
 * | 48   | the bands, 8 x i64; some are equal if there are fewer windows |
 *
 * Windows are selected by a multilinear hash modulo 2^64 (Dietzfelbinger, 1996: secret multipliers, highest bits). The stored
 * band is the SipHash-2-4 of this hash with 64 bits, and `exact` has 128 bits (Aumasson, Bernstein, 2012): a keyed pseudorandom
 * function for short inputs. Ten calls of HMAC-SHA-256 cost five times as much as the whole mark.
 */
import { MARK, MARK_BORDERS, MARK_CELLS, MARK_LEAST, MARK_LOGS, MARK_MULTIPLIERS, TIMES } from './layout'

/** Times in one window. */
const WINDOW: i32 = 14
const WINDOW_BYTES: usize = <usize>WINDOW << 3
const INTERVAL_BANDS: i32 = 7
const HOLD_BANDS: i32 = 1
/**
 * Width of a cell in units of the spread; the least spread; and the ms added to a time before its logarithm is taken, because
 * a few ms are a large part of a short time. On the open data a jitter of up to 5 ms on every event leaves a band in 96 of 100
 * patterns; patterns of different people share a band in 3 of a million pairs (`npm run bench -- accuracy --attacks`).
 */
const INTERVAL_CELL: f64 = 0.9
const INTERVAL_ADDED_MS: f64 = 70
const HOLD_CELL: f64 = 0.65
const SPREAD_MIN: f64 = 0.12
const HOLD_ADDED_MS: f64 = 25
/** Offset of the cell borders from the grid of any timer: the rounding of a float must not move a time over a border. */
const EXACT_BORDER: f64 = 0.2137

let v0: u64 = 0
let v1: u64 = 0
let v2: u64 = 0
let v3: u64 = 0

/** Computes the mark of a pattern of n presses. */
export function mark(n: i32): void {
  drawSecrets()
  // A single press has no interval but still gets a mark.
  store<f64>(MARK_LOGS, Math.log(INTERVAL_ADDED_MS))
  for (let i = 0; i < n - 1; i++) storeLog(i, timeOf(2 * i + 2) - timeOf(2 * i) + INTERVAL_ADDED_MS)
  storeBands(max(n - 1, 1), INTERVAL_CELL, 0, INTERVAL_BANDS)
  for (let i = 0; i < n; i++) storeLog(i, timeOf(2 * i + 1) - timeOf(2 * i) + HOLD_ADDED_MS)
  storeBands(n, HOLD_CELL, INTERVAL_BANDS, HOLD_BANDS)
  const origin = timeOf(0)
  for (let i = 0; i < 2 * n; i++) {
    store<i32>(MARK_CELLS + (<usize>i << 2), <i32>Math.floor(timeOf(i) - origin + EXACT_BORDER))
  }
  digest(MARK + 16, n, true)
  store<u64>(MARK + 32, finish(0xee))
  store<u64>(MARK + 40, finishAgain())
}

// @ts-ignore: decorator
@inline
function timeOf(event: i32): f64 {
  return load<f64>(TIMES + (<usize>event << 3))
}

// @ts-ignore: decorator
@inline
function storeLog(i: i32, ms: f64): void {
  store<f64>(MARK_LOGS + (<usize>i << 3), Math.log(ms))
}

/**
 * Derives cell borders, multipliers and the start of each kind's hash from the key. The generator is SplitMix64 (Steele, Lea,
 * Flood, 2014); its seed is the secret.
 */
function drawSecrets(): void {
  store<u64>(MARK_CELLS, 0)
  digest(MARK, 1, false)
  let state = finish(0xff)
  for (let i = 0; i < 2 * WINDOW + 2; i++) {
    state += 0x9e3779b97f4a7c15
    let drawn = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9
    drawn = (drawn ^ (drawn >> 27)) * 0x94d049bb133111eb
    drawn ^= drawn >> 31
    if (i < WINDOW) store<f64>(MARK_BORDERS + (<usize>i << 3), <f64>(drawn >> 11) / 9007199254740992)
    else store<u64>(MARK_MULTIPLIERS + (<usize>(i - WINDOW) << 3), drawn | 1)
  }
}

/**
 * Stores the bands from `first` on: the windows of `count` logarithms that have the `wanted` least hashes. If there are fewer
 * windows, each is hashed several times with other borders: a jitter that crosses a border rarely crosses one in every turn.
 */
function storeBands(count: i32, cell: f64, first: i32, wanted: i32): void {
  const start = load<u64>(MARK_MULTIPLIERS + (<usize>(WINDOW + <i32>(first > 0)) << 3))
  const windows = max(count - WINDOW + 1, 1)
  const turns = (wanted + windows - 1) / windows
  // A window of fewer times continues at the first.
  for (let i = count; i < WINDOW; i++) store<f64>(logAt(i), load<f64>(logAt(i - count)))
  let kept = 0
  for (let turn = 0; turn < turns; turn++) {
    const offset = <f64>turn / <f64>turns
    const salted = start * <u64>(2 * turn + 1)
    for (let from = 0; from < windows; from += 2) {
      const hashes = windowHashes(logAt(from), cell, offset, salted)
      kept = keepLeast(i64x2.extract_lane(hashes, 0), kept, wanted)
      if (from + 1 < windows) kept = keepLeast(i64x2.extract_lane(hashes, 1), kept, wanted)
    }
  }
  for (let i = 0; i < wanted; i++) {
    store<u64>(MARK_CELLS, load<u64>(MARK_LEAST + (<usize>min(i, kept - 1) << 3)))
    digest(MARK, 1, false)
    store<u64>(MARK + 48 + (<usize>(first + i) << 3), finish(0xff))
  }
}

// @ts-ignore: decorator
@inline
function logAt(i: i32): usize {
  return MARK_LOGS + (<usize>i << 3)
}

/** 1.5 x 2^52. A whole number below 2^51 plus this, as bits, less the bits of this, is the number as an integer. */
const WHOLE: f64 = 6755399441055744

/** The hashes of two windows, one lane each: of 14 times from `logs` on, and from the time after it on. */
function windowHashes(logs: usize, cell: f64, offset: f64, start: u64): v128 {
  let sum = f64x2.splat(0)
  for (let at: usize = 0; at < WINDOW_BYTES; at += 8) sum = f64x2.add(sum, v128.load(logs + at))
  const mean = f64x2.div(sum, f64x2.splat(<f64>WINDOW))
  let squares = f64x2.splat(0)
  for (let at: usize = 0; at < WINDOW_BYTES; at += 8) {
    const above = f64x2.sub(v128.load(logs + at), mean)
    squares = f64x2.add(squares, f64x2.mul(above, above))
  }
  const spread = f64x2.sqrt(f64x2.div(squares, f64x2.splat(<f64>WINDOW)))
  const width = f64x2.mul(f64x2.splat(cell), f64x2.max(spread, f64x2.splat(SPREAD_MIN)))
  let first = start, second = start
  for (let at: usize = 0; at < WINDOW_BYTES; at += 8) {
    const above = f64x2.div(f64x2.sub(v128.load(logs + at), mean), width)
    const index = f64x2.floor(f64x2.add(f64x2.add(above, v128.load64_splat(MARK_BORDERS + at)), f64x2.splat(offset)))
    const whole = i64x2.sub(f64x2.add(index, f64x2.splat(WHOLE)), f64x2.splat(WHOLE))
    const multiplier = load<u64>(MARK_MULTIPLIERS + at)
    first += i64x2.extract_lane(whole, 0) * multiplier
    second += i64x2.extract_lane(whole, 1) * multiplier
  }
  return i64x2.replace_lane(i64x2.splat(first), 1, second)
}

/** Inserts a hash in MARK_LEAST, which is ascending and without duplicates. Returns the number of hashes in it. */
function keepLeast(hash: u64, kept: i32, wanted: i32): i32 {
  let at = kept
  while (at > 0 && load<u64>(MARK_LEAST + (<usize>(at - 1) << 3)) > hash) at--
  if (at === wanted || (at > 0 && load<u64>(MARK_LEAST + (<usize>(at - 1) << 3)) === hash)) return kept
  const n = min(kept + 1, wanted)
  for (let i = n - 1; i > at; i--) store<u64>(MARK_LEAST + (<usize>i << 3), load<u64>(MARK_LEAST + (<usize>(i - 1) << 3)))
  store<u64>(MARK_LEAST + (<usize>at << 3), hash)
  return n
}

/** Hashes `words` of eight bytes from MARK_CELLS with the key at `key`; `wide` for 128 bits of output. */
function digest(key: usize, words: i32, wide: bool): void {
  const k0 = load<u64>(key)
  const k1 = load<u64>(key, 8)
  v0 = 0x736f6d6570736575 ^ k0
  v1 = 0x646f72616e646f6d ^ k1
  v2 = 0x6c7967656e657261 ^ k0
  v3 = 0x7465646279746573 ^ k1
  if (wide) v1 ^= 0xee
  for (let i = 0; i < words; i++) absorb(load<u64>(MARK_CELLS + (<usize>i << 3)))
  // The input is whole words, so the last word holds only the length.
  absorb((<u64>words << 3) << 56)
}

function absorb(word: u64): void {
  v3 ^= word
  round()
  round()
  v0 ^= word
}

function finish(last: u64): u64 {
  v2 ^= last
  for (let i = 0; i < 4; i++) round()
  return v0 ^ v1 ^ v2 ^ v3
}

/** The second half of 128 bits. */
function finishAgain(): u64 {
  v1 ^= 0xdd
  for (let i = 0; i < 4; i++) round()
  return v0 ^ v1 ^ v2 ^ v3
}

function round(): void {
  v0 += v1
  v1 = rotl(v1, 13) ^ v0
  v0 = rotl(v0, 32)
  v2 += v3
  v3 = rotl(v3, 16) ^ v2
  v0 += v3
  v3 = rotl(v3, 21) ^ v0
  v2 += v1
  v1 = rotl(v1, 17) ^ v2
  v2 = rotl(v2, 32)
}
