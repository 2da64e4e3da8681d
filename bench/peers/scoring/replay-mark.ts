import { createHmac } from 'node:crypto'
import type { KeyPress } from '../../../src/domain/key-press.js'
import { REPLAY_BANDS, type ReplayMark } from '../../../src/domain/replay.js'

/** A replay shares this many bands with the original. */
export const BANDS_SHARED = 2
const FLIGHTS_PER_BAND = 14
const FLIGHT_CELL = 0.31
const BORDERS = 256
const EXACT_BORDER = 0.2137
const EXACT_BYTES = 16

/** Intervals of each band, and cell borders, for patterns of one number of presses. */
interface Dealt {
  readonly intervals: Int32Array
  readonly borders: Float64Array
}

/**
 * Marks patterns by a simpler scheme than the kernel's, with the hash that a team would use: truncated HMAC-SHA-256. Each of
 * eight bands covers 14 intervals that the key and the number of presses choose, so an edit of one pause or key may change
 * all of them. The assignment is cached by number of presses, for the last key.
 */
export function createMarker(): (presses: readonly KeyPress[], key: Uint8Array) => ReplayMark {
  let of: Uint8Array = new Uint8Array()
  let byPresses = new Map<number, Dealt>()
  return (presses, key) => {
    if (Buffer.compare(of, key) !== 0) {
      of = key.slice()
      byPresses = new Map()
    }
    const n = presses.length
    const dealt = byPresses.get(n) ?? deal(n, key)
    byPresses.set(n, dealt)
    const flights = flightsOf(presses)
    const bands = Array.from({ length: REPLAY_BANDS }, (_, band) =>
      hash(key, bandOf(band, flights, dealt)).readBigInt64LE(),
    )
    return { exact: hash(key, exactOf(presses)).subarray(0, EXACT_BYTES), bands }
  }
}

const hash = (key: Uint8Array, words: Int32Array): Buffer =>
  createHmac('sha256', key).update(new Uint8Array(words.buffer)).digest()

/** Generates the assignment from a keyed seed: the same for every pattern of n presses. */
function deal(n: number, key: Uint8Array): Dealt {
  let state = hash(key, Int32Array.of(-1, n)).readUInt32LE()
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const borders = Float64Array.from({ length: BORDERS }, next)
  const intervals = Int32Array.from({ length: Math.max(n - 1, 1) }, (_, i) => i)
  for (let i = intervals.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1))
    const kept = intervals[i] ?? 0
    intervals[i] = intervals[j] ?? 0
    intervals[j] = kept
  }
  return { intervals, borders }
}

/** Press-press intervals in units of their mean, on a scale logarithmic above it and linear far below it. */
function flightsOf(presses: readonly KeyPress[]): Float64Array {
  const n = presses.length
  const at = (i: number) => presses[i]?.pressMs ?? 0
  const meanMs = Math.max((at(n - 1) - at(0)) / Math.max(n - 1, 1), 1)
  return Float64Array.from({ length: Math.max(n - 1, 1) }, (_, i) =>
    n < 2 ? 0 : Math.log(0.48 + (at(i + 1) - at(i)) / meanMs),
  )
}

function bandOf(band: number, flights: Float64Array, { intervals, borders }: Dealt): Int32Array {
  const cells = new Int32Array(1 + 2 * FLIGHTS_PER_BAND)
  cells[0] = band
  for (let i = 0; i < FLIGHTS_PER_BAND; i++) {
    const interval = intervals[(band * FLIGHTS_PER_BAND + i) % intervals.length] ?? 0
    const border = borders[(band * 16 + i) % BORDERS] ?? 0
    cells[1 + 2 * i] = interval
    cells[2 + 2 * i] = Math.floor((flights[interval] ?? 0) / FLIGHT_CELL + border)
  }
  return cells
}

function exactOf(presses: readonly KeyPress[]): Int32Array {
  const origin = presses[0]?.pressMs ?? 0
  const cells = new Int32Array(2 * presses.length)
  presses.forEach(({ pressMs, releaseMs }, i) => {
    cells[2 * i] = Math.floor(pressMs - origin + EXACT_BORDER)
    cells[2 * i + 1] = Math.floor(releaseMs - origin + EXACT_BORDER)
  })
  return cells
}
