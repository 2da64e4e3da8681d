import type { AttemptFacts } from '../../../domain/attempt-facts.js'
import type { Indicator, IndicatorReading, Signal, SignalValue } from '../../../domain/context/signal.js'

/** A signal that knows nothing is its name and weight. */
type SignalRow =
  | readonly [signal: string, weight: number]
  | readonly [signal: string, weight: number, outcome: number | null, value: SignalValue, reference: SignalValue]

type IndicatorRow = readonly [indicator: Indicator, weight: number, score: number | null, signals: readonly SignalRow[]]

/**
 * `AttemptFacts` as column `facts` keeps them, as JSON text. The indicators, three quarters of the text, stand there without the names
 * of their fields: written out they doubled what PostgreSQL reads and stores of an attempt.
 */
type FactsRow = Omit<AttemptFacts, 'indicators'> & {
  readonly indicators: readonly IndicatorRow[]
}

export function toFactsText(facts: AttemptFacts): string {
  const row: FactsRow = { ...facts, indicators: facts.indicators.map(toIndicatorRow) }
  return JSON.stringify(row)
}

/** The facts in a text that `toFactsText` made. */
export function fromFactsText(text: string): AttemptFacts {
  // Sound: the service alone writes the column.
  const row = JSON.parse(text) as FactsRow
  return { ...row, indicators: row.indicators.map(toReading) }
}

const toIndicatorRow = ({ indicator, weight, score, signals }: IndicatorReading): IndicatorRow => [
  indicator,
  weight,
  score,
  signals.map(toSignalRow),
]

function toSignalRow({ signal, weight, computedOutcome, value, reference }: Signal): SignalRow {
  if (computedOutcome === null && value === null && reference === null) return [signal, weight]
  return [signal, weight, computedOutcome, value, reference]
}

function toReading([indicator, weight, score, signals]: IndicatorRow): IndicatorReading {
  return { indicator, weight, score, signals: signals.map(toSignal) }
}

function toSignal([signal, weight, computedOutcome = null, value = null, reference = null]: SignalRow): Signal {
  return { signal, weight, computedOutcome, value, reference }
}
