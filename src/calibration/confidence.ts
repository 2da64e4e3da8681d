import { type ScoredRows, weightsOf } from './comparisons.js'
import { type Interval, intervalOf, type PersonScores } from './metrics.js'
import { seededRandom } from './random.js'

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
  const weights = weightsOf(rows.sources)
  const all = Uint32Array.from(rows.scores.keys())
  const line = lineForEverySource(
    rows,
    weights,
    all.filter((row) => rows.labels[row] === 0),
    share,
  )
  const above = restsOf(rows.scores, inputsOf(rows, all), line)
  const { slope, intercept } = plattScale(above, rows.labels, weights)
  return {
    slope,
    intercept: -slope * (line[0] ?? 0),
    conditions: line.slice(1).map((weight) => -slope * weight),
    prior: 1 / (1 + Math.exp(intercept)),
  }
}

const logistic = (x: number): number => 1 / (1 + Math.exp(-x))

/** Fits of the threshold, each with up to three times more weight on sources of which the one before let too many impostors pass. No measurement behind it. */
const SOURCE_ROUNDS = 8

/**
 * The threshold above which at most `share` of the impostors of each source score. Its conditions take up what they can of the
 * differences between the sources; the rest raises the threshold for all.
 */
function lineForEverySource(
  rows: ScoredRows,
  rowWeights: Float32Array,
  impostors: Uint32Array,
  share: number,
): number[] {
  const bySource = new Map<number, number[]>()
  impostors.forEach((row, i) => {
    const source = rows.sources[row] ?? 0
    const own = bySource.get(source) ?? []
    bySource.set(source, own)
    own.push(i)
  })
  const weights = Float64Array.from(impostors, (row) => rowWeights[row] ?? 0)
  const inputs = inputsOf(rows, impostors)
  const scores = Float64Array.from(impostors, (row) => rows.scores[row] ?? 0)
  let line: number[] = []
  let rests: Float64Array = new Float64Array()
  for (let round = 0; round < SOURCE_ROUNDS; round++) {
    line = thresholdLine({ scores, weights, inputs }, share)
    rests = restsOf(scores, inputs, line)
    for (const own of bySource.values()) {
      const above = own.filter((i) => (rests[i] ?? 0) > 0).length / own.length
      const factor = Math.min(3, Math.max(1, above / share))
      for (const i of own) weights[i] = factor * (weights[i] ?? 0)
    }
  }
  const raise = Math.max(
    ...Array.from(bySource.values(), (own) => {
      const left = Float64Array.from(own, (i) => rests[i] ?? 0)
      return quantileAbove(left, new Float64Array(left.length).fill(1), share)
    }),
  )
  return [(line[0] ?? 0) + raise, ...line.slice(1)]
}

/** Width of the smoothed step, by round. */
const STEP_WIDTHS = [1.5, 1.5, 1, 1, 1, 1, 0.7, 0.7, 0.5, 0.5, 0.35, 0.35, 0.25, 0.25, 0.25]

interface Impostors {
  readonly scores: Float64Array
  readonly weights: Float64Array
  /** A row of 1 and the conditions for each impostor. */
  readonly inputs: Float64Array
}

function inputsOf({ scores, conditions }: ScoredRows, rows: Uint32Array): Float64Array {
  const width = conditions.length / scores.length
  const inputs = new Float64Array(rows.length * (width + 1)).fill(1)
  rows.forEach((row, i) => {
    inputs.set(conditions.subarray(row * width, (row + 1) * width), i * (width + 1) + 1)
  })
  return inputs
}

/** Product of a line and the row of inputs from `at`. */
function lineAt(line: readonly number[], inputs: Float64Array, at: number): number {
  let sum = 0
  for (let a = 0; a < line.length; a++) sum += (line[a] ?? 0) * (inputs[at + a] ?? 0)
  return sum
}

const restsOf = (scores: Float64Array, inputs: Float64Array, line: readonly number[]): Float64Array =>
  scores.map((score, i) => score - lineAt(line, inputs, i * line.length))

/** Newton's method on the smoothed loss, whose step gets steeper each round; then the exact intercept. */
function thresholdLine({ scores, weights, inputs }: Impostors, share: number): number[] {
  const size = inputs.length / scores.length
  let line = Array.from({ length: size }, (_, i) => (i === 0 ? quantileAbove(scores, weights, share) : 0))
  for (const width of STEP_WIDTHS) {
    const step = newtonStepOfLine(line, { scores, weights, inputs }, { share, width })
    // A step of more than one logit leaves the region where the curvature is valid.
    const scale = Math.min(1, 1 / Math.max(...step.map(Math.abs)))
    line = line.map((value, i) => value + scale * (step[i] ?? 0))
  }
  return [(line[0] ?? 0) + quantileAbove(restsOf(scores, inputs, line), weights, share), ...line.slice(1)]
}

/** A step of Newton's method; `width` is that of the smoothed step of the loss. */
function newtonStepOfLine(
  line: readonly number[],
  { scores, weights, inputs }: Impostors,
  { share, width }: { readonly share: number; readonly width: number },
): number[] {
  const size = line.length
  const gradient = new Float64Array(size)
  /** Its upper half. */
  const hessian = new Float64Array(size * size)
  for (let a = 0; a < size; a++) hessian[a * size + a] = 1e-3
  for (let i = 0; i < scores.length; i++) {
    const at = i * size
    const p = logistic(((scores[i] ?? 0) - lineAt(line, inputs, at)) / width)
    const weight = weights[i] ?? 0
    const curve = (weight * p * (1 - p)) / width
    for (let a = 0; a < size; a++) {
      const x = inputs[at + a] ?? 0
      gradient[a] = (gradient[a] ?? 0) + weight * (p - share) * x
      for (let b = a; b < size; b++)
        hessian[a * size + b] = (hessian[a * size + b] ?? 0) + curve * x * (inputs[at + b] ?? 0)
    }
  }
  const whole = line.map((_, a) => line.map((__, b) => hessian[Math.min(a, b) * size + Math.max(a, b)] ?? 0))
  return solve(whole, Array.from(gradient))
}

/** The value with `share` of the weight above it. */
function quantileAbove(values: Float64Array, weights: Float64Array, share: number): number {
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
