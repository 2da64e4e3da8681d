import { type Random, seededRandom } from './random.js'

/** Scores of one person's profile: probes of the person and of others; a higher score means more similar. */
export interface PersonScores {
  readonly genuine: readonly number[]
  readonly impostor: readonly number[]
}

export interface Figures {
  readonly global_eer: number
  readonly per_user_eer: number
  readonly fnmr_at_1pct: number
  readonly fnmr_at_01pct: number
  readonly people: number
}

/** Points of a DET curve: shares of false matches and of false non-matches, by descending threshold. */
interface ErrorCurve {
  readonly fmr: Float64Array
  readonly fnmr: Float64Array
  readonly threshold: Float64Array
}

/** The curve at every distinct score. */
export function errorCurve(genuine: ArrayLike<number>, impostor: ArrayLike<number>): ErrorCurve {
  const g = Float64Array.from(genuine).sort().reverse()
  const i = Float64Array.from(impostor).sort().reverse()
  const threshold = Float64Array.from(new Set([...g, ...i]))
    .sort()
    .reverse()
  const fmr = new Float64Array(threshold.length)
  const fnmr = new Float64Array(threshold.length)
  let [passed, falsely] = [0, 0]
  threshold.forEach((limit, at) => {
    while (passed < g.length && (g[passed] as number) >= limit) passed++
    while (falsely < i.length && (i[falsely] as number) >= limit) falsely++
    fmr[at] = falsely / i.length
    fnmr[at] = 1 - passed / g.length
  })
  return { fmr, fnmr, threshold }
}

const descending = (scores: ArrayLike<number>): Float64Array => Float64Array.from(scores).sort().reverse()

/** The rate at which false matches and false non-matches are equal (ISO/IEC 19795-1): the mean at the nearest point. */
export function equalErrorRate(genuine: ArrayLike<number>, impostor: ArrayLike<number>): number {
  return equalErrorOf(descending(genuine), descending(impostor))
}

/** `equalErrorRate` of scores in descending order, in one pass over the thresholds. */
function equalErrorOf(g: Float64Array, i: Float64Array): number {
  let [passed, falsely, gap, rate] = [0, 0, Number.POSITIVE_INFINITY, 1]
  while (passed < g.length || falsely < i.length) {
    const limit = Math.max(g[passed] ?? Number.NEGATIVE_INFINITY, i[falsely] ?? Number.NEGATIVE_INFINITY)
    while (passed < g.length && (g[passed] as number) >= limit) passed++
    while (falsely < i.length && (i[falsely] as number) >= limit) falsely++
    const [fmr, fnmr] = [falsely / i.length, 1 - passed / g.length]
    if (Math.abs(fmr - fnmr) >= gap) break
    gap = Math.abs(fmr - fnmr)
    rate = (fmr + fnmr) / 2
  }
  return rate
}

/** The threshold with `share` of the scores above it. */
export function thresholdAt(impostor: ArrayLike<number>, share: number): number {
  return thresholdOf(descending(impostor), share)
}

const thresholdOf = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0

const missed = (genuine: Float64Array, threshold: number): number =>
  genuine.reduce((count, score) => (score <= threshold ? count + 1 : count), 0) / genuine.length

/** Global EER (one threshold for all), mean per-user EER, and false non-matches at 1 % and 0.1 % false matches. */
export function figuresOf(people: readonly PersonScores[], perUserEers?: readonly number[]): Figures {
  const genuine = descending(people.flatMap((person) => person.genuine))
  const impostor = descending(people.flatMap((person) => person.impostor))
  const eers = perUserEers ?? people.map((person) => equalErrorRate(person.genuine, person.impostor))
  return {
    global_eer: equalErrorOf(genuine, impostor),
    per_user_eer: eers.reduce((sum, eer) => sum + eer, 0) / eers.length,
    fnmr_at_1pct: missed(genuine, thresholdOf(impostor, 0.01)),
    fnmr_at_01pct: missed(genuine, thresholdOf(impostor, 0.001)),
    people: people.length,
  }
}

export type Intervals = Readonly<Record<Exclude<keyof Figures, 'people'>, Interval>>

export type Interval = readonly [low: number, high: number]

/** The 95 % interval of the values of a bootstrap. */
export function intervalOf(drawn: readonly number[]): Interval {
  const [sorted, n] = [drawn.toSorted((a, b) => a - b), drawn.length]
  return [sorted[Math.floor(0.025 * n)] ?? 0, sorted[Math.min(n - 1, Math.floor(0.975 * n))] ?? 0]
}

/** 95 % intervals by drawing people with replacement (Efron's percentile bootstrap), with a seed. */
export function bootstrapIntervals(people: readonly PersonScores[], draws: number, seed: number): Intervals {
  const random: Random = seededRandom(seed)
  const eers = people.map((person) => equalErrorRate(person.genuine, person.impostor))
  const drawn = Array.from({ length: draws }, () => {
    const chosen = people.map(() => Math.floor(random() * people.length))
    return figuresOf(
      chosen.map((i) => people[i] as PersonScores), // i is below the length
      chosen.map((i) => eers[i] as number),
    )
  })
  const interval = (key: keyof Intervals) => intervalOf(drawn.map((figures) => figures[key]))
  return {
    global_eer: interval('global_eer'),
    per_user_eer: interval('per_user_eer'),
    fnmr_at_1pct: interval('fnmr_at_1pct'),
    fnmr_at_01pct: interval('fnmr_at_01pct'),
  }
}

/**
 * Expected calibration error over ten bins of probability, with genuine and impostor probes weighted so that `prior` of all
 * attempts are genuine. Source: Naeini, Cooper and Hauskrecht (2015).
 */
export function calibrationError(people: readonly PersonScores[], prior: number): number {
  const genuine = people.flatMap((person) => person.genuine)
  const impostor = people.flatMap((person) => person.impostor)
  const bins = Array.from({ length: 10 }, () => ({ weight: 0, said: 0, was: 0 }))
  const add = (scores: readonly number[], weight: number, was: number) => {
    for (const score of scores) {
      const bin = bins[Math.min(9, Math.floor(score * 10))]
      if (bin === undefined) continue
      bin.weight += weight
      bin.said += weight * score
      bin.was += weight * was
    }
  }
  add(genuine, prior / genuine.length, 1)
  add(impostor, (1 - prior) / impostor.length, 0)
  return bins.reduce((sum, { said, was }) => sum + Math.abs(said - was), 0)
}

/** The mean; 0 of an empty list. */
export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1)
