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
  const n = times.length / 2
  const hash = (label: string, values: Int32Array): Buffer =>
    createHmac('sha256', replayKey)
      .update(label)
      .update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
      .digest()
  const { drawn, borders } = dealing(hash('dealing', Int32Array.of(n)), n)
  const flights = flightsOf(times, n)
  const cells = new Int32Array(2 + 2 * FLIGHTS_PER_BAND)
  const bands: bigint[] = []
  for (let band = 0; band < REPLAY_BANDS; band++) {
    cells[0] = band
    cells[1] = n
    for (let i = 0; i < FLIGHTS_PER_BAND; i++) {
      const flight = drawn[(band * FLIGHTS_PER_BAND + i) % drawn.length] ?? 0
      cells[2 + 2 * i] = flight
      cells[3 + 2 * i] = Math.floor((flights[flight] ?? 0) / FLIGHT_CELL + (borders[(band * 16 + i) & 255] ?? 0))
    }
    bands.push(hash('band', cells).readBigInt64BE())
  }
  const origin = times[0] ?? 0
  const exact = new Int32Array(times.length)
  for (let i = 0; i < exact.length; i++) exact[i] = Math.floor((times[i] ?? 0) - origin + EXACT_BORDER)
  return { exact: new Uint8Array(hash('exact', exact)).slice(0, 16), bands }
}

/** Press-press intervals in units of their mean, on a scale logarithmic above the mean and linear far below it. */
function flightsOf(times: Float64Array, n: number): Float64Array {
  const pressMs = (i: number): number => times[2 * i] ?? 0
  const meanMs = Math.max((pressMs(n - 1) - pressMs(0)) / Math.max(n - 1, 1), 1)
  const flights = new Float64Array(Math.max(n - 1, 0))
  // Far below the mean a few ms are much of the interval.
  for (let i = 0; i < flights.length; i++) flights[i] = Math.log(0.48 + (pressMs(i + 1) - pressMs(i)) / meanMs)
  return flights
}

/** Which intervals a band takes, and where cell borders lie: from a keyed seed, the same for every pattern of n presses. */
function dealing(seed: Buffer, n: number): { readonly drawn: Int32Array; readonly borders: Float64Array } {
  let state = seed.readUInt32LE(0)
  const next = (): number => {
    // Numerical Recipes' generator: the secrecy is the seed's, this only spreads it.
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 4294967296
  }
  const borders = new Float64Array(256)
  for (let i = 0; i < borders.length; i++) borders[i] = next()
  const drawn = new Int32Array(Math.max(n - 1, 1))
  for (let i = 0; i < drawn.length; i++) drawn[i] = i
  for (let i = drawn.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1))
    const kept = drawn[i] ?? 0
    drawn[i] = drawn[j] ?? 0
    drawn[j] = kept
  }
  return { drawn, borders }
}
