/**
 * The probe against the template, in numbers for the fusion. Per feature kind: log likelihood ratios of user against
 * population (all events, seen pairs only, session offset integrated out, both means removed), scaled distances,
 * correlation with what was expected, differences of mean and spread; then the differences of the summaries in
 * within-person deviations, how far they lie outside the references' range, how typical user and probe are, and the
 * two-covariance model. Source of the shape: the first try in the project's design notes, ported and extended.
 */
import { COMPARED_MAX, FEATURES, FEATURES_MAX, FEATURE_KINDS, SCRATCH, SUMMARY_SIZE, Z, countOf, eventsOf, f32At, row, setF32 } from './layout'
import { Component, component, summaryScales } from './model'
import { deviationOf, meanOf } from './statistics'
import { summaryOf } from './summary'
import { Column, expected, expectedVariance, templateAt, timesSeen } from './template'
import { compareVectors } from './two-covariance'

let at: i32 = 0
let jointAll: f32 = 0
let plainAll: f32 = 0

function put(value: f32): void {
  assert(at < FEATURES_MAX)
  setF32(FEATURES, at, value)
  at++
}

const EXPECTED: usize = SCRATCH
const VARIANCE: usize = SCRATCH + <usize>(COMPARED_MAX << 2)

/** Nine: three standard deviations end what one event can say, so that a slip is no proof of an impostor. */
const CAP: f32 = 9

/** Fills FEATURES from slot 0 and the template of slots 1 to `references`; how many it wrote. */
export function compare(references: i32): i32 {
  at = 0
  jointAll = 0
  plainAll = 0
  for (let kind = 0; kind < FEATURE_KINDS; kind++) compareKind(kind)
  put(jointAll)
  put(plainAll)
  for (let kind = 0; kind < FEATURE_KINDS; kind++) {
    put(templateAt(kind, Column.mean))
    put(templateAt(kind, Column.deviation))
  }
  compareSummaries(references)
  at = compareVectors(references, at)
  put(<f32>countOf(0))
  put(templateAt(0, Column.events))
  return at
}

function compareKind(kind: i32): void {
  const n = eventsOf(0, kind)
  const z = row(Z, 0, kind)
  let expectedSum: f32 = 0
  for (let i = 0; i < n; i++) {
    const value = expected(kind, 0, i)
    expectedSum += value
    setF32(EXPECTED, i, value)
    setF32(VARIANCE, i, expectedVariance(kind, 0, i))
  }
  const count = max<f32>(<f32>n, 1)
  const mean = meanOf(z, n)
  const deviation = deviationOf(z, n, mean)
  const expectedMean = expectedSum / count
  const session = component(kind, Component.session)
  const total = component(kind, Component.total)
  const logTotal = Mathf.log(total)
  const user = component(kind, Component.user)
  const alone = total - user - session
  let all: f32 = 0, scaled: f32 = 0, capped: f32 = 0, seen: f32 = 0, seenAll: f32 = 0, seenDistance: f32 = 0
  let centredAll: f32 = 0, centredDistance: f32 = 0, ab: f32 = 0, aa: f32 = 0, bb: f32 = 0
  let weight: f32 = 0, weighted: f32 = 0, joint: f32 = 0, zSquares: f32 = 0, logs: f32 = 0
  for (let i = 0; i < n; i++) {
    const value = f32At(z, i)
    const mu = f32At(EXPECTED, i)
    const own = f32At(VARIANCE, i)
    const variance = own + session
    const d = value - mu
    const logOwn = Mathf.log(own)
    const ratio = <f32>0.5 * (min(value * value / total, CAP) + logTotal - min(d * d / variance, CAP) - Mathf.log(variance))
    const distance = abs(d) / sqrt<f32>(variance)
    all += ratio
    scaled += distance
    capped += min<f32>(distance, 2)
    if (timesSeen(kind, 0, i) > 0) {
      seen += 1
      seenAll += ratio
      seenDistance += abs(d)
    }
    const a = mu - expectedMean
    const b = value - mean
    ab += a * b
    aa += a * a
    bb += b * b
    centredDistance += abs(b - a)
    centredAll += <f32>0.5 * (min(b * b / alone, CAP) + Mathf.log(alone) - min((b - a) * (b - a) / own, CAP) - logOwn)
    const dc = max<f32>(-4, min<f32>(4, d))
    weight += 1 / own
    weighted += dc / own
    joint -= <f32>0.5 * (dc * dc / own + logOwn)
    zSquares += value * value
    logs += value
  }
  joint += integrated(weighted, weight, session)
  const h0 = -<f32>0.5 * (zSquares / alone + <f32>n * Mathf.log(alone)) + integrated(logs / alone, <f32>n / alone, user + session)
  put(all / count)
  put(scaled / count)
  put(capped / count)
  put(seenDistance / max<f32>(seen, 1))
  put(seenAll / max<f32>(seen, 1))
  put(seen / count)
  put(abs(mean - templateAt(kind, Column.mean)))
  put(abs(deviation - templateAt(kind, Column.deviation)))
  put(ab / sqrt<f32>(aa * bb + <f32>1e-9))
  put(centredDistance / count)
  put(centredAll / count)
  put(joint - h0)
  put(mean - expectedMean)
  jointAll += joint - h0
  plainAll += all
}

/** Log likelihood gained by integrating out an offset of this prior variance, given the weighted sum and the weights. */
function integrated(weighted: f32, weight: f32, variance: f32): f32 {
  return <f32>0.5 * (weighted * weighted * variance / (1 + variance * weight) - Mathf.log(1 + variance * weight))
}

/** Summaries whose spread over the references tells how even this person is: the ten quantiles and roll-over. */
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
