import { createHmac } from 'node:crypto'
import { REPLAY_BANDS, type ReplayMark } from '../domain/replay.js'

/**
 * Press-press intervals mixed into one band, and the width of a cell on the scale of `companded`: found on the open data
 * as the finest that keeps two bands of a pattern whose every event is moved by up to 5 ms in 95 of 100 cases. Holds are
 * left out: at that jitter a hold gives half the bits a flight does.
 */
const FLIGHTS_PER_BAND = 14
const FLIGHT_CELL = 0.31
/** Cell borders that no timer's grid falls on: a float's rounding must not move a time over one. */
const EXACT_BORDER = 0.2137

/**
 * The replay mark of a pattern, from the press and release of each press in turn, ms on any clock: `exact` over all times after the shift is removed, and eight bands, each a keyed hash of
 * fourteen press-press intervals in units of their mean (which removes a scale), in cells so coarse that a jitter of a few ms
 * leaves most bands as they are. Which interval goes to which band, and where its cell borders lie, follow from the key
 * and the number of presses alone, so that who does not hold `replayKey` (32 bytes) cannot aim a jitter at the borders.
 */
export function replayMark(times: Float64Array, replayKey: Uint8Array): ReplayMark {
  const hash = (label: string, values: Int32Array): Buffer =>
    createHmac('sha256', replayKey)
      .update(label)
      .update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
      .digest()
  const n = times.length / 2
  const pressMs = (i: number): number => times[2 * i] ?? 0
  const order = dealing(hash('dealing', Int32Array.of(n)), n)
  const origin = pressMs(0)
  const meanMs = Math.max((pressMs(n - 1) - origin) / Math.max(n - 1, 1), 1)
  const flights = Float64Array.from({ length: Math.max(n - 1, 0) }, (_, i) =>
    companded((pressMs(i + 1) - pressMs(i)) / meanMs),
  )
  const band = (index: number): bigint => {
    const cells = [index, n]
    for (let i = 0; i < FLIGHTS_PER_BAND; i++) {
      const drawn = order.drawn[(index * FLIGHTS_PER_BAND + i) % order.drawn.length] ?? 0
      cells.push(drawn, Math.floor((flights[drawn] ?? 0) / FLIGHT_CELL + order.border(index * 16 + i)))
    }
    return hash('band', Int32Array.from(cells)).readBigInt64BE()
  }
  return {
    exact: new Uint8Array(
      hash(
        'exact',
        Int32Array.from(times, (ms) => Math.floor(ms - origin + EXACT_BORDER)),
      ),
    ).slice(0, 16),
    bands: Array.from({ length: REPLAY_BANDS }, (_, index) => band(index)),
  }
}

/** Logarithmic above the mean, linear far below it, where a few ms are much of the interval. */
const companded = (inMeans: number): number => Math.log(0.48 + inMeans)

/** Which intervals a band takes, and where cell borders lie: from a keyed seed, the same for every pattern of n presses. */
function dealing(seed: Buffer, n: number) {
  let state = seed.readUInt32LE(0)
  const next = (): number => {
    // Numerical Recipes' generator: the secrecy is the seed's, this only spreads it.
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 4294967296
  }
  const permuted = (count: number): Int32Array => {
    const out = Int32Array.from({ length: Math.max(count, 1) }, (_, i) => i)
    for (let i = out.length - 1; i > 0; i--) {
      const j = Math.floor(next() * (i + 1))
      const kept = out[i] ?? 0
      out[i] = out[j] ?? 0
      out[j] = kept
    }
    return out
  }
  const borders = Float64Array.from({ length: 256 }, next)
  return { drawn: permuted(n - 1), border: (at: number): number => borders[at & 255] ?? 0 }
}
