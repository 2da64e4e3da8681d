import type { PressEvidence, Time, TimeEvidence } from './explained-press.js'

interface PairInputs {
  readonly pair: string
  /** Name of the second key; null if keys are masked. */
  readonly key: string | null
  readonly seen: number | null
  readonly spokeFor: number
  readonly presses: readonly PressEvidence[]
}

/** A difference below this, or below a tenth of the usual time, counts as none: timers are inexact by some ms. */
const AS_USUAL_MS = 8
const AS_USUAL_SHARE = 0.1

/** All kinds but release to release, which people cannot interpret. */
const SHOWN_TIMES: readonly Time[] = ['hold', 'pressPress', 'releasePress']

/**
 * One sentence about a key pair: the time that contributes most in the direction of the pair's sum.
 * `th: 38 ms faster than usual (usual 118 ms, here 80 ms, seen 6 times)`.
 */
export function pairWords({ pair, key, seen, spokeFor, presses }: PairInputs): string {
  const strongest = presses
    .flatMap(({ evidence }) =>
      SHOWN_TIMES.flatMap((time): [Time, TimeEvidence][] => (evidence[time] ? [[time, evidence[time]]] : [])),
    )
    .reduce((a, b) => (Math.sign(spokeFor) * (b[1].spokeFor - a[1].spokeFor) > 0 ? b : a))
  const [time, { expectedMs, observedMs }] = strongest
  const expected = Math.round(expectedMs)
  const observed = Math.round(observedMs)
  const difference = observed - expected
  const small = Math.abs(difference) < Math.max(AS_USUAL_MS, AS_USUAL_SHARE * Math.abs(expected))
  const manner = small ? asUsual(time, key) : differs(time, key, difference)
  const figures = [`usual ${expected} ms`, `here ${observed} ms`, ...known(seen)]
  return `${pair}: ${manner}${verdictOn(small, spokeFor)} (${figures.join(', ')})`
}

function asUsual(time: Time, key: string | null): string {
  if (time === 'hold') return `${key ?? 'the key'} held as long as usual`
  return time === 'pressPress' ? 'as fast as usual' : 'gap between the keys as usual'
}

function differs(time: Time, key: string | null, difference: number): string {
  const ms = `${Math.abs(difference)} ms`
  if (time === 'hold') return `${key ?? 'the key'} held ${ms} ${difference > 0 ? 'longer' : 'shorter'} than usual`
  if (time === 'pressPress') return `${ms} ${difference > 0 ? 'slower' : 'faster'} than usual`
  return `gap between the keys ${ms} ${difference > 0 ? 'longer' : 'shorter'} than usual`
}

/** Explains a difference that seems to contradict the direction of the pair. */
function verdictOn(small: boolean, spokeFor: number): string {
  if (small && spokeFor < 0) return ', but so for most people'
  return !small && spokeFor > 0 ? ', but closer to this person than to others' : ''
}

function known(seen: number | null): string[] {
  if (seen === null) return []
  if (seen === 0) return ['never enrolled, expected from other keys']
  return [`seen ${seen === 1 ? 'once' : `${seen} times`}`]
}
