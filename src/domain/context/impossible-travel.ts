import type { Circumstances, Habits } from './circumstances.js'
import { falling, leastDistanceKm } from './location.js'
import type { Signal, SignalWeights } from './signal.js'

export const TRAVEL_WEIGHTS = { distance: 0, time: 0, speed: 0 } as const

/** As fast as an airliner with its way to the airport left out: past it somebody may be on a plane, just. */
const FAST_KMH = 500
/** Faster than an airliner: nobody travels so. */
const IMPOSSIBLE_KMH = 1000
/** Short of this, what looks like travel is the database's or the network's doing. Our choice. */
const TRAVEL_MIN_KM = 100
/** Two attempts of one moment from far apart are judged as if so long apart: keeps the speed finite. */
const TIME_MIN_S = 60

/** The travel from the last success with a place to here. */
interface Travel {
  readonly signals: readonly Signal[]
  /** 1 on foot, 0 at a speed that nobody travels at; null where there is no place to come from, or none to be at. */
  readonly score: number | null
  readonly impossible: boolean
}

/**
 * How fast the member would have had to travel since the last success that had a place. Both places' accuracy is taken
 * off the distance. Its signals are measurements, so none has an outcome: the score is the indicator's.
 */
export function travel({ place, at }: Circumstances, { last }: Habits, weights: SignalWeights): Travel {
  const known = place !== null && last !== undefined
  const km = known ? leastDistanceKm(place, last) : null
  const seconds = known ? Math.max(0, at - last.at) / 1000 : null
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
      measured('speed', kmh, known ? IMPOSSIBLE_KMH : null),
    ],
    score: kmh === null ? null : far ? falling(kmh, FAST_KMH, IMPOSSIBLE_KMH) : 1,
    impossible: far && kmh !== null && kmh > IMPOSSIBLE_KMH,
  }
}
