/**
 * The contribution of each press of the probe, for people to read. EXPLAINED holds four rows of four lanes (kinds of time) for each press:
 *
 * | row | holds                                                                                                  |
 * |-----|--------------------------------------------------------------------------------------------------------|
 * | 0   | log likelihood ratio of user against population, as `measure` sums it: above 0 it favours the user      |
 * | 1   | expected time, ms                                                                                      |
 * | 2   | observed time, ms, clamped to the bounds of features.ts                                                 |
 * | 3   | occurrences in the references: of the key for the hold, of the pair for the rest                        |
 *
 * `explain` reads the template of the last `enroll` and changes nothing that a score depends on.
 */
import { EXPLAINED, RAW, countOf, f32At, keyAt, lanesAt, lanesOf, pairContextAt, row, setF32 } from './layout'
import { logLanes, scaled } from './lanes'
import { Component, holdContext, populationInverseSd, populationMean, variances } from './model'
import { expected, expectedVariance, timesSeen } from './template'

/** The cap of measure.ts on the contribution of one event. */
const CAP: f32 = 9
/** Where the signed log of features.ts changes from linear to logarithmic, ms. */
const TURN: f32 = 30

function explained(press: i32, which: i32): usize {
  return EXPLAINED + (<usize>(press * 4 + which) << 4)
}

/** Converts a value from the scale of its kind (log, or signed log for the two kinds that can be negative) to milliseconds. */
function milliseconds(kind: i32, value: f32): f32 {
  return kind < 2 ? Mathf.exp(value) : copysign<f32>(TURN * (Mathf.exp(abs(value)) - 1), value)
}

/** Fills EXPLAINED for slot 0 against the template. Returns the number of presses explained. */
export function explain(): i32 {
  const n = countOf(0)
  const session = variances(Component.session)
  const total = variances(Component.total)
  const cap = f32x4.splat(CAP)
  for (let i = 0; i < n; i++) {
    const lanes = lanesOf(i)
    const z = v128.load(lanesAt(0, i))
    const mu = expected(0, i)
    const variance = f32x4.add(expectedVariance(0, i), session)
    const d = f32x4.sub(z, mu)
    const population = f32x4.add(f32x4.min(f32x4.div(f32x4.mul(z, z), total), cap), logLanes(total))
    const user = f32x4.add(f32x4.min(f32x4.div(f32x4.mul(d, d), variance), cap), logLanes(variance))
    v128.store(explained(i, 0), f32x4.mul(scaled(f32x4.sub(population, user), 0.5), lanes))
    v128.store(explained(i, 1), mu)
    v128.store(explained(i, 2), f32x4.splat(0))
    v128.store(explained(i, 3), f32x4.mul(timesSeen(0, i), lanes))
    for (let kind = 0; kind < 4; kind++) times(i, kind)
  }
  return n
}

/** Converts one lane of rows 1 and 2 to ms; a first press has only a hold. */
function times(press: i32, kind: i32): void {
  if (press == 0 && kind > 0) {
    setF32(explained(press, 1), kind, 0)
    return
  }
  const context = kind == 0 ? holdContext(keyAt(0, press)) : pairContextAt(0, press)
  const usual = populationMean(kind, context) + f32At(explained(press, 1), kind) / populationInverseSd(kind, context)
  setF32(explained(press, 1), kind, milliseconds(kind, usual))
  setF32(explained(press, 2), kind, milliseconds(kind, f32At(row(RAW, 0, kind), kind == 0 ? press : press - 1)))
}
