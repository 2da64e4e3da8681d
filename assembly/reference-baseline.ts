/**
 * The baseline for the probe: how similar the references are to one another, each measured against the rest. A person who types
 * in an unusual way (with one hand, for example) is far from the population in every comparison, so the person's own baseline
 * defines what is far. Source of the idea: score normalisation by the target's own scores, here without a cohort.
 */
import { BASELINE, SUMMARY_SIZE, f32At } from './layout'
import { align } from './alignment'
import { compareEmbedding } from './embedding'
import { measure, setStat, stat } from './measure'
import { summaryScales } from './model'
import { summaryOf } from './summary'
import { buildTemplate } from './template'
import { compareVectors, prepareVectors } from './two-covariance'

/** Number of rows of STATS. */
export const STAT_ROWS: i32 = 30

export const enum Baseline { mean = 0, least = 1, most = 2 }

export function baseline(which: i32, part: Baseline): v128 {
  return v128.load(BASELINE + (<usize>(which * 3 + part) << 4))
}

function setBaseline(which: i32, part: Baseline, value: v128): void {
  v128.store(BASELINE + (<usize>(which * 3 + part) << 4), value)
}

/** Fills all of STATS: `slot` against the template and the references except itself. */
export function measureAll(slot: i32, references: i32): void {
  measure(slot)
  align(slot, references)
  setStat(25, compareVectors(0, slot, references))
  setStat(26, compareVectors(1, slot, references))
  setStat(27, summaryDistance(slot, references))
  setStat(28, compareVectors(2, slot, references))
  setStat(29, compareEmbedding(slot, references))
}

/** Fills BASELINE from slots 1 to `references`; all 0 with one reference, because there is no other to compare it with. */
export function measureBaseline(references: i32): void {
  if (references < 2) {
    memory.fill(BASELINE, 0, <usize>(STAT_ROWS * 3) << 4)
    return
  }
  prepareVectors(references - 1)
  for (let slot = 1; slot <= references; slot++) {
    buildTemplate(references, slot)
    measureAll(slot, references)
    for (let i = 0; i < STAT_ROWS; i++) {
      const value = stat(i)
      setBaseline(i, Baseline.mean, slot == 1 ? value : f32x4.add(baseline(i, Baseline.mean), value))
      setBaseline(i, Baseline.least, slot == 1 ? value : f32x4.min(baseline(i, Baseline.least), value))
      setBaseline(i, Baseline.most, slot == 1 ? value : f32x4.max(baseline(i, Baseline.most), value))
    }
  }
  for (let i = 0; i < STAT_ROWS; i++) {
    setBaseline(i, Baseline.mean, f32x4.div(baseline(i, Baseline.mean), f32x4.splat(<f32>references)))
  }
}

/** Mean distance of the summaries in within-person deviations, capped at three: all, holds, flights, outside the range. */
function summaryDistance(slot: i32, references: i32): v128 {
  let all: f32 = 0, holds: f32 = 0, flights: f32 = 0, outside: f32 = 0
  for (let i = 0; i < SUMMARY_SIZE; i++) {
    let sum: f32 = 0, others: f32 = 0
    let low: f32 = Infinity
    let high: f32 = -Infinity
    for (let reference = 1; reference <= references; reference++) {
      if (reference == slot) continue
      const value = f32At(summaryOf(reference), i)
      sum += value
      others += 1
      low = min(low, value)
      high = max(high, value)
    }
    const value = f32At(summaryOf(slot), i)
    const perDeviation = f32At(summaryScales, i)
    const distance = min<f32>(3, abs(value - sum / max<f32>(others, 1)) * perDeviation)
    all += distance
    if (i < 5) holds += distance
    else if (i < 10) flights += distance
    outside += min<f32>(3, max<f32>(0, max(value - high, low - value)) * perDeviation)
  }
  const size = <f32>SUMMARY_SIZE
  return f32x4(all / size, holds / 5, flights / 5, outside / size)
}
