/**
 * The model file, which the kernel reads in place: little-endian, consecutive sections, each 4-byte aligned.
 *
 * | section        | shape                | holds                                                        |
 * |----------------|----------------------|--------------------------------------------------------------|
 * | header         | 16 x u32             | magic, version, contexts, trees, nodes, liveness trees, nodes, vector size, summary size, lone liveness trees, nodes, later trees, nodes, synthesis trees, nodes, hidden units of the embedding |
 * | hold contexts  | 128 x u16            | key to context                                               |
 * | pair contexts  | 128 x 128 x u16      | key pair to context after back-off: pair, second key, all    |
 * | means          | 4 x contexts x f32   | population mean per feature kind and context                 |
 * | inverse SDs    | 4 x contexts x f32   |                                                              |
 * | components     | 4 x 8 x f32          | variances: user, first key, second key, pair, session, residual, total, spare |
 * | summary        | 3 x 28 x f32         | 1 / within-person deviation, population mean, 1 / population deviation |
 * | two-covariance | 3 x (148 + 148 x 148 + 148) x f32 | mean, projection (row per axis), between-person variance per axis; varying text, same text, composed text |
 * | embedding      | 148, 148, h + 64 x f32; (h + 64) x 152 x i16; 64 x h, h + 64 x f32 | mean and 1 / deviation of the input; step of each row of input weights; these rows, of h hidden units and 64 outputs, with four zeros each; weights of the hidden units; offsets; absent without hidden units |
 * | calibration    | 41 x f32             | two curves of 18, of the same sitting and of a later one: fusion base, slope, intercept, fifteen weights of the conditions; then liveness base, slope, intercept, largest allowance for a person's own baseline, intercept of lone liveness |
 * | roots          | trees x u32          | first node of each fusion tree of the same sitting           |
 * | nodes          | nodes x 8 bytes      | f32 threshold or leaf value, i16 feature (-1 leaf), u16 left child from the root |
 * | later roots, nodes | the same         | fusion of a later sitting                                    |
 * | liveness roots, nodes | the same      | bot signs of a pattern with two references or more           |
 * | lone liveness roots, nodes | the same | bot signs of a pattern with one reference or none            |
 * | synthesis      | 3 x f32              | base, intercept, largest allowance; absent without synthesis trees |
 * | synthesis roots, nodes | the same     | bot signs and signs against the known patterns               |
 *
 * A tree goes right if the feature is above the threshold; the right child follows the left one.
 */
import {
  AXES_USED, CONTEXTS_MAX, EMBEDDING_SIZE, FEATURES, FEATURE_KINDS, KEY_KINDS, LIVENESS, MODEL, MODEL_BYTES_MAX, POPULATION, SUMMARY_SIZE, SYNTHESIS, VARIANCES, VECTOR_SIZE,
  f32At, setF32,
} from './layout'
import { packedEnd, packTrees } from './packed-trees'

const MAGIC: u32 = 0x314d534b // 'KSM1'
const VERSION: u32 = 5
const HEADER_BYTES: usize = 64
const CALIBRATION_BYTES: usize = 41 << 2
const SYNTHESIS_CURVE_BYTES: usize = 3 << 2
/** Two-covariance models: of people who transcribe different texts, of people who repeat their text, of people who compose it. */
export const MODELS: i32 = 3
/** Bytes of one two-covariance model. */
export const TWO_COVARIANCE_BYTES: usize = <usize>((VECTOR_SIZE + 2) * VECTOR_SIZE) << 2

let contexts: i32 = 0
let holdContexts: usize = 0
let pairContexts: usize = 0
export let means: usize = 0
export let inverseSds: usize = 0
let components: usize = 0
export let summaryScales: usize = 0
export let twoCovariances: usize = 0
export let embedding: usize = 0
/** 0 without an embedding. */
export let embeddingHidden: i32 = 0
let calibration: usize = 0
export let fusionRoots: usize = 0
export let fusionTrees: i32 = 0
export let fusionNodes: usize = 0
export let laterRoots: usize = 0
export let laterTrees: i32 = 0
export let laterNodes: usize = 0
export let livenessRoots: usize = 0
export let livenessTrees: i32 = 0
export let livenessNodes: usize = 0
export let loneRoots: usize = 0
export let loneTrees: i32 = 0
export let loneNodes: usize = 0
let synthesisCurve: usize = 0
export let synthesisRoots: usize = 0
export let synthesisTrees: i32 = 0
export let synthesisNodes: usize = 0
/** Addresses of the same trees in packed form; 0 if they are not packed. */
export let fusionPacked: usize = 0
export let laterPacked: usize = 0
export let livenessPacked: usize = 0
export let lonePacked: usize = 0
export let synthesisPacked: usize = 0
/** First free address of MODEL after the file and the trees packed so far. */
let room: usize = 0

/**
 * Loads the model that the host has written to MODEL, `bytes` long. Returns 0 if it is loaded, 1 if it is not a model, 2 if it has
 * another version or shape, 3 if its length differs from its header.
 */
export function loadModel(bytes: i32): i32 {
  if (bytes < <i32>HEADER_BYTES || bytes > MODEL_BYTES_MAX || load<u32>(MODEL) != MAGIC) return 1
  const nContexts = load<i32>(MODEL, 8)
  if (load<u32>(MODEL, 4) != VERSION || load<i32>(MODEL, 28) != VECTOR_SIZE || load<i32>(MODEL, 32) != SUMMARY_SIZE) return 2
  if (nContexts < 1 || nContexts > CONTEXTS_MAX) return 2
  contexts = nContexts
  fusionTrees = load<i32>(MODEL, 12)
  livenessTrees = load<i32>(MODEL, 20)
  loneTrees = load<i32>(MODEL, 36)
  laterTrees = load<i32>(MODEL, 44)
  holdContexts = MODEL + HEADER_BYTES
  pairContexts = holdContexts + (<usize>KEY_KINDS << 1)
  means = pairContexts + (<usize>(KEY_KINDS * KEY_KINDS) << 1)
  inverseSds = means + (<usize>(FEATURE_KINDS * contexts) << 2)
  components = inverseSds + (<usize>(FEATURE_KINDS * contexts) << 2)
  summaryScales = components + (<usize>(FEATURE_KINDS * 8) << 2)
  twoCovariances = summaryScales + (<usize>(3 * SUMMARY_SIZE) << 2)
  embedding = twoCovariances + <usize>MODELS * TWO_COVARIANCE_BYTES
  embeddingHidden = load<i32>(MODEL, 60)
  if (!canEmbed(embeddingHidden)) return 2
  calibration = embedding + embeddingBytes(embeddingHidden)
  fusionRoots = calibration + CALIBRATION_BYTES
  fusionNodes = fusionRoots + (<usize>fusionTrees << 2)
  laterRoots = fusionNodes + (<usize>load<i32>(MODEL, 16) << 3)
  laterNodes = laterRoots + (<usize>laterTrees << 2)
  livenessRoots = laterNodes + (<usize>load<i32>(MODEL, 48) << 3)
  livenessNodes = livenessRoots + (<usize>livenessTrees << 2)
  loneRoots = livenessNodes + (<usize>load<i32>(MODEL, 24) << 3)
  loneNodes = loneRoots + (<usize>loneTrees << 2)
  synthesisTrees = load<i32>(MODEL, 52)
  synthesisCurve = loneNodes + (<usize>load<i32>(MODEL, 40) << 3)
  synthesisRoots = synthesisCurve + (synthesisTrees > 0 ? SYNTHESIS_CURVE_BYTES : 0)
  synthesisNodes = synthesisRoots + (<usize>synthesisTrees << 2)
  const end = synthesisNodes + (<usize>load<i32>(MODEL, 56) << 3)
  if (end != MODEL + <usize>bytes) return 3
  for (let which = 0; which < 7; which++) {
    for (let kind = 0; kind < FEATURE_KINDS; kind++) setF32(VARIANCES, 4 * which + kind, f32At(components, kind * 8 + which))
  }
  for (let context = 0; context < contexts; context++) {
    for (let kind = 0; kind < FEATURE_KINDS; kind++) {
      setF32(POPULATION, 8 * context + kind, populationMean(kind, context))
      setF32(POPULATION, 8 * context + 4 + kind, populationInverseSd(kind, context))
    }
  }
  for (let model = 0; model < MODELS; model++) store<i32>(AXES_USED + (<usize>model << 2), leadingAxes(model))
  room = (end + 15) & ~15
  fusionPacked = packEnsemble(fusionRoots, fusionTrees, fusionNodes, load<i32>(MODEL, 16), FEATURES)
  laterPacked = packEnsemble(laterRoots, laterTrees, laterNodes, load<i32>(MODEL, 48), FEATURES)
  livenessPacked = packEnsemble(livenessRoots, livenessTrees, livenessNodes, load<i32>(MODEL, 24), LIVENESS)
  lonePacked = packEnsemble(loneRoots, loneTrees, loneNodes, load<i32>(MODEL, 40), LIVENESS)
  synthesisPacked = packEnsemble(synthesisRoots, synthesisTrees, synthesisNodes, load<i32>(MODEL, 56), SYNTHESIS)
  return 0
}

const HIDDEN_MAX: i32 = 256

/** Bytes of a row of input weights of the embedding: 148 and four zeros, i16. */
export const INPUT_ROW_BYTES: usize = 304

/** Bytes of an embedding with this number of hidden units; 0 without hidden units. */
function embeddingBytes(hidden: i32): usize {
  const rows = <usize>(hidden + EMBEDDING_SIZE)
  const numbers = 2 * <usize>VECTOR_SIZE + 2 * rows + <usize>(EMBEDDING_SIZE * hidden)
  return hidden == 0 ? 0 : (numbers << 2) + rows * INPUT_ROW_BYTES
}

/** Whether the kernel can compute an embedding with this number of hidden units. */
function canEmbed(hidden: i32): bool {
  return hidden >= 0 && hidden <= HIDDEN_MAX && (hidden & 3) == 0
}

/** Packs an ensemble over `row`. Returns its address; 0 if there is no room or it cannot be packed. */
function packEnsemble(roots: usize, trees: i32, nodes: usize, nNodes: i32, row: usize): usize {
  const packed = room
  const end = packedEnd(packed, trees, nNodes)
  if (end > MODEL + <usize>MODEL_BYTES_MAX || !packTrees(packed, roots, trees, nodes, nNodes, row)) return 0
  room = end
  return packed
}

/** Axes up to the last one along which people differ, rounded up to a multiple of four. */
function leadingAxes(model: i32): i32 {
  const betweens = twoCovariances + <usize>(model + 1) * TWO_COVARIANCE_BYTES - (<usize>VECTOR_SIZE << 2)
  let used = VECTOR_SIZE
  while (used > 0 && f32At(betweens, used - 1) == 0) used--
  return (used + 3) & ~3
}

/** Axes of a two-covariance model that separate people, the best first; a multiple of four. */
// @ts-ignore: decorator
@inline
export function axesUsed(model: i32): i32 {
  return load<i32>(AXES_USED + (<usize>model << 2))
}

/** The time of the probe: in one sitting with the references, or later, mostly on another day. */
export const enum Sitting { same = 0, later = 1 }

/** Numbers of a sitting's curve in `calibration`; `conditions` is the first of fifteen. */
export const enum Curve { fusionBase = 0, slope = 1, intercept = 2, conditions = 3 }
const CURVE_SIZE: i32 = 18

/** A number of a sitting's curve. */
export function curveAt(sitting: Sitting, which: i32): f64 {
  return <f64>f32At(calibration, sitting * CURVE_SIZE + which)
}

/** Index of a number after the curves in `calibration`. */
export const enum Calibration {
  livenessBase = 36,
  livenessSlope = 37,
  livenessIntercept = 38,
  largestAllowance = 39,
  loneIntercept = 40,
}

export function calibrated(which: Calibration): f64 {
  return <f64>f32At(calibration, which)
}

/** Index of a number of the synthesis curve; only with synthesis trees. */
export const enum SynthesisCurve { base = 0, intercept = 1, largestAllowance = 2 }

export function synthesisCurveAt(which: SynthesisCurve): f64 {
  return <f64>f32At(synthesisCurve, which)
}

/** Index of a variance in `components`. */
export const enum Component {
  user = 0,
  firstKey = 1,
  secondKey = 2,
  pair = 3,
  session = 4,
  residual = 5,
  total = 6,
}

/** A variance component, one lane per kind of time. */
export function variances(which: Component): v128 {
  return v128.load(VARIANCES + (<usize>which << 4))
}

/** Context of a hold. */
export function holdContext(key: i32): i32 {
  return <i32>load<u16>(holdContexts + ((<usize>key) << 1))
}

/** Context of the transition from `first` to `second`; a broader context if the population has too few of them. */
export function pairContextOf(first: i32, second: i32): i32 {
  return <i32>load<u16>(pairContexts + ((<usize>(first * KEY_KINDS + second)) << 1))
}

export function populationMean(kind: i32, context: i32): f32 {
  return f32At(means, kind * contexts + context)
}

export function populationInverseSd(kind: i32, context: i32): f32 {
  return f32At(inverseSds, kind * contexts + context)
}

/** Means of a context, one lane per kind of time. */
// @ts-ignore: decorator
@inline
export function populationMeans(context: i32): v128 {
  return v128.load(POPULATION + (<usize>context << 5))
}

/** Inverse standard deviations of a context, one lane per kind of time. */
// @ts-ignore: decorator
@inline
export function populationInverseSds(context: i32): v128 {
  return v128.load(POPULATION + (<usize>context << 5), 16)
}
