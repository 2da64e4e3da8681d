/**
 * Writes the comparison of the probe with the template, the input of the fusion: the conditions; STATS; STATS relative to the
 * references' baseline; the template's means; the differences of the summaries in within-person deviations, their distance
 * outside the references' range, the probe's distance from the population, and the spread of the references. The last rows
 * of STATS and the conditions of the references alone are at the end.
 */
import { FEATURES, FEATURES_MAX, SUMMARY_SIZE, countOf, f32At, setF32 } from './layout'
import { SHARED, linkProbe, linkReferences } from './alignment'
import { coarsenessOf } from './clock-tick'
import { meanEmbedding } from './embedding'
import { sumLanes } from './lanes'
import { OFFSET_RATIO, OFFSET_RATIO_PER_EVENT, stat } from './measure'
import { Curve, Sitting, curveAt, summaryScales } from './model'
import { packMeans, unpackMeans } from './packed-means'
import { Baseline, STAT_ROWS, measureAll, measureBaseline, baseline } from './reference-baseline'
import { BACKSPACES, PAUSES, summaryOf } from './summary'
import { TemplateRow, buildTemplate, templateAt } from './template'
import { prepareVectors, sumVectors } from './two-covariance'

let at: i32 = 0

function put(value: f32): void {
  assert(at < FEATURES_MAX)
  setF32(FEATURES, at, value)
  at++
}

function putLanes(value: v128): void {
  assert(at + 4 <= FEATURES_MAX)
  v128.store(FEATURES + (<usize>at << 2), value)
  at += 4
}

/** Builds the template of slots 1 to `references` and their baseline. */
export function enroll(references: i32): void {
  linkReferences(references)
  measureBaseline(references)
  sumVectors(references)
  meanEmbedding(references)
  packMeans(references)
  prepareVectors(references)
  buildTemplate(references, 0)
}

/** Like `enroll`, after PREPARED has been restored: the baseline and the means are not computed again. */
export function enrollKept(references: i32): void {
  unpackMeans(references)
  linkReferences(references)
  prepareVectors(references)
  buildTemplate(references, 0)
}

/** Fills FEATURES from slot 0 and the template of slots 1 to `references`. Returns the number of features. */
export function compare(references: i32): i32 {
  at = 0
  linkProbe(references)
  measureAll(0, references)
  putConditions(references)
  for (let i = 0; i < FIRST_ROWS; i++) putStat(i)
  putLanes(templateAt(TemplateRow.mean))
  put(sumLanes(stat(OFFSET_RATIO)))
  put(sumLanes(stat(OFFSET_RATIO_PER_EVENT)))
  compareSummaries(references)
  put(f32x4.extract_lane(templateAt(TemplateRow.events), 0))
  for (let i = FIRST_ROWS; i < STAT_ROWS; i++) putStat(i)
  putTrailingConditions(references)
  return at
}

/** Rows of STATS at the start of FEATURES. */
const FIRST_ROWS: i32 = 28

/** Puts a row of STATS, and relative to the references' baseline. */
function putStat(i: i32): void {
  putLanes(stat(i))
  putLanes(f32x4.sub(stat(i), baseline(i, Baseline.mean)))
  putLanes(f32x4.sub(stat(i), baseline(i, Baseline.least)))
  putLanes(f32x4.sub(stat(i), baseline(i, Baseline.most)))
}

/** Numbers at the start of FEATURES, and at its end, that shift an impostor's score. */
const CONDITIONS: i32 = 12
const TRAILING_CONDITIONS: i32 = 3

/** Sum of the conditions of the last `compare`, weighted by a sitting's curve. */
export function weightedConditions(sitting: Sitting): f64 {
  let sum: f64 = 0
  for (let i = 0; i < CONDITIONS; i++) sum += curveAt(sitting, Curve.conditions + i) * <f64>f32At(FEATURES, i)
  for (let i = 0; i < TRAILING_CONDITIONS; i++) sum += curveAt(sitting, Curve.conditions + CONDITIONS + i) * <f64>f32At(FEATURES, at - TRAILING_CONDITIONS + i)
  return sum
}

/**
 * Puts the conditions: length, number of references, shares of the presses that one and two references have; how far the
 * references are from the population and how widely they are spread, a lane per kind of time.
 */
function putConditions(references: i32): void {
  const shared = stat(SHARED)
  put(Mathf.log(<f32>countOf(0) / 50))
  put(Mathf.log(<f32>references / 5))
  put(f32x4.extract_lane(shared, 0))
  put(f32x4.extract_lane(shared, 1))
  putLanes(f32x4.abs(templateAt(TemplateRow.mean)))
  putLanes(templateAt(TemplateRow.deviation))
}

/** Puts the conditions of the references alone: coarseness of their clock, mean shares of pauses and of Backspace. */
function putTrailingConditions(references: i32): void {
  put(coarsenessOf(references))
  put(meanSummary(PAUSES, references))
  put(meanSummary(BACKSPACES, references))
}

function meanSummary(i: i32, references: i32): f32 {
  let sum: f32 = 0
  for (let slot = 1; slot <= references; slot++) sum += f32At(summaryOf(slot), i)
  return sum / <f32>references
}

/** Leading summaries whose spread over the references measures how regular this person is: the ten quantiles and roll-over. */
const SPREAD_SUMMARIES: i32 = 11

function compareSummaries(references: i32): void {
  const probe = summaryOf(0)
  const n = <f32>references
  for (let i = 0; i < SUMMARY_SIZE; i++) {
    let sum: f32 = 0, squares: f32 = 0
    let low: f32 = f32At(summaryOf(1), i)
    let high = low
    for (let slot = 1; slot <= references; slot++) {
      const value = f32At(summaryOf(slot), i)
      sum += value
      squares += value * value
      low = min(low, value)
      high = max(high, value)
    }
    const mean = sum / n
    const value = f32At(probe, i)
    const perDeviation = f32At(summaryScales, i)
    put((value - mean) * perDeviation)
    put(abs(value - mean) * perDeviation)
    put(max<f32>(0, max(value - high, low - value)) * perDeviation)
    put((value - f32At(summaryScales, SUMMARY_SIZE + i)) * f32At(summaryScales, 2 * SUMMARY_SIZE + i))
    if (i < SPREAD_SUMMARIES) put(sqrt<f32>(max<f32>(squares / n - mean * mean, 0)) * perDeviation)
  }
}
