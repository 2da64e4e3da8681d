/** Sizes of the model file (table in `assembly/model.ts`). */
export const KEY_KINDS = 128
export const KINDS = 4
export const CONTEXTS_MAX = 1024
export const SUMMARY_SIZE = 28
export const VECTOR_SIZE = 148
export const MODELS = 2
/** Numbers at the start of the features that shift the threshold. */
export const CONDITIONS = 12

const MAGIC = 0x314d534b
const VERSION = 4
const HEADER_BYTES = 64
const COMPONENTS = 8

/** Indices of `Model.variances`. */
export const USER = 0
export const FIRST_KEY = 1
export const SECOND_KEY = 2
export const PAIR = 3
export const SESSION = 4
export const RESIDUAL = 5
export const TOTAL = 6

/** Boosted trees, by node: threshold or leaf value, feature (below 0 a leaf), left child; the right child follows it. */
export interface Trees {
  readonly roots: Uint32Array
  readonly values: Float32Array
  readonly features: Int16Array
  readonly children: Uint16Array
}

/** A two-covariance model; only the first `used` axes separate people. */
export interface TwoCovariance {
  readonly mean: Float32Array
  /** A row per axis, in double precision to avoid conversions. */
  readonly projection: Float64Array
  readonly between: Float32Array
  readonly used: number
}

/** The model file, read in place. */
export interface Model {
  readonly contexts: number
  readonly holdContexts: Uint16Array
  readonly pairContexts: Uint16Array
  readonly means: Float32Array
  readonly inverseSds: Float32Array
  /** `kind x 8 +` index. */
  readonly variances: Float32Array
  /** 1 / within-person deviation, population mean, 1 / population deviation. */
  readonly summary: Float32Array
  readonly twoCovariances: readonly TwoCovariance[]
  readonly calibration: Float32Array
  /** The trees of the same sitting, and of a later one. */
  readonly fusion: Trees
  readonly later: Trees
  readonly liveness: Trees
  readonly lone: Trees
}

/** Reads a model file; throws if it is not one of this version. Copies its input. */
export function readModel(file: Uint8Array): Model {
  const { buffer } = new Uint8Array(file)
  const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4)
  if (header[0] !== MAGIC || header[1] !== VERSION) throw new Error('not a model of this version')
  const [contexts = 0, fusion = 0, fusionNodes = 0, liveness = 0, livenessNodes = 0] = header.subarray(2)
  const [lone = 0, loneNodes = 0, later = 0, laterNodes = 0] = header.subarray(9)
  let at = HEADER_BYTES
  const next = (bytes: number): number => {
    at += bytes
    return at - bytes
  }
  const floats = (length: number) => new Float32Array(buffer, next(4 * length), length)
  const shorts = (length: number) => new Uint16Array(buffer, next(2 * length), length)
  const trees = (count: number, nodes: number): Trees => {
    const roots = new Uint32Array(buffer, next(4 * count), count)
    return treesOf(roots, new DataView(buffer, next(8 * nodes), 8 * nodes))
  }
  // In the order of the file.
  return {
    contexts,
    holdContexts: shorts(KEY_KINDS),
    pairContexts: shorts(KEY_KINDS * KEY_KINDS),
    means: floats(KINDS * contexts),
    inverseSds: floats(KINDS * contexts),
    variances: floats(KINDS * COMPONENTS),
    summary: floats(3 * SUMMARY_SIZE),
    twoCovariances: Array.from({ length: MODELS }, () => twoCovariance(floats)),
    calibration: floats(35),
    fusion: trees(fusion, fusionNodes),
    later: trees(later, laterNodes),
    liveness: trees(liveness, livenessNodes),
    lone: trees(lone, loneNodes),
  }
}

/** The file numbers children from their root. Numbers from the first node of all make a step one addition shorter. */
function treesOf(roots: Uint32Array, nodes: DataView): Trees {
  const count = nodes.byteLength / 8
  if (count > 65_536) throw new Error('more nodes than 16 bits number')
  const values = new Float32Array(count)
  const features = new Int16Array(count)
  const children = new Uint16Array(count)
  for (const [tree, root] of roots.entries()) {
    for (let node = root; node < (roots[tree + 1] ?? count); node++) {
      values[node] = nodes.getFloat32(8 * node, true)
      features[node] = nodes.getInt16(8 * node + 4, true)
      children[node] = root + nodes.getUint16(8 * node + 6, true)
    }
  }
  return { roots, values, features, children }
}

function twoCovariance(floats: (length: number) => Float32Array): TwoCovariance {
  const mean = floats(VECTOR_SIZE)
  const projection = Float64Array.from(floats(VECTOR_SIZE * VECTOR_SIZE))
  const between = floats(VECTOR_SIZE)
  const last = between.findLastIndex((variance) => variance !== 0)
  return { mean, projection, between, used: (last + 4) & ~3 }
}

/** A variance component of a kind of time. */
export const varianceOf = (model: Model, kind: number, which: number): number =>
  model.variances[kind * COMPONENTS + which] ?? 0
