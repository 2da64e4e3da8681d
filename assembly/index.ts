/**
 * Entry points of the scoring core. The host writes a model to MODEL and samples to SAMPLES, then calls `score`. RESULT holds
 *
 * | f64 | holds                                                                                       |
 * |-----|---------------------------------------------------------------------------------------------|
 * | 0   | calibrated probability that the owner of the references typed the probe; -1 without references |
 * | 1   | bot likelihood, 0 to 1; above 0.5 the probe counts as a bot                                 |
 * | 2   | mean absolute timing difference to the nearest reference, ms; infinity if none is comparable |
 * | 3   | logit of that probability, which keeps its digits near 0 and 1; 0 without references        |
 * | 4   | liveness score before calibration                                                           |
 *
 * `scan` reads a request body from BODY into the sample of slot 0. The host fills the key table with `nameKey` before. `mark` hashes the
 * times that `scan` found, to detect replays. `copies` compares sketches, to detect copies. `readOne`, `enroll`, `compare`,
 * `examineProbe` and the three tree sums are single steps of `score`, for calibration and tests.
 */
import { REFERENCES_MAX, RESULT } from './layout'
import { copies as searchCopies } from './copies'
import { Calibration, Curve, Sitting, SynthesisCurve, calibrated, curveAt, synthesisCurveAt, synthesisTrees } from './model'
import { readSample } from './features'
import { summarize } from './summary'
import { embed } from './embedding'
import { project } from './two-covariance'
import { compare, enroll, enrollKept, weightedConditions } from './compare'
import { examineHabits } from './forgery'
import { certainlyMachine, examine } from './liveness'
import { nearestReplay } from './near-replay'
import { keptHabits, restoreTemplate } from './profile-template'
import { examineSynthesis, listConfirmed } from './synthesis'
import { logistic, sumFusion, sumLiveness, sumLoneLiveness, sumSynthesis } from './trees'

export {
  BODY, BODY_BYTES_MAX, COMPARED_MAX, COPIED, EXPLAINED, FEATURES, KEYS_MAX, KEYS_OF_KEY_CODES, KNOWN_SKETCHES, KNOWN_SKETCHES_MAX, LAYOUT_VERSION, LIVENESS, MARK, MODEL,
  MODEL_BYTES_MAX, OWN_SHARES, PREPARED, PROBE_SKETCH, RAW, REFERENCES_MAX, RESULT, SAMPLES, SAMPLE_BYTES, SCANNED, SUMMARY, SUMMARY_SIZE, SUMMARY_STRIDE, SYNTHESIS, TIMES, VECTOR,
  VECTOR_SIZE, VECTOR_STRIDE, Z,
} from './layout'
export { loadModel } from './model'
export { enroll } from './compare'
export { compare } from './compare'
export { explain } from './explain'
export { nearestReplay } from './near-replay'
export { nameKey } from './key-identity'
export { mark } from './replay-mark'
export { keepTemplate } from './profile-template'
export { scan } from './scan'
export { sumFusion, sumLiveness, sumLoneLiveness } from './trees'

/** Reads a slot's sample into features, summary and vector. Returns the number of presses compared. */
export function readOne(slot: i32): i32 {
  const compared = readSample(slot)
  summarize(slot)
  embed(slot)
  project(slot, slot)
  return compared
}

/** Scores slot 0, typed in this `sitting`, against slots 1 to `references` (0 to 16) into RESULT. */
export function score(references: i32, sitting: Sitting): void {
  assert(references >= 0 && references <= REFERENCES_MAX)
  for (let slot = 0; slot <= references; slot++) {
    readSample(slot)
    summarize(slot)
    embed(slot)
  }
  project(0, references)
  scoreRead(references, sitting)
}

/** Like `score`, for slots that `readOne` has already read. */
export function scoreRead(references: i32, sitting: Sitting): void {
  examineHabits(references, references)
  if (references > 0) enroll(references)
  judge(references, sitting)
}

/** Like `score`, with the references that an earlier `keepTemplate` wrote to PREPARED. */
export function scoreKept(sitting: Sitting): void {
  const references = restoreTemplate()
  const habits = keptHabits()
  for (let slot = 1; slot <= references; slot++) {
    readSample(slot)
    if (!habits) summarize(slot)
  }
  readOne(0)
  examineHabits(references, habits ? 0 : references)
  enrollKept(references)
  judge(references, sitting)
}

/** References of the last score. */
let judged: i32 = 0

function judge(references: i32, sitting: Sitting): void {
  judged = references
  const liveness = livenessOf(0, references)
  store<f64>(RESULT, certainlyMachine() ? 1 : machineLikelihood(liveness, references), 8)
  store<f64>(RESULT, liveness, 32)
  store<f64>(RESULT, nearestReplay(references), 16)
  store<f64>(RESULT, -1)
  store<f64>(RESULT, 0, 24)
  if (references == 0) return
  compare(references)
  const trees = curveAt(sitting, Curve.fusionBase) + sumFusion(sitting)
  const logit = curveAt(sitting, Curve.slope) * trees + curveAt(sitting, Curve.intercept) + weightedConditions(sitting)
  store<f64>(RESULT, logistic(logit))
  store<f64>(RESULT, logit, 24)
}

/** Computes the bot signs of slot 0 against slots 1 to `references`, for calibration. Returns their number. */
export function examineProbe(references: i32): i32 {
  examineHabits(references, references)
  return examine(0, references)
}

/** Sum of the liveness trees. With fewer than two references there is no baseline, and a separate ensemble uses signs within the pattern. */
function livenessOf(slot: i32, references: i32): f64 {
  examine(slot, references)
  if (references < 2) return calibrated(Calibration.loneIntercept) + sumLoneLiveness()
  return calibrated(Calibration.livenessBase) + sumLiveness()
}

/**
 * Bot likelihood, with an allowance for people who type unlike the population of the fit. The allowance is as much as the most
 * unusual of their references needs when it is measured against the others. It is computed only where it can change the verdict,
 * so a likelihood below 0.5 is only a rank.
 */
function machineLikelihood(liveness: f64, references: i32): f64 {
  if (references < 2) return logistic(liveness)
  const logit = calibratedLiveness(liveness)
  const most = calibrated(Calibration.largestAllowance)
  if (logit <= 0 || most <= 0) return logistic(logit)
  let own = -Infinity
  for (let slot = 1; slot <= references; slot++) own = max(own, livenessOf(slot, references))
  const ownLogit = calibratedLiveness(own)
  return logistic(logit - max<f64>(0, min(most, ownLogit + most)))
}

function calibratedLiveness(liveness: f64): f64 {
  return calibrated(Calibration.livenessSlope) * liveness + calibrated(Calibration.livenessIntercept)
}

/** Compares PROBE_SKETCH with the sketches in the first `bytes` bytes of KNOWN_SKETCHES into COPIED. */
export function copies(bytes: i32): void {
  searchCopies(bytes)
  listConfirmed(bytes)
}

/**
 * Fills SYNTHESIS of a slot of the last score against the confirmed patterns of the last `copies`. Returns the number of
 * signs, 0 with too few patterns or references.
 */
export function examineKnown(slot: i32): i32 {
  return judged < 2 ? 0 : examineSynthesis(slot, examine(slot, judged))
}

/** Likelihood, 0 to 1, that slot 0 of the last score was drawn from a forger's knowledge of the patterns of the last `copies`. */
export function synthesized(): f64 {
  if (synthesisTrees == 0) return 0
  const logit = synthesisOf(0)
  const most = synthesisCurveAt(SynthesisCurve.largestAllowance)
  if (logit <= 0 || most <= 0) return logistic(logit)
  let own = -Infinity
  for (let slot = 1; slot <= judged; slot++) own = max(own, synthesisOf(slot))
  return logistic(logit - max<f64>(0, min(most, own + most)))
}

/** Logit of a slot's synthesis likelihood; -Infinity if there are too few patterns or references. */
function synthesisOf(slot: i32): f64 {
  if (examineKnown(slot) == 0) return -Infinity
  return synthesisCurveAt(SynthesisCurve.base) + sumSynthesis() + synthesisCurveAt(SynthesisCurve.intercept)
}
