/** What a judgement of the context is made of: indicators, each explained signal by signal (interface, Dashboard objects). */
export const CONTEXT_INDICATORS = ['network', 'location', 'impossible-travel', 'device', 'time'] as const
export type ContextIndicator = (typeof CONTEXT_INDICATORS)[number]
export const INDICATORS = ['biometric', 'bot', ...CONTEXT_INDICATORS] as const
export type Indicator = (typeof INDICATORS)[number]

export type SignalValue = string | number | boolean | null

/** One thing that was looked at. */
export interface Signal {
  readonly signal: string
  /** As this attempt has it; null where it is not known. */
  readonly value: SignalValue
  /** What it was compared with: what the member's past successes had most; null where there is nothing of the kind. */
  readonly reference: SignalValue
  readonly weight: number
  /** 0 (speaks against the member) to 1; null where nothing is known, and for measurements. Null is not 0. */
  readonly computedOutcome: number | null
}

export interface IndicatorReading {
  readonly indicator: Indicator
  /** By the policy; 0 where it is not enabled platform-wide. */
  readonly weight: number
  /** 0 to 1; null where it knows nothing. */
  readonly score: number | null
  readonly signals: readonly Signal[]
}

/** Weights of an indicator's signals, by their names. */
export type SignalWeights = Readonly<Record<string, number>>

/** The weighted mean of what is known; null where nothing is, or nothing of it weighs. */
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
