import { keyName } from '../domain/key-table.js'
import { type PressEvidence, TIMES, type Time, type TimeEvidence } from './explained-press.js'
import type { Sample } from './sample.js'

/** One time of one press, next to the times of the same key (hold) or key pair (the rest) in the enrolled references. */
interface ComparedTime extends TimeEvidence {
  /** Times in the references; 0 if the key or key pair was never enrolled. The figures below are null then. */
  readonly n: number
  readonly meanMs: number | null
  /** Standard deviation of the sample; null below two times. */
  readonly deviationMs: number | null
  readonly lowestMs: number | null
  readonly highestMs: number | null
}

/** One press of the probe, in the order of typing. */
export interface ComparedPress {
  /** Names of the keys; null if keys are masked, and `first` at the first press. */
  readonly first: string | null
  readonly second: string | null
  /** Sum over the kinds of time; above 0 it favours the person. */
  readonly spokeFor: number
  /** A first press has only a hold. */
  readonly byTime: Readonly<Partial<Record<Time, ComparedTime>>>
}

/** The bounds that the scorer clamps times to, ms (`logTimes` of `assembly/features.ts`). */
const BOUNDS: Readonly<Record<Time, readonly [number, number]>> = {
  hold: [8, 1000],
  pressPress: [5, 3000],
  releasePress: [-800, 3000],
  releaseRelease: [-800, 3000],
}

/** Compares each press with the range of the references. Masked keys count as one key, so their range is that of all presses. */
export function pressByPress(
  presses: readonly PressEvidence[],
  masked: boolean,
  references: readonly Sample[],
): readonly ComparedPress[] {
  const known = knownTimes(references)
  const name = (key: number | null) => (masked || key === null ? null : nameOf(key))
  return presses.map(({ evidence, first, second }) => {
    const compared = TIMES.flatMap((time) => {
      const one = evidence[time]
      return one === undefined ? [] : [[time, comparedTime(one, known.get(idOf(time, first, second)) ?? [])] as const]
    })
    return {
      first: name(first),
      second: name(second),
      spokeFor: round(
        compared.reduce((sum, [, { spokeFor }]) => sum + spokeFor, 0),
        3,
      ),
      // Sound: the keys are TIMES.
      byTime: Object.fromEntries(compared) as ComparedPress['byTime'],
    }
  })
}

export const nameOf = (key: number): string => keyName(key) ?? 'other key'
/** Rounds for display. Avoids -0, which JSON does not preserve. */
export const round = (value: number, digits: number): number => Number(value.toFixed(digits)) + 0

/** A hold belongs to its key alone. */
const idOf = (time: Time, first: number | null, second: number): string =>
  time === 'hold' ? `hold ${second}` : `${time} ${first}>${second}`

/** The references' times by kind and key or key pair, ms. */
function knownTimes(references: readonly Sample[]): Map<string, number[]> {
  const known = new Map<string, number[]>()
  const note = (time: Time, first: number | null, second: number, ms: number) => {
    const [low, high] = BOUNDS[time]
    const id = idOf(time, first, second)
    const times = known.get(id) ?? []
    known.set(id, times)
    times.push(Math.min(Math.max(ms, low), high))
  }
  for (const { presses } of references)
    for (const [i, { key, pressMs, releaseMs }] of presses.entries()) {
      note('hold', null, key, releaseMs - pressMs)
      const before = presses[i - 1]
      if (before === undefined) continue
      note('pressPress', before.key, key, pressMs - before.pressMs)
      note('releasePress', before.key, key, pressMs - before.releaseMs)
      note('releaseRelease', before.key, key, releaseMs - before.releaseMs)
    }
  return known
}

function comparedTime({ spokeFor, expectedMs, observedMs }: TimeEvidence, times: readonly number[]): ComparedTime {
  const n = times.length
  const mean = times.reduce((sum, ms) => sum + ms, 0) / n
  const squares = times.reduce((sum, ms) => sum + (ms - mean) ** 2, 0)
  return {
    spokeFor: round(spokeFor, 3),
    expectedMs: round(expectedMs, 1),
    observedMs: round(observedMs, 1),
    n,
    meanMs: n === 0 ? null : round(mean, 1),
    deviationMs: n < 2 ? null : round(Math.sqrt(squares / (n - 1)), 1),
    lowestMs: n === 0 ? null : round(Math.min(...times), 1),
    highestMs: n === 0 ? null : round(Math.max(...times), 1),
  }
}
