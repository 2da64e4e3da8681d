import type { AttemptFacts } from '../../../domain/attempt-facts.js'
import type { IndicatorReading, Signal, SignalValue } from '../../../domain/context/signal.js'

/** Indicator, weight and score, then name and weight of each signal, followed by outcome, value and reference if it has these. */
type IndicatorRow = readonly SignalValue[]

/**
 * `AttemptFacts` in column `facts`, as JSON text. The indicators, three quarters of the text, are stored without field names,
 * with which PostgreSQL would read and store twice as much for an attempt.
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

function toIndicatorRow({ indicator, weight, score, signals }: IndicatorReading): IndicatorRow {
  const row: SignalValue[] = [indicator, weight, score]
  for (const { signal, weight, computedOutcome, value, reference } of signals) {
    if (computedOutcome === null && value === null && reference === null) row.push(signal, weight)
    else row.push(signal, weight, computedOutcome, value, reference)
  }
  return row
}

/** Reads a row, or one in the former format, in which each signal is a list of these fields. */
function toReading([indicator, weight, score, ...fields]: IndicatorRow): IndicatorReading {
  const flat = fields.flat(2)
  const signals: Signal[] = []
  for (let i = 0; i < flat.length; ) {
    // An outcome is a number or null, so a text is the name of the next signal.
    const hasValues = i + 2 < flat.length && typeof flat[i + 2] !== 'string'
    const [computedOutcome, value, reference] = hasValues ? [flat[i + 2], flat[i + 3], flat[i + 4]] : [null, null, null]
    // Sound: `toIndicatorRow` wrote the fields in this order.
    signals.push({ signal: flat[i], weight: flat[i + 1], computedOutcome, value, reference } as Signal)
    i += hasValues ? 5 : 2
  }
  return { indicator, weight, score, signals } as IndicatorReading
}
