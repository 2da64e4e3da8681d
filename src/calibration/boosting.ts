import { BIN_NUMBERS, BINS, createHistograms, type Histograms } from './fitting-module.js'
import { type Random, seededRandom } from './random.js'
import { type Examples, valueAt } from './rows.js'

/** Nodes in order of creation: node 0 is the root, `feature` -1 a leaf, `value` its threshold or the leaf's contribution. */
export interface Tree {
  readonly feature: readonly number[]
  readonly value: readonly number[]
  /** Index of the left child; the right one follows it. */
  readonly left: readonly number[]
}

export interface BoostingOptions {
  readonly trees: number
  readonly leaves: number
  readonly learningRate: number
  readonly l2: number
  readonly rowsPerLeafMin: number
  /** Shares that a tree sees: of the rows that earlier trees have settled, and of the features. */
  readonly rowShare: number
  readonly featureShare: number
  readonly seed: number
  readonly onTree?: (done: number) => unknown
}

/** Training rows in bins, in memory that threads share: a column of bytes for each feature, and the upper bounds of its bins. */
export interface Binned {
  readonly bins: readonly Uint8Array[]
  readonly cuts: readonly Float32Array[]
  readonly labels: Uint8Array
  readonly weights: Float32Array
}

export interface Boosted {
  readonly base: number
  readonly trees: readonly Tree[]
}

/** Upper bounds, ascending, of at most 256 bins of equal weight for a column; the last bin is open. */
function cutsOf(examples: Examples, column: number, random: Random): Float32Array {
  const n = examples.labels.length
  const drawn = Float32Array.from({ length: Math.min(n, 20_000) }, () => {
    return valueAt(examples, Math.floor(random() * n), column)
  }).sort()
  const cuts: number[] = []
  for (let i = 1; i < BINS; i++) {
    const at = Math.floor((i * drawn.length) / BINS)
    const cut = ((drawn[at - 1] ?? 0) + (drawn[at] ?? 0)) / 2
    if (cut > (cuts.at(-1) ?? Number.NEGATIVE_INFINITY)) cuts.push(cut)
  }
  // The kernel compares a cut as float32, so it is rounded before rows are binned by it.
  return Float32Array.from(new Set(Float32Array.from(cuts)))
}

function binColumn(examples: Examples, column: number, cuts: Float32Array): Uint8Array {
  const n = examples.labels.length
  const out = new Uint8Array(new SharedArrayBuffer(n))
  for (let i = 0; i < n; i++) {
    const value = valueAt(examples, i, column)
    let low = 0
    let high = cuts.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (value > (cuts[middle] as number)) low = middle + 1
      else high = middle
    }
    out[i] = low
  }
  return out
}

/** Bins every column; the caller may drop the rows afterwards. */
export function binned(examples: Examples, seed: number): Binned {
  const random = seededRandom(seed)
  const n = examples.labels.length
  const cuts = Array.from({ length: examples.width }, (_, column) => cutsOf(examples, column, random))
  const labels = new Uint8Array(new SharedArrayBuffer(n))
  labels.set(examples.labels)
  const weights = new Float32Array(new SharedArrayBuffer(4 * n))
  weights.set(examples.weights ?? new Float32Array(n).fill(1))
  return { bins: cuts.map((columnCuts, column) => binColumn(examples, column, columnCuts)), cuts, labels, weights }
}

interface Split {
  readonly gain: number
  readonly column: number
  readonly bin: number
}

/** A leaf that can still be split: its rows by place in the sample, their histogram and its best split. */
interface Leaf {
  readonly node: number
  readonly places: Int32Array
  readonly histogram: Float32Array
  readonly split: Split
}

export function fitBoosting(examples: Examples, options: BoostingOptions): Boosted {
  return fitBinned(binned(examples, options.seed), options)
}

/** A row with a larger gradient is not settled: every tree sees it. */
const UNSETTLED = 0.25

/**
 * Gradient boosting of the logistic loss with leaf-wise histogram trees. Rows and columns are sampled for each tree, unsettled
 * rows more often (with a lower weight, so that sums stay unbiased). Weights count rows; a weight of 0 excludes a row.
 * Sources: Friedman, Greedy function approximation (2001); Ke et al., LightGBM (2017): 256 bins, best leaf first,
 * the larger child's histogram by subtraction, sampling by gradient. The same seed and rows give the same trees.
 */
export function fitBinned(data: Binned, options: BoostingOptions): Boosted {
  const { labels, weights } = data
  const n = labels.length
  const random = seededRandom(options.seed)
  const [all, genuine] = weights.reduce(
    ([sum, ones], weight, i) => [sum + weight, ones + weight * (labels[i] as number)],
    [0, 0],
  )
  const base = Math.log(genuine / (all - genuine))
  const scores = new Float64Array(n).fill(base)
  const weighted = Uint32Array.from(weights.keys()).filter((row) => weights[row] !== 0)
  const histograms = createHistograms()
  const drawn = new Int32Array(n)
  const sums = new Float32Array(BIN_NUMBERS * n)
  const trees: Tree[] = []
  while (trees.length < options.trees) {
    let rows = 0
    for (const i of weighted) {
      const weight = weights[i] as number
      const p = 1 / (1 + Math.exp(-(scores[i] as number)))
      const gradient = p - (labels[i] as number)
      const chance = options.rowShare + ((1 - options.rowShare) * Math.abs(gradient)) / UNSETTLED
      if (chance < 1 && random() >= chance) continue
      const counted = chance < 1 ? weight / chance : weight
      sums[BIN_NUMBERS * rows] = counted * gradient
      sums[BIN_NUMBERS * rows + 1] = counted * p * (1 - p)
      sums[BIN_NUMBERS * rows + 2] = 1
      drawn[rows++] = i
    }
    const sample = { rows: drawn.subarray(0, rows), sums: sums.subarray(0, BIN_NUMBERS * rows) }
    const tree = growTree({ ...data, ...sample, histograms, options, random })
    addTree(tree, data, scores, weighted)
    trees.push(tree)
    options.onTree?.(trees.length)
  }
  return { base, trees }
}

interface Growing extends Binned {
  /** The sample of a tree, and three sums a row: gradient, hessian, 1. */
  readonly rows: Int32Array
  readonly sums: Float32Array
  readonly histograms: Histograms
  readonly options: BoostingOptions
  readonly random: Random
}

function growTree({ bins, cuts, rows, sums, histograms, options, random }: Growing): Tree {
  const columns = bins.map((_, column) => column).filter(() => random() < options.featureShare)
  if (columns.length === 0) columns.push(Math.floor(random() * bins.length))
  histograms.load(
    columns.map((column) => bins[column] as Uint8Array),
    rows,
    sums,
  )
  const tree = { feature: [-1], value: [0], left: [0] }
  const makeLeaf = (node: number, places: Int32Array, histogram: Float32Array): Leaf => {
    tree.value[node] = leafValue(histogram, options)
    return { node, places, histogram, split: bestSplit(histogram, columns, cuts, options) }
  }
  const leaves = [makeLeaf(0, Int32Array.from(rows.keys()), histograms.of(null))]
  while (leaves.length < options.leaves) {
    const best = leaves.reduce((a, b) => (b.split.gain > a.split.gain ? b : a))
    if (best.split.gain <= 0) break
    const column = columns[best.split.column] ?? 0
    const [leftPlaces, rightPlaces] = parted(best.places, rows, bins[column] ?? new Uint8Array(), best.split.bin)
    const leftIsSmall = leftPlaces.length <= rightPlaces.length
    const small = histograms.of(leftIsSmall ? leftPlaces : rightPlaces)
    const large = best.histogram
    for (let i = 0; i < large.length; i++) large[i] = (large[i] as number) - (small[i] as number)
    const left = tree.feature.length
    tree.feature.push(-1, -1)
    tree.value.push(0, 0)
    tree.left.push(0, 0)
    tree.feature[best.node] = column
    tree.value[best.node] = cuts[column]?.[best.split.bin] ?? 0
    tree.left[best.node] = left
    leaves.splice(leaves.indexOf(best), 1)
    leaves.push(makeLeaf(left, leftPlaces, leftIsSmall ? small : large))
    leaves.push(makeLeaf(left + 1, rightPlaces, leftIsSmall ? large : small))
  }
  return tree
}

/** Splits places of the sample into those up to the bin and those above it, in their order. */
function parted(
  places: Int32Array,
  rows: Int32Array,
  column: Uint8Array,
  bin: number,
): [left: Int32Array, right: Int32Array] {
  const left = new Int32Array(places.length)
  const right = new Int32Array(places.length)
  let [toLeft, toRight] = [0, 0]
  for (let i = 0; i < places.length; i++) {
    const place = places[i] as number // i is below the length
    if ((column[rows[place] as number] as number) <= bin) left[toLeft++] = place
    else right[toRight++] = place
  }
  return [left.slice(0, toLeft), right.slice(0, toRight)]
}

/** Sums over the bins of one column. Every column contains all rows, so all columns have the same sums. */
function totals(histogram: Float32Array, from: number): [g: number, h: number, n: number] {
  let [g, h, n] = [0, 0, 0]
  for (let at = from; at < from + BINS * BIN_NUMBERS; at += BIN_NUMBERS) {
    g += histogram[at] as number
    h += histogram[at + 1] as number
    n += histogram[at + 2] as number
  }
  return [g, h, n]
}

function leafValue(histogram: Float32Array, { l2, learningRate }: BoostingOptions): number {
  const [g, h] = totals(histogram, 0)
  return (-learningRate * g) / (h + l2)
}

function bestSplit(
  histogram: Float32Array,
  columns: readonly number[],
  cuts: readonly Float32Array[],
  options: BoostingOptions,
): Split {
  const { l2, rowsPerLeafMin } = options
  const [g, h, n] = totals(histogram, 0)
  const whole = (g * g) / (h + l2)
  let best: Split = { gain: 0, column: -1, bin: -1 }
  if (n < 2 * rowsPerLeafMin) return best
  for (let c = 0; c < columns.length; c++) {
    let [leftG, leftH, leftN] = [0, 0, 0]
    const last = cuts[columns[c] as number]?.length ?? 0
    for (let bin = 0; bin < last; bin++) {
      const at = (c * BINS + bin) * BIN_NUMBERS
      leftG += histogram[at] as number
      leftH += histogram[at + 1] as number
      leftN += histogram[at + 2] as number
      if (leftN < rowsPerLeafMin) continue
      if (n - leftN < rowsPerLeafMin) break
      const gain = leftG ** 2 / (leftH + l2) + (g - leftG) ** 2 / (h - leftH + l2) - whole
      if (gain > best.gain + 1e-9) best = { gain, column: c, bin }
    }
  }
  return best
}

/** Adds a tree's leaf values to the score of each of these rows. */
function addTree(tree: Tree, { bins, cuts }: Binned, scores: Float64Array, rows: Uint32Array): void {
  const binOf = tree.feature.map((feature, i) => (feature < 0 ? 0 : (cuts[feature]?.indexOf(tree.value[i] ?? 0) ?? 0)))
  const columns = tree.feature.map((feature) => bins[feature] ?? new Uint8Array())
  const { feature, left, value } = tree
  for (const row of rows) {
    let node = 0
    while ((feature[node] as number) >= 0) {
      const column = columns[node] as Uint8Array
      node = (left[node] as number) + ((column[row] as number) > (binOf[node] as number) ? 1 : 0)
    }
    scores[row] = (scores[row] as number) + (value[node] as number)
  }
}

/** The trees' score of each of these rows; NaN for the others. */
export function scoresOf({ base, trees }: Boosted, data: Binned, rows: Uint32Array): Float64Array {
  const scores = new Float64Array(data.labels.length).fill(Number.NaN)
  for (const row of rows) scores[row] = base
  for (const tree of trees) addTree(tree, data, scores, rows)
  return scores
}
