/** Indicators of the context, each explained by its signals (interface, Dashboard objects). */
export const CONTEXT_INDICATORS = ['network', 'location', 'impossible-travel', 'device', 'time'] as const
export type ContextIndicator = (typeof CONTEXT_INDICATORS)[number]
export const INDICATORS = ['biometric', 'bot', ...CONTEXT_INDICATORS] as const
export type Indicator = (typeof INDICATORS)[number]

export type SignalValue = string | number | boolean | null

/** One property that was compared or measured. */
export interface Signal {
  readonly signal: string
  /** The value of this attempt; null if unknown. */
  readonly value: SignalValue
  /** The value compared with: the most frequent one of the member's past successes; null if none. */
  readonly reference: SignalValue
  readonly weight: number
  /** 0 (against the member) to 1; null if unknown, and for measurements. Null is not 0. */
  readonly computedOutcome: number | null
}

export interface IndicatorReading {
  readonly indicator: Indicator
  /** The policy's weight; 0 if the indicator is not enabled in the deployment. */
  readonly weight: number
  /** 0 to 1; null if unknown. */
  readonly score: number | null
  readonly signals: readonly Signal[]
}

/** Weights of an indicator's signals, by signal name. */
export type SignalWeights = Readonly<Record<string, number>>

/** The weighted mean of the known parts; null if none is known or all known ones have weight 0. */
export function weightedMean(parts: readonly { readonly weight: number; readonly of: number | null }[]): number | null {
  let [sum, weights] = [0, 0]
  for (const { weight, of } of parts) {
    if (of === null) continue
    sum += weight * of
    weights += weight
  }
  return weights > 0 ? sum / weights : null
}

export const scoreOf = (signals: readonly Signal[]): number | null =>
  weightedMean(signals.map(({ weight, computedOutcome }) => ({ weight, of: computedOutcome })))
