import { align, SHARED } from './alignment.js'
import { clear, placeEffects } from './effects.js'
import { measure } from './measure.js'
import { CONDITIONS, KINDS, MODELS, type Model, SUMMARY_SIZE, VECTOR_SIZE } from './model.js'
import type { Pattern } from './pattern.js'
import { log32 } from './single.js'
import { STAT_ROWS, type Template } from './template.js'
import { axesFor, compareVectors, project } from './two-covariance.js'

const { fround } = Math

const FEATURES = 768
const SPREAD_SUMMARIES = 11
/** Rows of the two-covariance models and of the summaries. */
const VECTORS = 25
const SUMMARIES = 27

const stats = new Float32Array(STAT_ROWS * KINDS)
const features = new Float32Array(FEATURES)
const projected = Array.from({ length: MODELS }, () => new Float32Array(VECTOR_SIZE))

/** Computes the input of the fusion trees for probes and templates; a view that the next call overwrites. */
export function comparer(model: Model): (probe: Pattern, vector: Float32Array, template: Template) => Float32Array {
  const { twoCovariances } = model
  // Indexed by the number of patterns in the comparison.
  const axes: ReturnType<typeof axesFor>[][] = []
  return (probe, vector, template) => {
    const others = template.references.length
    placeEffects(template.effects)
    measure(model, probe, template.effects.columns, stats)
    clear(template.effects)
    align(model, probe, template, stats)
    const prepared = axes[others] ?? twoCovariances.map((each) => axesFor(each, others))
    axes[others] = prepared
    for (let m = 0; m < MODELS; m++) {
      const [of, by, to, sums] = [twoCovariances[m], prepared[m], projected[m], template.sums[m]]
      if (!of || !by || !to || !sums) break
      project(of, vector, to)
      compareVectors(of, by, to, sums, others, stats, (VECTORS + m) * KINDS)
    }
    compareSummaries(model, vector, template)
    return assemble(model, probe, vector, template)
  }
}

/** Mean distance of the summaries in within-person deviations: all, holds, flights, outside the range. */
function compareSummaries({ summary: scales }: Model, vector: Float32Array, { summaries }: Template): void {
  let all = 0
  let holds = 0
  let flights = 0
  let outside = 0
  for (let i = 0; i < SUMMARY_SIZE; i++) {
    const value = vector[i] ?? 0
    const scale = scales[i] ?? 0
    const distance = Math.min(3, fround(Math.abs(fround(value - (summaries.mean[i] ?? 0))) * scale))
    all = fround(all + distance)
    if (i < 5) holds = fround(holds + distance)
    else if (i < 10) flights = fround(flights + distance)
    outside = fround(outside + Math.min(3, outsideRange(value, summaries, i, scale)))
  }
  const to = SUMMARIES * KINDS
  stats[to] = all / SUMMARY_SIZE
  stats[to + 1] = holds / 5
  stats[to + 2] = flights / 5
  stats[to + 3] = outside / SUMMARY_SIZE
}

const outsideRange = (value: number, { least, most }: Template['summaries'], i: number, scale: number): number =>
  fround(Math.max(0, fround(value - (most[i] ?? 0)), fround((least[i] ?? 0) - value)) * scale)

const sumOfKinds = (stat: number): number => {
  const at = stat * KINDS
  const two = fround((stats[at] ?? 0) + (stats[at + 1] ?? 0))
  return fround(two + (stats[at + 2] ?? 0)) + (stats[at + 3] ?? 0)
}

/** Writes the features in the order of the fit. */
function assemble(
  { summary: scales }: Model,
  { n }: Pattern,
  vector: Float32Array,
  { references, effects, own, summaries }: Template,
): Float32Array {
  features[0] = log32(fround(n / 50))
  features[1] = log32(fround(references.length / 5))
  features[2] = stats[SHARED * KINDS] ?? 0
  features[3] = stats[SHARED * KINDS + 1] ?? 0
  for (let kind = 0; kind < KINDS; kind++) {
    features[4 + kind] = Math.abs(effects.columns.mean[kind] ?? 0)
    features[8 + kind] = effects.columns.deviation[kind] ?? 0
  }
  let at = CONDITIONS
  for (let row = 0; row < STAT_ROWS; row++) {
    const level = row * 3 * KINDS
    for (let kind = 0; kind < KINDS; kind++, at++) {
      const value = stats[row * KINDS + kind] ?? 0
      features[at] = value
      features[at + KINDS] = value - (own[level + kind] ?? 0)
      features[at + 2 * KINDS] = value - (own[level + KINDS + kind] ?? 0)
      features[at + 3 * KINDS] = value - (own[level + 2 * KINDS + kind] ?? 0)
    }
    at += 3 * KINDS
  }
  for (let kind = 0; kind < KINDS; kind++) features[at++] = effects.columns.mean[kind] ?? 0
  features[at++] = sumOfKinds(11)
  features[at++] = sumOfKinds(16)
  for (let i = 0; i < SUMMARY_SIZE; i++) {
    const value = vector[i] ?? 0
    const scale = scales[i] ?? 0
    const above = fround(value - (summaries.mean[i] ?? 0))
    features[at++] = above * scale
    features[at++] = Math.abs(above) * scale
    features[at++] = outsideRange(value, summaries, i, scale)
    features[at++] = fround(value - (scales[SUMMARY_SIZE + i] ?? 0)) * (scales[2 * SUMMARY_SIZE + i] ?? 0)
    if (i < SPREAD_SUMMARIES) features[at++] = (summaries.deviation[i] ?? 0) * scale
  }
  features[at] = effects.columns.events[0] ?? 0
  return features
}
