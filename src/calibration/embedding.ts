import { createProducts, type Products } from './fitting-module.js'
import { EMBEDDING_SIZE, type Embedding, VECTOR_SIZE } from './model-file.js'
import { type Random, seededRandom, shuffled } from './random.js'

/** The patterns of the people of one source, as inputs of the network. */
export interface EmbeddingSource {
  /** Share of the steps that draw people of this source. */
  readonly weight: number
  /** A matrix for each length that patterns were cut to, VECTOR_SIZE numbers a pattern, in shared memory; the same patterns in each. */
  readonly cuts: readonly Float32Array[]
  /** First pattern of each person, and the number of patterns at the end. */
  readonly starts: Int32Array
  /** The people to fit on, by index. */
  readonly people: Int32Array
}

export interface EmbeddingOptions {
  /** With half of the steps the error rates are a tenth higher (model/notebook.md). */
  readonly steps: number
  readonly hidden: number
  readonly seed: number
  readonly onStep?: (done: number) => unknown
}

// No measurement behind the numbers of a step and of the rates.
/** People of a step; each is distinguished from the others. */
const PEOPLE = 64
const QUERIES = 3
/** Numbers of references that a step draws from. */
const REFERENCES = [3, 5, 5, 8]
const PATTERNS_MIN = Math.max(...REFERENCES) + QUERIES
const DROPOUT = { input: 0.1, hidden: 0.3 }
const RATE = { first: 8e-5, highest: 2e-3, last: 8e-9, rise: 0.3 }
const DECAY = 1e-3
/** Factor of a cosine before the softmax; learned from here. */
const SCALE = 10
const CAP = 4

/**
 * Fits the network so that a pattern is nearer to the mean direction of the same person's references than to those of the other
 * people of its step (Snell et al., 2017), by AdamW (Loshchilov and Hutter, 2019) with one rise and fall of the rate. The same
 * patterns and seed give the same network. Throws if a source has fewer people with enough patterns than a step draws.
 */
export function fitEmbedding(sources: readonly EmbeddingSource[], options: EmbeddingOptions): Embedding {
  const { steps, hidden, seed, onStep } = options
  const random = seededRandom(seed)
  const usable = sources.map(withEnough)
  const scales = scalesOf(usable)
  const network = createNetwork(hidden, random)
  const pass = createPass(network)
  for (let step = 0; step < steps; step++) {
    const { rows, references } = drawn(usable, scales, random)
    pass.train(rows, references, rateAt(step / steps), random)
    onStep?.(step + 1)
  }
  const f32 = (values: Float64Array): Float32Array => Float32Array.from(values)
  return {
    mean: scales.mean,
    inverseSds: scales.inverseSds,
    hiddenWeights: f32(network.hiddenWeights.value),
    hiddenOffsets: f32(network.hiddenOffsets.value),
    direct: f32(network.direct.value),
    through: f32(network.through.value),
    offsets: f32(network.offsets.value),
  }
}

/** A source without the people who have too few patterns for a step. */
function withEnough(source: EmbeddingSource): EmbeddingSource {
  const { starts, people } = source
  const kept = people.filter((person) => patternCount(starts, person) >= PATTERNS_MIN)
  if (kept.length < PEOPLE)
    throw new Error(`${kept.length} people with ${PATTERNS_MIN} patterns: an embedding wants ${PEOPLE} of each source`)
  return { ...source, people: kept }
}

const patternCount = (starts: Int32Array, person: number): number =>
  (starts[person + 1] as number) - (starts[person] as number)

interface Scales {
  readonly mean: Float32Array
  readonly inverseSds: Float32Array
}

/** Mean and spread of each input over the patterns of the first cut. */
function scalesOf(sources: readonly EmbeddingSource[]): Scales {
  const sums = new Float64Array(VECTOR_SIZE)
  const squares = new Float64Array(VECTOR_SIZE)
  let n = 0
  for (const { cuts, starts, people } of sources) {
    const rows = cuts[0] as Float32Array
    for (const person of people)
      for (let row = starts[person] as number; row < (starts[person + 1] as number); row++) {
        n++
        for (let i = 0; i < VECTOR_SIZE; i++) {
          const value = rows[row * VECTOR_SIZE + i] as number
          sums[i] = (sums[i] as number) + value
          squares[i] = (squares[i] as number) + value * value
        }
      }
  }
  const mean = sums.map((sum) => sum / n)
  const sds = squares.map((square, i) => Math.sqrt(Math.max(0, square / n - (mean[i] as number) ** 2)))
  return { mean: Float32Array.from(mean), inverseSds: Float32Array.from(sds, (sd) => 1 / (sd + 1e-3)) }
}

/** Draws the patterns of a step: for each person the references, then the queries. Rows are inputs in deviations, some set to 0. */
function drawn(sources: readonly EmbeddingSource[], { mean, inverseSds }: Scales, random: Random) {
  const { cuts, starts, people } = pickWeighted(sources, random)
  const from = cuts[Math.floor(random() * cuts.length)] as Float32Array
  const references = REFERENCES[Math.floor(random() * REFERENCES.length)] as number
  const rows = new Float32Array(PEOPLE * (references + QUERIES) * VECTOR_SIZE)
  let at = 0
  for (const person of sampled(people, PEOPLE, random)) {
    const patterns = Array.from({ length: patternCount(starts, person) }, (_, i) => (starts[person] as number) + i)
    for (const pattern of sampled(patterns, references + QUERIES, random)) {
      for (let i = 0; i < VECTOR_SIZE; i++) {
        const value = from[pattern * VECTOR_SIZE + i] as number
        const deviation = (value - (mean[i] as number)) * (inverseSds[i] as number)
        const kept = random() < DROPOUT.input ? 0 : 1 / (1 - DROPOUT.input)
        rows[at++] = kept * Math.max(-CAP, Math.min(CAP, deviation))
      }
    }
  }
  return { rows, references }
}

function pickWeighted(sources: readonly EmbeddingSource[], random: Random): EmbeddingSource {
  let left = random() * sources.reduce((sum, { weight }) => sum + weight, 0)
  for (const source of sources) {
    left -= source.weight
    if (left < 0) return source
  }
  return sources.at(-1) as EmbeddingSource // sources is not empty
}

const sampled = (items: ArrayLike<number>, count: number, random: Random): number[] =>
  shuffled(Array.from(items), random).slice(0, count)

function rateAt(share: number): number {
  const { first, highest, last, rise } = RATE
  const [from, to, part] = share < rise ? [first, highest, share / rise] : [highest, last, (share - rise) / (1 - rise)]
  return to + ((from - to) * (1 + Math.cos(Math.PI * part))) / 2
}

/** Weights with their gradient and the moments of AdamW. */
interface Weights {
  readonly value: Float64Array
  readonly gradient: Float64Array
  readonly first: Float64Array
  readonly second: Float64Array
}

const weights = (value: Float64Array): Weights => ({
  value,
  gradient: new Float64Array(value.length),
  first: new Float64Array(value.length),
  second: new Float64Array(value.length),
})

interface Network {
  readonly hidden: number
  readonly hiddenWeights: Weights
  readonly hiddenOffsets: Weights
  readonly direct: Weights
  readonly through: Weights
  readonly offsets: Weights
  readonly scale: Weights
}

function createNetwork(hidden: number, random: Random): Network {
  const uniform = (count: number, inputs: number): Weights =>
    weights(Float64Array.from({ length: count }, () => (2 * random() - 1) / Math.sqrt(inputs)))
  return {
    hidden,
    hiddenWeights: uniform(hidden * VECTOR_SIZE, VECTOR_SIZE),
    hiddenOffsets: uniform(hidden, VECTOR_SIZE),
    direct: uniform(EMBEDDING_SIZE * VECTOR_SIZE, VECTOR_SIZE),
    through: uniform(EMBEDDING_SIZE * hidden, hidden),
    offsets: uniform(EMBEDDING_SIZE, hidden),
    scale: weights(Float64Array.of(SCALE)),
  }
}

/** Forward and backward pass of a step, and the update of the weights. */
function createPass(network: Network) {
  const { hidden, hiddenWeights, hiddenOffsets, direct, through, offsets, scale } = network
  const products = createProducts()
  const all = [hiddenWeights, hiddenOffsets, direct, through, offsets, scale]
  let updates = 0
  return {
    train(rows: Float32Array, references: number, rate: number, random: Random): void {
      const n = rows.length / VECTOR_SIZE
      const before = products(rows, hiddenWeights.value, n, hidden, VECTOR_SIZE)
      addOffsets(before, hiddenOffsets)
      const kept = new Float32Array(before.length)
      for (let i = 0; i < before.length; i++) {
        const value = before[i] as number
        if (value > 0 && random() >= DROPOUT.hidden) kept[i] = 1 / (1 - DROPOUT.hidden)
        before[i] = value * (kept[i] as number)
      }
      const out = products(rows, direct.value, n, EMBEDDING_SIZE, VECTOR_SIZE)
      const second = products(before, through.value, n, EMBEDDING_SIZE, hidden)
      for (let i = 0; i < out.length; i++) out[i] = (out[i] as number) + (second[i] as number)
      addOffsets(out, offsets)
      const back = prototypeGradient(out, references, scale, products)
      const [backT, rowsT, hiddenT] = [
        transposed(back, n, EMBEDDING_SIZE),
        transposed(rows, n, VECTOR_SIZE),
        transposed(before, n, hidden),
      ]
      direct.gradient.set(products(backT, rowsT, EMBEDDING_SIZE, VECTOR_SIZE, n))
      through.gradient.set(products(backT, hiddenT, EMBEDDING_SIZE, hidden, n))
      sumColumns(back, offsets.gradient)
      const inner = products(back, transposed(through.value, EMBEDDING_SIZE, hidden), n, hidden, EMBEDDING_SIZE)
      for (let i = 0; i < inner.length; i++) inner[i] = (inner[i] as number) * (kept[i] as number)
      hiddenWeights.gradient.set(products(transposed(inner, n, hidden), rowsT, hidden, VECTOR_SIZE, n))
      sumColumns(inner, hiddenOffsets.gradient)
      updates++
      for (const of of all) update(of, rate, updates)
    },
  }
}

/**
 * Gradient of the mean cross entropy of the queries over the people of the step, with respect to the network's output. Sets the
 * gradient of the scale.
 */
function prototypeGradient(out: Float32Array, references: number, scale: Weights, products: Products): Float32Array {
  const [each, size] = [references + QUERIES, EMBEDDING_SIZE]
  const { units, lengths } = normalised(out)
  const means = new Float32Array(PEOPLE * size)
  for (let person = 0; person < PEOPLE; person++)
    for (let i = 0; i < references; i++)
      for (let k = 0; k < size; k++)
        means[person * size + k] =
          (means[person * size + k] as number) + (units[(person * each + i) * size + k] as number) / references
  const prototypes = normalised(means)
  const queries = new Float32Array(PEOPLE * QUERIES * size)
  for (let person = 0; person < PEOPLE; person++)
    queries.set(
      units.subarray((person * each + references) * size, (person + 1) * each * size),
      person * QUERIES * size,
    )
  const cosines = products(queries, prototypes.units, PEOPLE * QUERIES, PEOPLE, size)
  const errors = softmaxErrors(cosines, scale)
  const backQueries = products(errors, transposed(prototypes.units, PEOPLE, size), PEOPLE * QUERIES, size, PEOPLE)
  const backUnits = products(
    transposed(errors, PEOPLE * QUERIES, PEOPLE),
    transposed(queries, PEOPLE * QUERIES, size),
    PEOPLE,
    size,
    PEOPLE * QUERIES,
  )
  const backMeans = throughLength(backUnits, prototypes)
  const back = new Float32Array(out.length)
  for (let person = 0; person < PEOPLE; person++) {
    for (let i = 0; i < each; i++)
      for (let k = 0; k < size; k++)
        back[(person * each + i) * size + k] =
          i < references
            ? (backMeans[person * size + k] as number) / references
            : (backQueries[(person * QUERIES + i - references) * size + k] as number)
  }
  return throughLength(back, { units, lengths })
}

/** Gradient of the mean cross entropy by cosine: the query of row i belongs to person i / QUERIES. Adds that of the scale. */
function softmaxErrors(cosines: Float32Array, scale: Weights): Float32Array {
  const errors = new Float32Array(cosines.length)
  const [by, n] = [scale.value[0] as number, cosines.length / PEOPLE]
  let ofScale = 0
  for (let row = 0; row < n; row++) {
    const from = row * PEOPLE
    let [most, sum] = [Number.NEGATIVE_INFINITY, 0]
    for (let i = 0; i < PEOPLE; i++) most = Math.max(most, cosines[from + i] as number)
    for (let i = 0; i < PEOPLE; i++) sum += Math.exp(by * ((cosines[from + i] as number) - most))
    const own = Math.floor(row / QUERIES)
    for (let i = 0; i < PEOPLE; i++) {
      const cosine = cosines[from + i] as number
      const error = (Math.exp(by * (cosine - most)) / sum - (i === own ? 1 : 0)) / n
      ofScale += error * cosine
      errors[from + i] = error * by
    }
  }
  scale.gradient[0] = ofScale
  return errors
}

interface Normalised {
  readonly units: Float32Array
  readonly lengths: Float64Array
}

/** Rows of EMBEDDING_SIZE numbers divided by their lengths. */
function normalised(rows: Float32Array): Normalised {
  const [units, lengths] = [new Float32Array(rows.length), new Float64Array(rows.length / EMBEDDING_SIZE)]
  lengths.forEach((_, row) => {
    const from = row * EMBEDDING_SIZE
    let squares = 1e-12
    for (let i = 0; i < EMBEDDING_SIZE; i++) squares += (rows[from + i] as number) ** 2
    const length = Math.sqrt(squares)
    lengths[row] = length
    for (let i = 0; i < EMBEDDING_SIZE; i++) units[from + i] = (rows[from + i] as number) / length
  })
  return { units, lengths }
}

/** The gradient by rows from the gradient by their units. */
function throughLength(back: Float32Array, { units, lengths }: Normalised): Float32Array {
  const out = new Float32Array(back.length)
  lengths.forEach((length, row) => {
    const from = row * EMBEDDING_SIZE
    let along = 0
    for (let i = 0; i < EMBEDDING_SIZE; i++) along += (back[from + i] as number) * (units[from + i] as number)
    for (let i = 0; i < EMBEDDING_SIZE; i++)
      out[from + i] = ((back[from + i] as number) - along * (units[from + i] as number)) / length
  })
  return out
}

const [BETA_FIRST, BETA_SECOND, TINY] = [0.9, 0.999, 1e-8]

function update({ value, gradient, first, second }: Weights, rate: number, updates: number): void {
  const [ofFirst, ofSecond] = [1 - BETA_FIRST ** updates, 1 - BETA_SECOND ** updates]
  for (let i = 0; i < value.length; i++) {
    const g = gradient[i] as number
    const m = BETA_FIRST * (first[i] as number) + (1 - BETA_FIRST) * g
    const v = BETA_SECOND * (second[i] as number) + (1 - BETA_SECOND) * g * g
    first[i] = m
    second[i] = v
    value[i] = (value[i] as number) * (1 - rate * DECAY) - (rate * m) / ofFirst / (Math.sqrt(v / ofSecond) + TINY)
  }
}

function addOffsets(rows: Float32Array, { value }: Weights): void {
  for (let from = 0; from < rows.length; from += value.length)
    for (let i = 0; i < value.length; i++) rows[from + i] = (rows[from + i] as number) + (value[i] as number)
}

function sumColumns(rows: Float32Array, into: Float64Array): void {
  into.fill(0)
  for (let from = 0; from < rows.length; from += into.length)
    for (let i = 0; i < into.length; i++) into[i] = (into[i] as number) + (rows[from + i] as number)
}

function transposed(rows: Float32Array | Float64Array, n: number, width: number): Float32Array {
  const out = new Float32Array(rows.length)
  for (let i = 0; i < n; i++) for (let j = 0; j < width; j++) out[j * n + i] = rows[i * width + j] as number
  return out
}
