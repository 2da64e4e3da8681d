import { addressPrefix } from '../../base/address.js'
import type { Circumstances, Habits, Seen } from './circumstances.js'
import { DEVICE_SIGNALS, DEVICE_WEIGHTS, deviceSignals } from './device.js'
import { type CountedValues, counting, HABIT_MIN } from './habit.js'
import { TRAVEL_WEIGHTS, travel } from './impossible-travel.js'
import { LOCATION_WEIGHTS, locationSignals, placesAfter } from './location.js'
import { asnText, NETWORK_WEIGHTS, networkSignals } from './network.js'
import {
  CONTEXT_INDICATORS,
  type ContextIndicator,
  type IndicatorReading,
  type Signal,
  type SignalWeights,
  scoreOf,
  weightedMean,
} from './signal.js'
import { hoursAfter, TIME_WEIGHTS, timeSignals } from './time.js'

/** The signals of each indicator with their default weights. */
export const SIGNAL_WEIGHTS: Readonly<Record<ContextIndicator, SignalWeights>> = {
  network: NETWORK_WEIGHTS,
  location: LOCATION_WEIGHTS,
  'impossible-travel': TRAVEL_WEIGHTS,
  device: DEVICE_WEIGHTS,
  time: TIME_WEIGHTS,
}

/** Default weight of each indicator. Not measured. */
export const INDICATOR_WEIGHTS: Readonly<Record<ContextIndicator, number>> = {
  network: 2,
  location: 2,
  'impossible-travel': 1,
  device: 3,
  time: 1,
}

/** A policy's weights; an absent weight has its default. */
type IndicatorRules = Readonly<
  Partial<
    Record<ContextIndicator, { readonly weight?: number | undefined; readonly signals?: SignalWeights | undefined }>
  >
>

export interface ContextJudgement {
  /** All context indicators in the order of `CONTEXT_INDICATORS`, each with all its signals. */
  readonly indicators: readonly IndicatorReading[]
  /** 0 to 1; null if no weighted indicator has a score. */
  readonly confidence: number | null
  /** The speed since the last place is impossible; false if the indicator has no weight or is not enabled. */
  readonly impossibleTravel: boolean
}

/**
 * Compares the context of an attempt with the member's habits. Learned indicators have no score before `HABIT_MIN`
 * successes. `enabled` lists the deployment's indicators; any other has weight 0 and no score.
 */
export function judgeContext(
  circumstances: Circumstances,
  habits: Habits,
  rules: IndicatorRules,
  enabled: readonly ContextIndicator[],
): ContextJudgement {
  const known = (habits.n ?? 0) >= HABIT_MIN ? habits : {}
  const weightsOf = (indicator: ContextIndicator): SignalWeights => weightsBy(rules, indicator)
  // Travel needs one earlier place only, so it does not wait for `HABIT_MIN` successes.
  const way = travel(circumstances, habits, weightsOf('impossible-travel'))
  const found: Record<ContextIndicator, { readonly signals: readonly Signal[]; readonly score: number | null }> = {
    network: scored(networkSignals(circumstances, known, weightsOf('network'))),
    location: scored(locationSignals(circumstances, known, weightsOf('location'))),
    'impossible-travel': way,
    device: scored(deviceSignals(circumstances, known, weightsOf('device'))),
    time: scored(timeSignals(circumstances, known, weightsOf('time'))),
  }
  const indicators = CONTEXT_INDICATORS.map((indicator) => ({
    indicator,
    weight: enabled.includes(indicator) ? (rules[indicator]?.weight ?? INDICATOR_WEIGHTS[indicator]) : 0,
    score: enabled.includes(indicator) ? found[indicator].score : null,
    signals: found[indicator].signals,
  }))
  const weighs = indicators.some(({ indicator, weight }) => indicator === 'impossible-travel' && weight > 0)
  // Before `HABIT_MIN` successes only travel has a score, and possible travel alone is not evidence for the member.
  const confidence = known === habits ? contextConfidence(indicators) : null
  return { indicators, confidence, impossibleTravel: weighs && way.impossible }
}

/**
 * The confidence of recorded outcomes under other weights; null if no outcome was known. The same rules reproduce the
 * recorded confidence.
 */
export function reweighed(
  recorded: readonly IndicatorReading[],
  rules: IndicatorRules,
  enabled: readonly ContextIndicator[],
): number | null {
  const known = new Map(recorded.map((reading) => [reading.indicator, reading]))
  return contextConfidence(
    enabled.map((indicator) => {
      const { signals = [], score = null } = known.get(indicator) ?? {}
      const weights = weightsBy(rules, indicator)
      const outcomes = signals.map((one) => ({ weight: weights[one.signal] ?? 0, of: one.computedOutcome }))
      return {
        weight: rules[indicator]?.weight ?? INDICATOR_WEIGHTS[indicator],
        // The signals of impossible travel are measurements without outcomes, so its recorded score is used.
        score: indicator === 'impossible-travel' ? score : weightedMean(outcomes),
      }
    }),
  )
}

/** The weights of an indicator's signals. */
function weightsBy(rules: IndicatorRules, indicator: ContextIndicator): SignalWeights {
  const own = rules[indicator]?.signals
  return own === undefined ? SIGNAL_WEIGHTS[indicator] : { ...SIGNAL_WEIGHTS[indicator], ...own }
}

const scored = (signals: readonly Signal[]) => ({ signals, score: scoreOf(signals) })

/** The weighted mean of the indicators that have a score; null if none has. */
export const contextConfidence = (indicators: readonly Pick<IndicatorReading, 'weight' | 'score'>[]): number | null =>
  weightedMean(indicators.map(({ weight, score }) => ({ weight, of: score })))

/** The habits after one more success. */
export function habitsAfter(habits: Habits, circumstances: Circumstances): Habits {
  const { at, ip, network, anonymizer, place, device } = circumstances
  const values: Record<string, CountedValues> = { ...habits.values }
  const count = (signal: string, value: string | null | undefined) => {
    if (value != null) values[signal] = counting(values[signal] ?? [], value, at)
  }
  count('address', ip)
  count('prefix', ip === null ? null : addressPrefix(ip))
  count('asn', network === null ? null : asnText(network))
  count('anonymizer', anonymizer === null ? null : String(anonymizer))
  count('country', place?.country)
  count('city', place?.city)
  for (const signal of DEVICE_SIGNALS) count(signal, device?.[signal])
  const here = place === null ? null : seenAt(place, at)
  return {
    n: (habits.n ?? 0) + 1,
    values,
    hours: hoursAfter(habits.hours ?? [], at),
    places: here === null ? (habits.places ?? []) : placesAfter(habits.places ?? [], here),
    ...(here === null ? (habits.last === undefined ? {} : { last: habits.last }) : { last: here }),
  }
}

const seenAt = ({ latitude, longitude, accuracyKm }: Seen | NonNullable<Circumstances['place']>, at: number): Seen => ({
  at,
  latitude,
  longitude,
  accuracyKm,
})
