import { type Columns, effectAt, FIRST, PLACES, SECOND, seenAt } from './effects.js'
import { FIRST_KEY, KINDS, type Model, PAIR, RESIDUAL, SECOND_KEY, SESSION, TOTAL, USER, varianceOf } from './model.js'
import { COMPARED_MAX, type Pattern } from './pattern.js'
import { logSeries } from './single.js'

const { fround } = Math

/** Cap of the squared deviation of one time. */
const CAP = 9
const CORRELATION_FLOOR = fround(1e-9)

const expectedAt = new Float32Array(COMPARED_MAX)
const varianceAt = new Float32Array(COMPARED_MAX)

/** Fills rows 0 to 16 of `stats`, one kind of time a lane: the probe against the effects that `placeEffects` wrote. */
export function measure(model: Model, probe: Pattern, columns: Columns, stats: Float32Array): void {
  for (let kind = 0; kind < KINDS; kind++) measureKind(model, probe, columns, kind, stats)
}

/** Remaining variance of an effect after `times` observations with this noise. */
const left = (product: number, variance: number, noise: number, times: number): number =>
  fround(product / fround(fround(times * variance) + noise))

/** Fills `expectedAt` and `varianceAt`. */
function expect(model: Model, { n, keys, contexts }: Pattern, columns: Columns, kind: number): void {
  const row = kind * PLACES
  const residual = varianceOf(model, kind, RESIDUAL)
  const pair = varianceOf(model, kind, PAIR)
  const first = varianceOf(model, kind, FIRST_KEY)
  const second = varianceOf(model, kind, SECOND_KEY)
  const noise = fround(residual + pair)
  const firstNoise = fround(noise + second)
  const secondNoise = fround(noise + first)
  const ofPair = fround(pair * residual)
  const ofFirst = fround(first * firstNoise)
  const ofSecond = fround(second * secondNoise)
  const offset = columns.offset[kind] ?? 0
  const fixed = fround(residual + (columns.offsetVariance[kind] ?? 0))
  for (let i = kind === 0 ? 0 : 1; i < n; i++) {
    const atPair = row + (contexts[i] ?? 0)
    const atFirst = row + FIRST + (i === 0 ? 0 : (keys[i - 1] ?? 0))
    const atSecond = row + SECOND + (keys[i] ?? 0)
    const byKeys = fround((effectAt[atFirst] ?? 0) + (effectAt[atSecond] ?? 0))
    expectedAt[i] = fround(offset + byKeys) + (effectAt[atPair] ?? 0)
    const leftOfPair = left(ofPair, pair, residual, seenAt[atPair] ?? 0)
    const leftOfFirst = left(ofFirst, first, firstNoise, seenAt[atFirst] ?? 0)
    const leftOfSecond = left(ofSecond, second, secondNoise, seenAt[atSecond] ?? 0)
    varianceAt[i] = fround(fixed + leftOfPair) + fround(leftOfFirst + leftOfSecond)
  }
}

/** Log likelihood gained by integrating out an offset of this prior variance, given the weighted sum and the weights. */
function integrated(weighted: number, weight: number, variance: number): number {
  const spread = fround(1 + fround(variance * weight))
  const squares = fround(fround(fround(weighted * weighted) * variance) / spread)
  return fround(fround(squares - logSeries(spread)) * 0.5)
}

function measureKind(model: Model, probe: Pattern, columns: Columns, kind: number, stats: Float32Array): void {
  expect(model, probe, columns, kind)
  const { n, stride, z, keys, contexts } = probe
  const from = kind === 0 ? 0 : 1
  const row = kind * stride
  const count = Math.max(n - from, 1)
  let zSum = 0
  let zSquares = 0
  let expectedSum = 0
  for (let i = from; i < n; i++) {
    const value = z[row + i] ?? 0
    zSum = fround(zSum + value)
    zSquares = fround(zSquares + fround(value * value))
    expectedSum = fround(expectedSum + (expectedAt[i] ?? 0))
  }
  const mean = fround(zSum / count)
  const expectedMean = fround(expectedSum / count)
  const session = varianceOf(model, kind, SESSION)
  const total = varianceOf(model, kind, TOTAL)
  const user = varianceOf(model, kind, USER)
  const alone = fround(fround(total - user) - session)
  const logTotal = logSeries(total)
  const logAlone = logSeries(alone)
  let all = 0
  let distances = 0
  let cappedDistances = 0
  let known = 0
  let knownAll = 0
  let knownDistance = 0
  let centredAll = 0
  let centredDistance = 0
  let ab = 0
  let aa = 0
  let bb = 0
  let weight = 0
  let weighted = 0
  let joint = 0
  let late = 0
  let early = 0
  let near = 0
  for (let i = from; i < n; i++) {
    const value = z[row + i] ?? 0
    const mu = expectedAt[i] ?? 0
    const own = varianceAt[i] ?? 0
    const variance = fround(own + session)
    const d = fround(value - mu)
    const dAbs = Math.abs(d)
    const logOwn = logSeries(own)
    const outside = fround(Math.min(CAP, fround(fround(value * value) / total)) + logTotal)
    const inside = fround(Math.min(CAP, fround(fround(d * d) / variance)) + logSeries(variance))
    const ratio = fround(fround(outside - inside) * 0.5)
    const distance = fround(dAbs / fround(Math.sqrt(variance)))
    all = fround(all + ratio)
    distances = fround(distances + distance)
    if (distance > 2) {
      cappedDistances = fround(cappedDistances + 2)
      if (d > 0) late++
      else early++
    } else {
      cappedDistances = fround(cappedDistances + distance)
      if (distance < 0.5) near++
    }
    const times = kind === 0 ? seenAt[SECOND + (keys[i] ?? 0)] : seenAt[kind * PLACES + (contexts[i] ?? 0)]
    if ((times ?? 0) > 0) {
      known++
      knownAll = fround(knownAll + ratio)
      knownDistance = fround(knownDistance + dAbs)
    }
    const a = fround(mu - expectedMean)
    const b = fround(value - mean)
    const c = fround(b - a)
    const b2 = fround(b * b)
    ab = fround(ab + fround(a * b))
    aa = fround(aa + fround(a * a))
    bb = fround(bb + b2)
    centredDistance = fround(centredDistance + Math.abs(c))
    const centredOutside = fround(Math.min(CAP, fround(b2 / alone)) + logAlone)
    const centredInside = fround(Math.min(CAP, fround(fround(c * c) / own)) + logOwn)
    centredAll = fround(centredAll + fround(fround(centredOutside - centredInside) * 0.5))
    const dCapped = d > 4 ? 4 : d < -4 ? -4 : d
    const precision = fround(1 / own)
    weight = fround(weight + precision)
    weighted = fround(weighted + fround(dCapped * precision))
    const bend = fround(fround(fround(dCapped * dCapped) * precision) + logOwn)
    joint = fround(joint - fround(bend * 0.5))
  }
  joint = fround(joint + integrated(weighted, weight, session))
  const plain = fround(fround(fround(zSquares / alone) + fround(count * logAlone)) * 0.5)
  const offsets = integrated(fround(zSum / alone), fround(count / alone), fround(user + session))
  const gained = fround(joint - fround(offsets - plain))
  const spread = fround(fround(zSquares / count) - fround(mean * mean))
  const deviation = fround(Math.sqrt(Math.max(0, spread)))
  const knownOrOne = Math.max(known, 1)
  const set = (stat: number, value: number) => {
    stats[stat * KINDS + kind] = value
  }
  set(0, all / count)
  set(1, distances / count)
  set(2, cappedDistances / count)
  set(3, knownDistance / knownOrOne)
  set(4, knownAll / knownOrOne)
  set(5, known / count)
  set(6, Math.abs(mean - (columns.mean[kind] ?? 0)))
  set(7, Math.abs(deviation - (columns.deviation[kind] ?? 0)))
  set(8, ab / fround(Math.sqrt(fround(fround(aa * bb) + CORRELATION_FLOOR))))
  set(9, centredDistance / count)
  set(10, centredAll / count)
  set(11, gained)
  set(12, mean - expectedMean)
  set(13, late / count)
  set(14, early / count)
  set(15, near / count)
  set(16, gained / count)
}
