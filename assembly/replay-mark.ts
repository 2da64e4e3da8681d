/**
 * The replay mark of the pattern in TIMES: keyed hashes from which no time can be read. `exact` covers all times after the
 * shift is removed. Each of eight bands covers fourteen press-press intervals in units of their mean (which removes a scale),
 * in cells so coarse that a jitter of a few ms leaves most bands unchanged. The key and the number of presses alone decide
 * which interval goes to which band and where its cell borders are, so nobody can aim a jitter at the borders without
 * the key.
 * MARK holds the host's keys and the result:
 *
 * | byte | holds                                                         |
 * |------|---------------------------------------------------------------|
 * | 0    | key of the bands and of their assignment, 16 bytes            |
 * | 16   | key of `exact`, 16 bytes                                      |
 * | 32   | `exact`, 16 bytes                                             |
 * | 48   | the bands, 8 x i64                                            |
 *
 * The hash is SipHash-2-4 with 64 bits for a band and 128 for `exact` (Aumasson, Bernstein, 2012): a keyed pseudorandom
 * function for short inputs. Ten calls of HMAC-SHA-256 cost five times as much as the whole mark.
 */
import { MARK, MARK_BORDERS, MARK_CELLS, MARK_DEALT, MARK_FLIGHTS, TIMES } from './layout'

const BANDS: i32 = 8
/**
 * Press-press intervals in one band, and the width of a cell on the scale of `flights`: on the open data the finest values
 * that keep two bands of a pattern in 95 of 100 cases when every event moves by up to 5 ms. Holds are left out: at that
 * jitter a hold gives half the bits of a flight.
 */
const FLIGHTS_PER_BAND: i32 = 14
const FLIGHT_CELL: f64 = 0.31
const BORDERS: i32 = 256
/** Offset of the cell borders from every timer's grid: a float's rounding must not move a time over a border. */
const EXACT_BORDER: f64 = 0.2137

let v0: u64 = 0
let v1: u64 = 0
let v2: u64 = 0
let v3: u64 = 0

/** Computes the mark of a pattern of n presses. */
export function mark(n: i32): void {
  deal(n)
  flights(n)
  for (let band = 0; band < BANDS; band++) {
    store<i32>(MARK_CELLS, band)
    store<i32>(MARK_CELLS, n, 4)
    for (let i = 0; i < FLIGHTS_PER_BAND; i++) {
      const flight = load<i32>(MARK_DEALT + (<usize>((band * FLIGHTS_PER_BAND + i) % max(n - 1, 1)) << 2))
      const border = load<f64>(MARK_BORDERS + (<usize>((band * 16 + i) & (BORDERS - 1)) << 3))
      const cell = MARK_CELLS + 8 + (<usize>i << 3)
      store<i32>(cell, flight)
      store<i32>(cell, <i32>Math.floor(load<f64>(MARK_FLIGHTS + (<usize>flight << 3)) / FLIGHT_CELL + border), 4)
    }
    digest(MARK, 1 + FLIGHTS_PER_BAND, false)
    store<u64>(MARK + 48 + (<usize>band << 3), finish(0xff))
  }
  const origin = load<f64>(TIMES)
  for (let i = 0; i < 2 * n; i++) {
    store<i32>(MARK_CELLS + (<usize>i << 2), <i32>Math.floor(load<f64>(TIMES + (<usize>i << 3)) - origin + EXACT_BORDER))
  }
  digest(MARK + 16, n, true)
  store<u64>(MARK + 32, finish(0xee))
  store<u64>(MARK + 40, finishAgain())
}

/** Press-press intervals in units of their mean, on a scale logarithmic above the mean and linear far below it. */
function flights(n: i32): void {
  const spanMs = load<f64>(TIMES + (<usize>(n - 1) << 4)) - load<f64>(TIMES)
  const meanMs = max(spanMs / <f64>max(n - 1, 1), 1)
  // A single press has no interval but still gets a mark.
  store<f64>(MARK_FLIGHTS, 0)
  for (let i = 0; i < n - 1; i++) {
    const flightMs = load<f64>(TIMES + (<usize>(i + 1) << 4)) - load<f64>(TIMES + (<usize>i << 4))
    // Far below the mean a few ms are a large part of the interval.
    store<f64>(MARK_FLIGHTS + (<usize>i << 3), Math.log(0.48 + flightMs / meanMs))
  }
}

/** Assigns intervals to bands and places cell borders from a keyed seed: the same for every pattern of n presses. */
function deal(n: i32): void {
  store<i32>(MARK_CELLS, -1)
  store<i32>(MARK_CELLS, n, 4)
  digest(MARK, 1, false)
  // Numerical Recipes' generator: the seed is the secret, the generator only spreads it.
  let state = <u32>finish(0xff)
  for (let i = 0; i < BORDERS; i++) {
    state = state * 1664525 + 1013904223
    store<f64>(MARK_BORDERS + (<usize>i << 3), <f64>state / 4294967296)
  }
  const count = max(n - 1, 1)
  for (let i = 0; i < count; i++) store<i32>(MARK_DEALT + (<usize>i << 2), i)
  for (let i = count - 1; i > 0; i--) {
    state = state * 1664525 + 1013904223
    const j = <i32>((<f64>state / 4294967296) * <f64>(i + 1))
    const a = MARK_DEALT + (<usize>i << 2)
    const b = MARK_DEALT + (<usize>j << 2)
    const kept = load<i32>(a)
    store<i32>(a, load<i32>(b))
    store<i32>(b, kept)
  }
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
  // No bytes are left over: the last word holds only the length.
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
