import { keyOfCode } from '../domain/key-table.js'
import type { PressEvidence, Time } from './explained-press.js'
import type { Sample } from './sample.js'

/** One sign of the pattern as a whole; `usual` and `here` in the unit that `words` name. */
export interface WholeSign {
  readonly sign: 'pace' | 'hold' | 'roll-over' | 'pauses' | 'corrections'
  /** A ratio to the expected times (1) for pace and hold; shares of the transitions, or of the presses, for the rest. */
  readonly usual: number
  readonly here: number
  /** One sentence for people. */
  readonly words: string
}

/** Share by which pace and hold count as usual: a person's own mean varies by about 5 % between patterns. Not measured. */
const AS_USUAL = 0.05
/** A longer press-press time is a pause (same bound as `assembly/summary.ts`). */
const PAUSE_MS = 500
const BACKSPACE = keyOfCode('Backspace')

/** Compares the whole pattern with the references, at least one. Corrections are included only if keys are known. */
export function wholeSigns(
  presses: readonly PressEvidence[],
  probe: Sample,
  references: readonly Sample[],
): readonly WholeSign[] {
  const paced = relative(presses, 'pressPress')
  const held = relative(presses, 'hold')
  const masked = probe.mode === 'sensitive'
  return [
    { sign: 'pace', usual: 1, here: paced, words: ratioWords(paced, PACE_WORDS) },
    { sign: 'hold', usual: 1, here: held, words: ratioWords(held, HOLD_WORDS) },
    ...SHARES.filter(({ sign }) => !(masked && sign === 'corrections')).map((one) => shareSign(one, probe, references)),
  ]
}

/** Median of observed over expected, so one long pause does not change the pace. */
function relative(presses: readonly PressEvidence[], time: Time): number {
  const ratios = presses
    .flatMap(({ evidence }) => evidence[time] ?? [])
    .map(({ expectedMs, observedMs }) => observedMs / expectedMs)
    .sort((a, b) => a - b)
  const at = (i: number) => ratios[i] ?? 1
  const middle = (ratios.length - 1) / 2
  return Number(((at(Math.floor(middle)) + at(Math.ceil(middle))) / 2).toFixed(3))
}

const PACE_WORDS = { what: 'typed', more: 'slower', less: 'faster', same: 'at the usual pace' }
const HOLD_WORDS = { what: 'keys held', more: 'longer', less: 'shorter', same: 'as long as usual' }

function ratioWords(ratio: number, { what, more, less, same }: typeof PACE_WORDS): string {
  if (Math.abs(ratio - 1) < AS_USUAL) return `${what} ${same}`
  return `${what} ${Math.round(100 * Math.abs(ratio - 1))} % ${ratio > 1 ? more : less} than usual`
}

interface Share {
  readonly sign: WholeSign['sign']
  readonly what: string
  readonly share: (sample: Sample) => number
}

function shareSign({ sign, what, share }: Share, probe: Sample, references: readonly Sample[]): WholeSign {
  const all = references.map(share)
  const usual = Number((all.reduce((sum, one) => sum + one, 0) / all.length).toFixed(3))
  const here = Number(share(probe).toFixed(3))
  const [low, high] = [Math.min(...all), Math.max(...all)]
  const compared = here > high ? 'more than in any reference' : here < low ? 'fewer than in any reference' : 'as usual'
  const percent = (part: number) => `${Math.round(100 * part)} %`
  const range = `references ${percent(low)} to ${percent(high)}`
  return { sign, usual, here, words: `${what}: ${compared} (here ${percent(here)}, ${range})` }
}

function ofChanges({ presses }: Sample, counts: (before: SamplePress, press: SamplePress) => boolean): number {
  const counted = presses.slice(1).filter((press, i) => counts(presses[i] ?? press, press))
  return counted.length / Math.max(presses.length - 1, 1)
}
type SamplePress = Sample['presses'][number]

const rollOver = (sample: Sample) => ofChanges(sample, (before, press) => press.pressMs < before.releaseMs)
const pauses = (sample: Sample) => ofChanges(sample, (before, press) => press.pressMs - before.pressMs > PAUSE_MS)
const corrections = ({ presses }: Sample) =>
  presses.filter(({ key }) => key === BACKSPACE).length / Math.max(presses.length, 1)

const SHARES: readonly Share[] = [
  { sign: 'roll-over', what: 'keys pressed before the previous one is up', share: rollOver },
  { sign: 'pauses', what: `pauses of more than ${PAUSE_MS} ms`, share: pauses },
  { sign: 'corrections', what: 'corrections with Backspace', share: corrections },
]
