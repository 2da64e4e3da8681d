import { type Interval, intervalOf, type PersonScores } from './metrics.js'
import { seededRandom } from './random.js'

/** Out-of-fold scores of comparisons, with the metadata for calibration. */
interface ScoredRows {
  readonly scores: Float64Array
  readonly labels: Uint8Array
  readonly weights: Float32Array
  /** A number for each source of people. */
  readonly sources: Uint8Array
  /** The numbers of a row that shift an impostor's score (`assembly/compare.ts`). */
  readonly conditions: (row: number) => readonly number[]
}

export interface Confidence {
  readonly slope: number
  readonly intercept: number
  readonly conditions: readonly number[]
  /** Share of genuine attempts at which the confidence is a calibrated probability. */
  readonly prior: number
}

/**
 * The logistic curve from score to confidence. At 0.5, at most `share` of the impostors of each source score above, under every condition:
 * that threshold is linear in the conditions and fitted by quantile regression (Koenker and Bassett, 1978) with a
 * smoothed step. The slope is Platt's (1999) for even prior odds, relative to that threshold. The shift to the threshold is
 * equivalent to a prior, so confidence stays a probability at that share of genuine attempts.
 */
export function fitConfidence(rows: ScoredRows, share: number): Confidence {
  const impostors = Array.from(rows.scores.keys()).filter((row) => rows.labels[row] === 0)
  const line = lineForEverySource(rows, impostors, share)
  const above = rows.scores.map((score, row) => score - dot(line, [1, ...rows.conditions(row)]))
  const { slope, intercept } = plattScale(above, rows.labels, rows.weights)
  return {
    slope,
    intercept: -slope * (line[0] ?? 0),
    conditions: line.slice(1).map((weight) => -slope * weight),
    prior: 1 / (1 + Math.exp(intercept)),
  }
}

const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0)
const logistic = (x: number): number => 1 / (1 + Math.exp(-x))

/** Fits of the threshold, each with up to three times more weight on sources of which the one before let too many impostors pass. No measurement behind it. */
const SOURCE_ROUNDS = 8

/**
 * The threshold above which at most `share` of the impostors of each source score. Its conditions take up what they can of the
 * differences between the sources; the rest raises the threshold for all.
 */
function lineForEverySource(rows: ScoredRows, impostors: readonly number[], share: number): number[] {
  const bySource = new Map<number, number[]>()
  impostors.forEach((row, i) => {
    const source = rows.sources[row] ?? 0
    const own = bySource.get(source) ?? []
    bySource.set(source, own)
    own.push(i)
  })
  const weights = impostors.map((row) => rows.weights[row] ?? 0)
  const conditions = impostors.map((row) => rows.conditions(row))
  const scores = impostors.map((row) => rows.scores[row] ?? 0)
  let line: number[] = []
  let rests: number[] = []
  for (let round = 0; round < SOURCE_ROUNDS; round++) {
    line = thresholdLine({ scores, weights, conditions }, share)
    rests = scores.map((score, i) => score - dot(line, [1, ...(conditions[i] ?? [])]))
    for (const own of bySource.values()) {
      const above = own.filter((i) => (rests[i] ?? 0) > 0).length / own.length
      const factor = Math.min(3, Math.max(1, above / share))
      for (const i of own) weights[i] = factor * (weights[i] ?? 0)
    }
  }
  const raise = Math.max(
    ...Array.from(bySource.values(), (own) => {
      const left = own.map((i) => rests[i] ?? 0)
      return quantileAbove(
        left,
        left.map(() => 1),
        share,
      )
    }),
  )
  return [(line[0] ?? 0) + raise, ...line.slice(1)]
}

/** Width of the smoothed step, by round. */
const STEP_WIDTHS = [1.5, 1.5, 1, 1, 1, 1, 0.7, 0.7, 0.5, 0.5, 0.35, 0.35, 0.25, 0.25, 0.25]

interface Impostors {
  readonly scores: readonly number[]
  readonly weights: readonly number[]
  readonly conditions: readonly (readonly number[])[]
}

/** Newton's method on the smoothed loss, whose step gets steeper each round; then the exact intercept. */
function thresholdLine({ scores, weights, conditions }: Impostors, share: number): number[] {
  const inputs = conditions.map((row) => [1, ...row])
  const size = inputs[0]?.length ?? 1
  let line = Array.from({ length: size }, (_, i) => (i === 0 ? quantileAbove(scores, weights, share) : 0))
  for (const width of STEP_WIDTHS) {
    const gradient = line.map(() => 0)
    const hessian: number[][] = gradient.map((_, i) => gradient.map((__, j) => (i === j ? 1e-3 : 0)))
    inputs.forEach((x, i) => {
      const p = logistic(((scores[i] ?? 0) - dot(line, x)) / width)
      const weight = weights[i] ?? 0
      const curve = (weight * p * (1 - p)) / width
      for (let a = 0; a < size; a++) {
        gradient[a] = (gradient[a] ?? 0) + weight * (p - share) * (x[a] ?? 0)
        const row = hessian[a] ?? []
        for (let b = 0; b < size; b++) row[b] = (row[b] ?? 0) + curve * (x[a] ?? 0) * (x[b] ?? 0)
      }
    })
    const step = solve(hessian, gradient)
    // A step of more than one logit leaves the region where the curvature is valid.
    const scale = Math.min(1, 1 / Math.max(...step.map(Math.abs)))
    line = line.map((value, i) => value + scale * (step[i] ?? 0))
  }
  const left = inputs.map((x, i) => (scores[i] ?? 0) - dot(line, x))
  return [(line[0] ?? 0) + quantileAbove(left, weights, share), ...line.slice(1)]
}

/** The value with `share` of the weight above it. */
function quantileAbove(values: readonly number[], weights: readonly number[], share: number): number {
  const order = Array.from(values.keys()).sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0))
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  let above = 0
  for (const i of order) {
    above += weights[i] ?? 0
    if (above > share * all) return values[i] ?? 0
  }
  return 0
}

/** Gauss-Jordan elimination with pivots. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const m = matrix.map((row, i) => [...row, right[i] ?? 0])
  for (let column = 0; column < m.length; column++) {
    const pivot = m.reduce(
      (best, row, i) => (i >= column && Math.abs(row[column] ?? 0) > Math.abs(m[best]?.[column] ?? 0) ? i : best),
      column,
    )
    const [a, b] = [m[column] ?? [], m[pivot] ?? []]
    m[column] = b
    m[pivot] = a
    for (const [i, row] of m.entries()) {
      if (i === column) continue
      const factor = (row[column] ?? 0) / (b[column] ?? 1)
      for (let j = column; j < row.length; j++) row[j] = (row[j] ?? 0) - factor * (b[j] ?? 0)
    }
  }
  return m.map((row, i) => (row[m.length] ?? 0) / (row[i] ?? 1))
}

/** Logistic regression on one score, with equal total weight of both classes, by Newton's method; a step without gain is halved. */
export function plattScale(
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  weights: ArrayLike<number>,
): { slope: number; intercept: number } {
  const totals = [0, 0]
  for (let i = 0; i < scores.length; i++) totals[labels[i] ?? 0] = (totals[labels[i] ?? 0] ?? 0) + (weights[i] ?? 0)
  const shares = Float64Array.from(
    { length: scores.length },
    (_, i) => (weights[i] ?? 0) / (totals[labels[i] ?? 0] || 1),
  )
  const lossAt = (slope: number, intercept: number): number =>
    shares.reduce((loss, share, i) => {
      const x = (labels[i] === 1 ? -1 : 1) * (slope * (scores[i] ?? 0) + intercept)
      return loss + share * (Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))))
    }, 0)
  let [slope, intercept] = [1, 0]
  let loss = lossAt(slope, intercept)
  for (let round = 0; round < 30; round++) {
    const [down, along] = newtonStep({ scores, labels, shares }, slope, intercept)
    let part = 1
    while (part > 1e-6 && !(lossAt(slope - part * down, intercept - part * along) < loss)) part /= 2
    if (part <= 1e-6) break
    slope -= part * down
    intercept -= part * along
    loss = lossAt(slope, intercept)
  }
  return { slope, intercept }
}

function newtonStep(
  {
    scores,
    labels,
    shares,
  }: Readonly<Record<'scores' | 'labels', ArrayLike<number>>> & { readonly shares: Float64Array },
  slope: number,
  intercept: number,
): [slope: number, intercept: number] {
  let [ga, gb, haa, hab, hbb] = [0, 0, 1e-9, 0, 1e-9]
  shares.forEach((share, i) => {
    const score = scores[i] ?? 0
    const p = logistic(slope * score + intercept)
    const [error, weight] = [(p - (labels[i] ?? 0)) * share, p * (1 - p) * share]
    ga += error * score
    gb += error
    haa += weight * score * score
    hab += weight * score
    hbb += weight
  })
  const determinant = haa * hbb - hab * hab
  return [(hbb * ga - hab * gb) / determinant, (haa * gb - hab * ga) / determinant]
}

/** Shares of impostors at or above, and of genuine probes below, a confidence. */
export function errorsAt(
  threshold: number,
  people: readonly PersonScores[],
): { readonly fmr: number; readonly fnmr: number } {
  const impostor = people.flatMap((person) => person.impostor)
  const genuine = people.flatMap((person) => person.genuine)
  return {
    fmr: impostor.filter((score) => score >= threshold).length / impostor.length,
    fnmr: genuine.filter((score) => score < threshold).length / genuine.length,
  }
}

/** 95 % intervals of `errorsAt`, by drawing people with replacement (Efron's percentile bootstrap), with a seed. */
export function errorIntervals(
  threshold: number,
  people: readonly PersonScores[],
  draws: number,
  seed: number,
): { readonly fmr: Interval; readonly fnmr: Interval } {
  const counts = people.map(({ genuine, impostor }) => ({
    matches: impostor.filter((score) => score >= threshold).length,
    impostors: impostor.length,
    nonMatches: genuine.filter((score) => score < threshold).length,
    genuine: genuine.length,
  }))
  const random = seededRandom(seed)
  const drawn = Array.from({ length: draws }, () => {
    const sum = { matches: 0, impostors: 0, nonMatches: 0, genuine: 0 }
    for (let n = 0; n < counts.length; n++) {
      const one = counts[Math.floor(random() * counts.length)]
      for (const key of ['matches', 'impostors', 'nonMatches', 'genuine'] as const) sum[key] += one?.[key] ?? 0
    }
    return { fmr: sum.matches / sum.impostors, fnmr: sum.nonMatches / sum.genuine }
  })
  const interval = (of: 'fmr' | 'fnmr') => intervalOf(drawn.map((errors) => errors[of]))
  return { fmr: interval('fmr'), fnmr: interval('fnmr') }
}
