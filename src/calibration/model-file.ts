import type { Tree } from './boosting.js'

/** Sizes fixed by `assembly/layout.ts`. */
export const KEY_KINDS = 128
export const FEATURE_KINDS = 4
export const SUMMARY_SIZE = 28
export const VECTOR_SIZE = 148
export const EMBEDDING_SIZE = 64
/** Numbers at the start of a row of features that shift an impostor's score (`assembly/compare.ts`), and at its end. */
export const CONDITIONS = 12
const TRAILING_CONDITIONS = 3
export const CONDITION_COUNT = CONDITIONS + TRAILING_CONDITIONS

/** The conditions of a row of features. */
export const conditionsOf = (row: Float32Array): number[] => [
  ...row.subarray(0, CONDITIONS),
  ...row.subarray(row.length - TRAILING_CONDITIONS),
]

/** A two-covariance model of pattern vectors. */
export interface TwoCovariance {
  readonly mean: Float32Array
  /** Row per axis. */
  readonly projection: Float32Array
  readonly betweenVariances: Float32Array
}

/** The network of `assembly/embedding.ts`. */
export interface Embedding {
  /** Mean and 1 / deviation of each input. */
  readonly mean: Float32Array
  readonly inverseSds: Float32Array
  /** Row per hidden unit. */
  readonly hiddenWeights: Float32Array
  readonly hiddenOffsets: Float32Array
  /** Row per output, over the inputs and over the hidden units. */
  readonly direct: Float32Array
  readonly through: Float32Array
  readonly offsets: Float32Array
}

/** Trees over comparison features, and the curve from their sum to confidence. */
export interface Fusion {
  /** Base of the trees, slope, intercept, weights of the conditions. */
  readonly curve: Float32Array
  readonly trees: readonly Tree[]
}

/** Trees over the signs of `assembly/synthesis.ts`, and the numbers that turn their sum into a likelihood. */
export interface Synthesis {
  readonly base: number
  readonly trees: readonly Tree[]
  /** Added to the sum. A pattern with a result below 0 does not count as a bot. */
  readonly intercept: number
  readonly allowance: number
}

/** Contents of a model file; `assembly/model.ts` has the table of its bytes. */
export interface ModelParts {
  readonly nContexts: number
  /** Key to context, and `first x 128 + second` to context. */
  readonly holdContexts: Uint16Array
  readonly pairContexts: Uint16Array
  /** `kind x nContexts + context`. */
  readonly means: Float32Array
  readonly inverseSds: Float32Array
  /** `kind x 8 +` user, first key, second key, pair, session, residual, total, spare. */
  readonly components: Float32Array
  readonly summaryScales: Float32Array
  /** Models of varying text that people transcribe, of text that they repeat, and of text that they compose. */
  readonly twoCovariances: readonly TwoCovariance[]
  /** None if null. */
  readonly embedding: Embedding | null
  /** The same sitting, then a later one. */
  readonly fusions: readonly [Fusion, Fusion]
  /** Base, slope, intercept, largest allowance, intercept of lone liveness. */
  readonly livenessCurve: Float32Array
  readonly liveness: readonly Tree[]
  /** Bot signs of patterns with one reference or none. */
  readonly loneLiveness: readonly Tree[]
}

const BLANK_FUSION: Fusion = { curve: Float32Array.of(0, 1, 0, ...new Float32Array(CONDITION_COUNT)), trees: [] }

/** A model that normalises nothing and decides nothing: the start of calibration. */
export function blankModel(): ModelParts {
  return {
    nContexts: 1,
    holdContexts: new Uint16Array(KEY_KINDS),
    pairContexts: new Uint16Array(KEY_KINDS * KEY_KINDS),
    means: new Float32Array(FEATURE_KINDS),
    inverseSds: new Float32Array(FEATURE_KINDS).fill(1),
    components: new Float32Array(FEATURE_KINDS * 8).fill(1),
    summaryScales: new Float32Array(3 * SUMMARY_SIZE).fill(1),
    twoCovariances: [blankTwoCovariance(), blankTwoCovariance(), blankTwoCovariance()],
    embedding: null,
    fusions: [BLANK_FUSION, BLANK_FUSION],
    livenessCurve: Float32Array.of(0, 1, 0, 0, 0),
    liveness: [],
    loneLiveness: [],
  }
}

const blankTwoCovariance = (): TwoCovariance => ({
  mean: new Float32Array(VECTOR_SIZE),
  projection: new Float32Array(VECTOR_SIZE * VECTOR_SIZE),
  betweenVariances: new Float32Array(VECTOR_SIZE),
})

const nodesOf = (trees: readonly Tree[]): number => trees.reduce((sum, tree) => sum + tree.feature.length, 0)

export function encodeModel(parts: ModelParts): Uint8Array {
  const header = new Uint32Array(16)
  const [same, later] = parts.fusions
  header.set([0x314d534b, 5, parts.nContexts, same.trees.length, nodesOf(same.trees)])
  header.set([parts.liveness.length, nodesOf(parts.liveness), VECTOR_SIZE, SUMMARY_SIZE], 5)
  header.set([parts.loneLiveness.length, nodesOf(parts.loneLiveness), later.trees.length, nodesOf(later.trees)], 9)
  header[EMBEDDING_HIDDEN] = parts.embedding?.hiddenOffsets.length ?? 0
  const sections = [header, parts.holdContexts, parts.pairContexts, parts.means, parts.inverseSds, parts.components]
  const vectors = parts.twoCovariances.flatMap((of) => [of.mean, of.projection, of.betweenVariances])
  const embedding = parts.embedding === null ? [] : partsOf(parts.embedding)
  const curves = [same.curve, later.curve, parts.livenessCurve]
  const chunks = [...sections, parts.summaryScales, ...vectors, ...embedding, ...curves].map(
    (part) => new Uint8Array(part.buffer, part.byteOffset, part.byteLength),
  )
  const trees = [same.trees, later.trees, parts.liveness, parts.loneLiveness].map(encodeTrees)
  return new Uint8Array(Buffer.concat([...chunks, ...trees]))
}

/** Index in the header of the number of hidden units. */
const EMBEDDING_HIDDEN = 15
const INPUT_ROW = 152
/** Largest input weight of a row, in steps. */
const WEIGHT_STEPS = 2047
/** Steps of the input. */
const INPUT_STEPS = 512

/** The embedding's section, with the input weights in 16 bits. */
function partsOf(of: Embedding): (Float32Array | Int16Array)[] {
  const rows = [of.hiddenWeights, of.direct].flatMap((weights) =>
    Array.from({ length: weights.length / VECTOR_SIZE }, (_, row) =>
      weights.subarray(row * VECTOR_SIZE, (row + 1) * VECTOR_SIZE),
    ),
  )
  const steps = rows.map((row) => Math.max(1e-9, ...row.map(Math.abs)) / WEIGHT_STEPS)
  const weights = new Int16Array(rows.length * INPUT_ROW)
  rows.forEach((row, i) => {
    weights.set(
      Array.from(row, (weight) => Math.round(weight / (steps[i] ?? 1))),
      i * INPUT_ROW,
    )
  })
  return [
    of.mean,
    of.inverseSds,
    Float32Array.from(steps, (step) => step / INPUT_STEPS),
    weights,
    of.through,
    Float32Array.of(...of.hiddenOffsets, ...of.offsets),
  ]
}

function encodeTrees(trees: readonly Tree[]): Uint8Array {
  const bytes = new Uint8Array(4 * trees.length + 8 * nodesOf(trees))
  const view = new DataView(bytes.buffer)
  let node = 0
  trees.forEach((tree, i) => {
    view.setUint32(4 * i, node, true)
    tree.feature.forEach((feature, j) => {
      const at = 4 * trees.length + 8 * node
      view.setFloat32(at, tree.value[j] ?? 0, true)
      view.setInt16(at + 4, feature, true)
      view.setUint16(at + 6, tree.left[j] ?? 0, true)
      node++
    })
  })
  return bytes
}

/** Index in the header of the number of synthesis trees; the number of their nodes follows. */
const SYNTHESIS_TREES = 13

/** Adds synthesis trees to a model file; its other bytes stay the same. Throws if the file has synthesis trees. */
export function withSynthesis(model: Uint8Array, { base, trees, intercept, allowance }: Synthesis): Uint8Array {
  const header = new Uint32Array(model.slice(0, 64).buffer)
  if (header[SYNTHESIS_TREES] !== 0) throw new Error('the model has synthesis trees')
  header.set([trees.length, nodesOf(trees)], SYNTHESIS_TREES)
  const curve = Float32Array.of(base, intercept, allowance)
  return new Uint8Array(
    Buffer.concat([
      new Uint8Array(header.buffer),
      model.subarray(64),
      new Uint8Array(curve.buffer),
      encodeTrees(trees),
    ]),
  )
}
