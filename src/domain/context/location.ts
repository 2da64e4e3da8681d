import type { Circumstances, Habits, Place, Seen } from './circumstances.js'
import { outcomeOf, usual } from './habit.js'
import type { Signal, SignalWeights } from './signal.js'

export const LOCATION_WEIGHTS = { latitude: 0, longitude: 0, country: 3, city: 1, nearest: 2 } as const

const EARTH_RADIUS_KM = 6371
/** Up to this distance from a known place the outcome is 1; from `STRANGE_KM` on it is 0. Our choice. */
const HOME_KM = 50
const STRANGE_KM = 1000
/** Places nearer than this to each other are merged. */
const SAME_PLACE_KM = 50
const PLACES_MAX = 6

type Point = Pick<Place, 'latitude' | 'longitude'>

/** Great-circle distance (haversine) on a sphere, km: within 0.5 % of the distance on the ellipsoid. */
function distanceKm(a: Point, b: Point): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180
  const [lat, lon] = [radians(b.latitude - a.latitude) / 2, radians(b.longitude - a.longitude) / 2]
  const h = Math.sin(lat) ** 2 + Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * Math.sin(lon) ** 2
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(h)))
}

/** The least possible distance of two places given their accuracy, km. */
export const leastDistanceKm = (a: Point & Pick<Place, 'accuracyKm'>, b: Point & Pick<Place, 'accuracyKm'>): number =>
  Math.max(0, distanceKm(a, b) - a.accuracyKm - b.accuracyKm)

/** Country, city, and the distance to the nearest known place. Coordinates are measurements without outcomes. */
export function locationSignals({ place }: Circumstances, habits: Habits, weights: SignalWeights): Signal[] {
  const { values = {}, places = [] } = habits
  const measured = (signal: string, value: number | null, reference: number | null): Signal => ({
    signal,
    value,
    reference,
    weight: weights[signal] ?? 0,
    computedOutcome: null,
  })
  const counted = (signal: 'country' | 'city', value: string | null): Signal => ({
    signal,
    value,
    reference: usual(values[signal] ?? []),
    weight: weights[signal] ?? 0,
    computedOutcome: outcomeOf(values[signal], value),
  })
  const nearest = place === null || places.length === 0 ? null : nearestOf(place, places)
  return [
    measured('latitude', place?.latitude ?? null, nearest?.place.latitude ?? null),
    measured('longitude', place?.longitude ?? null, nearest?.place.longitude ?? null),
    counted('country', place?.country ?? null),
    counted('city', place?.city ?? null),
    {
      signal: 'nearest',
      value: nearest === null ? null : Math.round(nearest.km),
      reference: nearest === null ? null : HOME_KM,
      weight: weights.nearest ?? 0,
      computedOutcome: nearest === null ? null : falling(nearest.km, HOME_KM, STRANGE_KM),
    },
  ]
}

function nearestOf(place: Place, places: readonly Seen[]): { readonly place: Seen; readonly km: number } | null {
  let best: { readonly place: Seen; readonly km: number } | null = null
  for (const one of places) {
    const km = leastDistanceKm(place, one)
    if (best === null || km < best.km) best = { place: one, km }
  }
  return best
}

/** 1 up to `from`, 0 from `to` on, linear in between. */
export const falling = (value: number, from: number, to: number): number =>
  Math.min(1, Math.max(0, (to - value) / (to - from)))

/** The known places after a success at `here`, which replaces a nearby place and continues its count. */
export function placesAfter(places: NonNullable<Habits['places']>, here: Seen): NonNullable<Habits['places']> {
  const near = places.find((one) => distanceKm(one, here) < SAME_PLACE_KM)
  return [{ ...here, times: (near?.times ?? 0) + 1 }, ...places.filter((one) => one !== near)].slice(0, PLACES_MAX)
}
