import type { Kernel } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import type { Subject } from './dataset.js'
import { FEATURE_KINDS } from './model-file.js'

/** Letters and Space: the keys of suggested words. */
export const PAIR_KEYS = 27
const LETTERS = 26
const SPACE = 37
const PRESSES_MAX = 64
/**
 * Weight of the mean of all pairs, as a number of people: with that many people the spread of one pair's ratio equals the
 * spread of the ratios over frequent pairs.
 */
const PRIOR_PEOPLE = 30

/** One kind of time of one key pair, over people who typed it twice or more. */
interface Sums {
  people: number
  events: number
  /** Sum over people of squared event counts. */
  squaredEvents: number
  within: number
  /** Sums over people of n x mean, and of n x mean squared. */
  total: number
  between: number
}

/** The statistics of a key pair. */
export interface PairFigures {
  /** Places of the two keys: 0 to 25 the letters, 26 Space. */
  readonly first: number
  readonly second: number
  /** People who typed the pair twice or more. */
  readonly people: number
  /** Between-person over within-person variance of hold, press-press, release-press, release-release; shrunk to the mean. */
  readonly ratios: readonly number[]
  /** Information about the typist in one typing of the pair, nats: the sum of half ln(1 + ratio). */
  readonly nats: number
}

/**
 * How well each pair of letters and Space separates these people: one-way analysis of variance of its four times (the
 * hold is that of the second key), as normalised by the kernel, over everybody who typed the pair twice. Rare pairs are shrunk
 * to the mean of all. Returns 27 x 27 pairs, by first key, then second. Source: Searle, Casella and McCulloch (1992), chapter 3.
 */
export function pairFigures(kernel: Kernel, people: readonly Subject[]): PairFigures[] {
  const sums = Array.from({ length: PAIR_KEYS * PAIR_KEYS * FEATURE_KINDS }, () => ({
    people: 0,
    events: 0,
    squaredEvents: 0,
    within: 0,
    total: 0,
    between: 0,
  }))
  for (const person of people) addPerson(sums, timesByPair(kernel, person))
  const variances = sums.map(componentsOf)
  const means = Array.from({ length: FEATURE_KINDS }, (_, kind) => pooled(sums, variances, kind))
  return Array.from({ length: PAIR_KEYS * PAIR_KEYS }, (_, pair) => {
    const ratios = means.map((mean, kind) => {
      const [own, of] = [sums[pair * FEATURE_KINDS + kind], variances[pair * FEATURE_KINDS + kind]]
      const n = own?.people ?? 0
      const between = n * (of?.between ?? 0) + PRIOR_PEOPLE * mean.between
      return Math.max(0, between) / (n * (of?.within ?? 0) + PRIOR_PEOPLE * mean.within)
    })
    return {
      first: Math.floor(pair / PAIR_KEYS),
      second: pair % PAIR_KEYS,
      people: sums[pair * FEATURE_KINDS]?.people ?? 0,
      ratios,
      nats: ratios.reduce((sum, ratio) => sum + Math.log1p(ratio) / 2, 0),
    }
  })
}

const placeOf = (key: number): number => (key === SPACE ? LETTERS : key >= 1 && key <= LETTERS ? key - 1 : -1)

/** Normalised times of one person by pair and kind. */
function timesByPair(kernel: Kernel, { sessions }: Subject): Map<number, number[]> {
  const times = new Map<number, number[]>()
  for (const session of sessions.values()) {
    const presses = session.slice(0, PRESSES_MAX)
    kernel.read(0, encodeSample(presses, 'visible'))
    const rows = Array.from({ length: FEATURE_KINDS }, (_, kind) => kernel.row('z', 0, kind))
    for (let i = 1; i < presses.length; i++) {
      const [first, second] = [placeOf(presses[i - 1]?.key ?? 0), placeOf(presses[i]?.key ?? 0)]
      if (first < 0 || second < 0) continue
      rows.forEach((row, kind) => {
        const at = (first * PAIR_KEYS + second) * FEATURE_KINDS + kind
        const of = times.get(at) ?? []
        times.set(at, of)
        of.push(row[kind === 0 ? i : i - 1] ?? 0)
      })
    }
  }
  return times
}

function addPerson(sums: readonly Sums[], times: ReadonlyMap<number, readonly number[]>): void {
  for (const [at, of] of times) {
    const into = sums[at]
    const n = of.length
    if (into === undefined || n < 2) continue
    const mean = of.reduce((sum, time) => sum + time, 0) / n
    into.people += 1
    into.events += n
    into.squaredEvents += n * n
    into.within += of.reduce((sum, time) => sum + (time - mean) ** 2, 0)
    into.total += n * mean
    into.between += n * mean * mean
  }
}

/** Between and within variance by the moments of the unbalanced one-way layout; 0 with fewer than two people. */
function componentsOf({ people, events, squaredEvents, within, total, between }: Sums) {
  if (people < 2) return { between: 0, within: 0 }
  const withinVariance = within / (events - people)
  const size = (events - squaredEvents / events) / (people - 1)
  const betweenMean = (between - (total * total) / events) / (people - 1)
  return { between: (betweenMean - withinVariance) / size, within: withinVariance }
}

/** The mean of all pairs, weighted by the people who typed each. */
function pooled(sums: readonly Sums[], variances: readonly { between: number; within: number }[], kind: number) {
  let [people, between, within] = [0, 0, 0]
  for (let at = kind; at < sums.length; at += FEATURE_KINDS) {
    const n = sums[at]?.people ?? 0
    people += n
    between += n * (variances[at]?.between ?? 0)
    within += n * (variances[at]?.within ?? 0)
  }
  return { between: between / Math.max(people, 1), within: within / Math.max(people, 1) }
}
