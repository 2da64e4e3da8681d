import type { AttemptFacts } from '../../../domain/attempt-facts.js'
import type { Indicator, IndicatorReading, Signal, SignalValue } from '../../../domain/context/signal.js'

/** A signal without values has name and weight only. */
type SignalRow =
  | readonly [signal: string, weight: number]
  | readonly [signal: string, weight: number, outcome: number | null, value: SignalValue, reference: SignalValue]

type IndicatorRow = readonly [indicator: Indicator, weight: number, score: number | null, signals: readonly SignalRow[]]

/**
 * `AttemptFacts` in column `facts`, as JSON text. The indicators, three quarters of the text, are stored without field names:
 * with them, PostgreSQL reads and stores twice as much for an attempt.
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
  // Sound: only the service writes the column.
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
