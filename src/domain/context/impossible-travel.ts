import type { Circumstances, Habits } from './circumstances.js'
import { falling, leastDistanceKm } from './location.js'
import type { Signal, SignalWeights } from './signal.js'

export const TRAVEL_WEIGHTS = { distance: 0, time: 0, speed: 0 } as const

/** Speed of a flight with the time at airports. Up to this speed, travel is plausible. */
const FAST_KMH = 500
/** No airliner is faster. Above this speed, travel is impossible. */
const IMPOSSIBLE_KMH = 1000
/** A shorter distance counts as an error of the database or an effect of the network, not as travel. Our choice. */
const TRAVEL_MIN_KM = 100
/** Least time assumed between two attempts, so that the speed is finite. */
const TIME_MIN_S = 60
/** A last success further in the future was timed by a database clock that has since been set back. No measurement behind it. */
const CLOCK_ERROR_MAX_MS = 300_000

/** The travel from the place of the last success that had one. */
interface Travel {
  readonly signals: readonly Signal[]
  /** 1 for a plausible speed, 0 for an impossible one; null if either place or the time between them is unknown. */
  readonly score: number | null
  readonly impossible: boolean
}

/**
 * The speed at which the member would have travelled since the last success that had a place. The accuracy of both places
 * is subtracted from the distance. The signals are measurements without outcomes; only the indicator has a score.
 */
export function travel({ place, at }: Circumstances, { last }: Habits, weights: SignalWeights): Travel {
  const known = place !== null && last !== undefined
  const km = known ? leastDistanceKm(place, last) : null
  const timed = known && at >= last.at - CLOCK_ERROR_MAX_MS
  const seconds = timed ? Math.max(0, at - last.at) / 1000 : null
  const kmh = km === null || seconds === null ? null : (3600 * km) / Math.max(seconds, TIME_MIN_S)
  const far = km !== null && km > TRAVEL_MIN_KM
  const measured = (signal: 'distance' | 'time' | 'speed', value: number | null, reference: number | null): Signal => ({
    signal,
    value: value === null ? null : Math.round(value),
    reference,
    weight: weights[signal] ?? 0,
    computedOutcome: null,
  })
  return {
    signals: [
      measured('distance', km, null),
      measured('time', seconds, null),
      measured('speed', kmh, timed ? IMPOSSIBLE_KMH : null),
    ],
    score: kmh === null ? null : far ? falling(kmh, FAST_KMH, IMPOSSIBLE_KMH) : 1,
    impossible: far && kmh !== null && kmh > IMPOSSIBLE_KMH,
  }
}
