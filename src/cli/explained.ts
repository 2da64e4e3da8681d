import type { PairEvidence } from '../scoring/explanation.js'
import type { Trace } from '../scoring/trace.js'
import { table } from './table.js'

/** Most key pairs shown for the person, and most shown against; the trace has all. */
const SHOWN = 12

/** A trace as text for a terminal: the result, the pattern as a whole, the strongest key pairs. Ends with a newline. */
export function explained({ result, explanation, nReferences, model }: Trace): string {
  const lines = [
    `confidence      ${(result.confidence ?? 0).toFixed(3)} against ${nReferences} references (${model.name}); 0.5 or more passes where nothing else is set`,
    `bot likelihood  ${percent(result.botLikelihood)}${result.botLikelihood > 0.5 ? ': counts as a machine' : ''}`,
    `replay          ${replayed(result.replayDistanceMs)}`,
  ]
  if (explanation !== null) {
    const spokeFor = explanation.pairs.filter(({ spokeFor }) => spokeFor > 0)
    const against = explanation.pairs.filter(({ spokeFor }) => spokeFor < 0).reverse()
    lines.push('', 'The pattern as a whole', ...explanation.whole.map(({ words }) => `  ${words}`))
    lines.push('', ...side('Spoke for the person', spokeFor), '', ...side('Spoke against', against))
    lines.push(
      '',
      'Weights are log likelihood ratios: this person against people in general. The confidence is not their sum: the model',
      'weighs hundreds of features; these are some of them.',
    )
  }
  return `${lines.join('\n')}\n`
}

function side(title: string, pairs: readonly PairEvidence[]): string[] {
  const all = pairs.reduce((sum, { spokeFor }) => sum + spokeFor, 0)
  const head = `${title}: ${pairs.length} key pairs, together ${signed(all)}`
  if (pairs.length === 0) return [head]
  const rows = pairs
    .slice(0, SHOWN)
    .map(({ pair, spokeFor, times, words }) => [pair, signed(spokeFor), String(times), words.slice(pair.length + 2)])
  const left = pairs.length - rows.length
  return [head, table(['keys', 'weight', 'times', 'why'], rows), ...(left > 0 ? [`and ${left} more`] : [])]
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
const signed = (weight: number): string => `${weight >= 0 ? '+' : '-'}${Math.abs(weight).toFixed(2)}`

function replayed(distanceMs: number | null): string {
  if (distanceMs === null) return 'no reference can be aligned with it'
  return `the nearest reference is ${distanceMs.toFixed(1)} ms away on average`
}
