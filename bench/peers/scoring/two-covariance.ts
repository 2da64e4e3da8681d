import { type TwoCovariance, VECTOR_SIZE } from './model.js'
import { logSeries } from './single.js'

const { fround } = Math

const LANES = 4
/** Axes with feature sums of their own. */
const LEADING = 12
const MIDDLE = 40
const CAP = 6
const LEAST_NORM = fround(1e-9)

/** For each axis the shrinkage, the spread and the prior log ratio of a comparison with this many patterns. */
interface Axes {
  readonly shrink: Float32Array
  readonly variance: Float32Array
  readonly logRatio: Float32Array
}

/** Prepares comparisons with this many patterns. */
export function axesFor({ between, used }: TwoCovariance, others: number): Axes {
  const share = fround(1 / others)
  const shrink = between.map((variance) => variance / fround(variance + share))
  const variance = shrink.map((part, i) => 1 + fround((between[i] ?? 0) * fround(1 - part)))
  const logRatio = variance.map((spread, i) =>
    i < used ? logSeries(fround(fround(1 + (between[i] ?? 0)) / spread)) : 0,
  )
  return { shrink, variance, logRatio }
}

const centred = new Float64Array(VECTOR_SIZE)

/** Projects a pattern's vector on a model's axes. Four sums an axis, which are independent of one another. */
export function project(
  { mean, projection, used }: TwoCovariance,
  vector: Float32Array,
  projected: Float32Array,
): void {
  for (let i = 0; i < VECTOR_SIZE; i++) centred[i] = fround((vector[i] ?? 0) - (mean[i] ?? 0))
  for (let axis = 0; axis < used; axis++) {
    const row = axis * VECTOR_SIZE
    let a = 0
    let b = 0
    let c = 0
    let d = 0
    for (let i = 0; i < VECTOR_SIZE; i += LANES) {
      a = fround(a + fround((centred[i] ?? 0) * (projection[row + i] ?? 0)))
      b = fround(b + fround((centred[i + 1] ?? 0) * (projection[row + i + 1] ?? 0)))
      c = fround(c + fround((centred[i + 2] ?? 0) * (projection[row + i + 2] ?? 0)))
      d = fround(d + fround((centred[i + 3] ?? 0) * (projection[row + i + 3] ?? 0)))
    }
    projected[axis] = Math.max(-CAP, Math.min(CAP, fround(fround(fround(a + b) + c) + d)))
  }
}

/**
 * The log ratio of "one person" over "two" for a projected pattern and the sum of `others`: over all axes, the leading,
 * the middle; and a cosine. Writes to `stats` from `to`. Four sums of everything, as in `project`.
 */
export function compareVectors(
  { between, used }: TwoCovariance,
  { shrink, variance, logRatio }: Axes,
  probe: Float32Array,
  sums: Float32Array,
  others: number,
  stats: Float32Array,
  to: number,
): void {
  const share = fround(1 / others)
  let leadings = 0
  let middles = 0
  let rests = 0
  let dots = 0
  let owns = 0
  let theirs = 0
  for (let lane = 0; lane < LANES; lane++) {
    let leading = 0
    let middle = 0
    let rest = 0
    let dot = 0
    let own = 0
    let their = 0
    for (let i = lane; i < used; i += LANES) {
      const mean = fround((sums[i] ?? 0) * share)
      const x = probe[i] ?? 0
      const part = shrink[i] ?? 0
      const partOfMean = fround(part * mean)
      const d = fround(x - partOfMean)
      const whole = fround(1 + (between[i] ?? 0))
      const gain = fround(fround(fround(x * x) / whole) - fround(fround(d * d) / (variance[i] ?? 0)))
      const ratio = fround(0.5 * fround(gain + (logRatio[i] ?? 0)))
      if (i < LEADING) leading = fround(leading + ratio)
      else if (i < MIDDLE) middle = fround(middle + ratio)
      else rest = fround(rest + ratio)
      const shrunk = fround(part * x)
      dot = fround(dot + fround(shrunk * mean))
      own = fround(own + fround(shrunk * x))
      their = fround(their + fround(partOfMean * mean))
    }
    leadings = fround(leadings + leading)
    middles = fround(middles + middle)
    rests = fround(rests + rest)
    dots = fround(dots + dot)
    owns = fround(owns + own)
    theirs = fround(theirs + their)
  }
  const norm = fround(owns * theirs)
  stats[to] = fround(leadings + middles) + rests
  stats[to + 1] = leadings
  stats[to + 2] = middles
  stats[to + 3] = norm > LEAST_NORM ? dots / fround(Math.sqrt(norm)) : 0
}
