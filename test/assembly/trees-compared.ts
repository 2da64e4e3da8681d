import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Tree } from '../../src/calibration/boosting.js'
import { blankModel, encodeModel } from '../../src/calibration/model-file.js'
import { type Random, seededRandom } from '../../src/calibration/random.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { typedBy } from '../scoring/typists.js'

type Exports = Record<string, { readonly value: number }> & {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly loadModel: (bytes: number) => number
  /** 0 is the same sitting, 1 a later one. */
  readonly sumFusion: (sitting: number) => number
  readonly sumLiveness: () => number
  readonly sumLoneLiveness: () => number
}
interface WasmInterface {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown }
}
// Node provides WebAssembly; TypeScript declares it only in the DOM library.
const { Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WasmInterface }).WebAssembly

const wasm = new Uint8Array(readFileSync(wasmFile()))
const shipped = new Uint8Array(readFileSync(modelFile()))
const MODEL_BYTES_MAX = 2 * 1024 * 1024
const FEATURES_MAX = 768
const LIVENESS_MAX = 128

/** The kernel without its host, so that feature rows can hold any numbers. */
function loaded(model: Uint8Array) {
  const abort = () => {
    throw new Error('an assertion failed')
  }
  // Sound: the module is built from assembly/, whose index exports these.
  const exported = new Instance(new Module(wasm), { env: { abort } }).exports as Exports
  const at = (name: string): number => exported[name]?.value ?? Number.NaN
  const bytes = new Uint8Array(exported.memory.buffer)
  const file = bytes.subarray(at('MODEL'), at('MODEL') + MODEL_BYTES_MAX)
  file.set(model)
  expect(exported.loadModel(model.length)).toBe(0)
  return {
    file,
    /** The 4,096 bytes after MODEL in memory. */
    next: bytes.subarray(at('MODEL') + MODEL_BYTES_MAX, at('MODEL') + MODEL_BYTES_MAX + 4096),
    sums(fusionRow: Float32Array, livenessRow: Float32Array): number[] {
      new Float32Array(bytes.buffer, at('FEATURES'), FEATURES_MAX).set(fusionRow)
      new Float32Array(bytes.buffer, at('LIVENESS'), LIVENESS_MAX).set(livenessRow)
      return [exported.sumFusion(0), exported.sumFusion(1), exported.sumLiveness(), exported.sumLoneLiveness()]
    },
  }
}

/** The slow reference. A NaN is not above a threshold and goes left. */
function slowSum(trees: readonly Tree[], row: Float32Array): number {
  let sum = 0
  for (const { feature, value, left } of trees) {
    let node = 0
    for (let of = feature[0] ?? -1; of >= 0; of = feature[node] ?? -1) {
      const isAbove = (row[of] ?? Number.NaN) > Math.fround(value[node] ?? Number.NaN)
      node = (left[node] ?? 0) + (isAbove ? 1 : 0)
    }
    sum += Math.fround(value[node] ?? Number.NaN)
  }
  return sum
}

type Ensembles = Readonly<Record<'fusion' | 'later' | 'liveness' | 'loneLiveness', readonly Tree[]>>
const slowSums = (of: Ensembles, fusionRow: Float32Array, livenessRow: Float32Array): number[] => [
  ...[of.fusion, of.later].map((trees) => slowSum(trees, fusionRow)),
  ...[of.liveness, of.loneLiveness].map((trees) => slowSum(trees, livenessRow)),
]
function modelOf({ fusion, later, ...liveness }: Ensembles): Uint8Array {
  const blank = blankModel()
  const [same, other] = blank.fusions
  return encodeModel({
    ...blank,
    ...liveness,
    fusions: [
      { ...same, trees: fusion },
      { ...other, trees: later },
    ],
  })
}

const pick = <T>(random: Random, of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
const LEVELS = [-1e30, -2, -1, -0.5, -1e-40, -0, 0, 1e-40, 0.25, 0.5, 1, 3, 1e30]
const EXTREMES = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

type LeafValue = (random: Random) => number
/** Leaf values whose sums are exact, so that the trees are packed. */
const exactLeaf: LeafValue = (random) => Math.round((random() - 0.5) * 2 ** 20) / 2 ** 20
/** Leaf values of such different magnitudes that their sum depends on the order of addition: the trees are not packed. */
const wildLeaf: LeafValue = (random) => Math.fround((random() - 0.5) * 2 ** Math.floor(80 * random() - 40))

/** A random tree of `leaves` leaves, its nodes in the order of creation. */
function anyTree(random: Random, leaves: number, features: number, leafValue: LeafValue): Tree {
  const feature = [-1]
  const value = [leafValue(random)]
  const left = [0]
  const open = [0]
  while (open.length < leaves) {
    const [node = 0] = open.splice(Math.floor(random() * open.length), 1)
    feature[node] = Math.floor(random() * features)
    value[node] = random() < 0.02 ? pick(random, EXTREMES) : pick(random, LEVELS)
    left[node] = feature.length
    open.push(feature.length, feature.length + 1)
    feature.push(-1, -1)
    value.push(leafValue(random), leafValue(random))
    left.push(0, 0)
  }
  return { feature, value, left }
}
const anyTrees = (random: Random, count: number, features: number, leaves: () => number, leaf = exactLeaf): Tree[] =>
  Array.from({ length: count }, () => anyTree(random, leaves(), features, leaf))

/** Values equal to possible thresholds, values between them, NaN and infinities. */
const anyRow = (random: Random, length: number): Float32Array =>
  Float32Array.from({ length }, () => {
    const kind = random()
    return kind < 0.6 ? pick(random, LEVELS) : kind < 0.9 ? 4 * random() - 2 : pick(random, EXTREMES)
  })

/** The ensembles of a model file: they are its end (table in `assembly/model.ts`). */
function treesOf(model: Uint8Array): Ensembles {
  const { buffer } = new Uint8Array(model)
  const [fusion = 0, fusionNodes = 0, liveness = 0, livenessNodes = 0] = new Uint32Array(buffer, 12, 4)
  const [lone = 0, loneNodes = 0, later = 0, laterNodes = 0] = new Uint32Array(buffer, 36, 4)
  const [synthesis = 0, synthesisNodes = 0] = new Uint32Array(buffer, 52, 2)
  let end = buffer.byteLength - (synthesis === 0 ? 0 : 12 + 4 * synthesis + 8 * synthesisNodes)
  const last = (count: number, nodes: number): Tree[] => {
    end -= 4 * count + 8 * nodes
    const roots = new Uint32Array(buffer, end, count)
    const view = new DataView(buffer, end + 4 * count, 8 * nodes)
    return Array.from(roots, (root, i) => {
      const places = Array.from({ length: (roots[i + 1] ?? nodes) - root }, (_, n) => 8 * (root + n))
      return {
        feature: places.map((at) => view.getInt16(at + 4, true)),
        value: places.map((at) => view.getFloat32(at, true)),
        left: places.map((at) => view.getUint16(at + 6, true)),
      }
    })
  }
  const loneLiveness = last(lone, loneNodes)
  const signs = last(liveness, livenessNodes)
  const others = last(later, laterNodes)
  return { fusion: last(fusion, fusionNodes), later: others, liveness: signs, loneLiveness }
}
const shippedTrees = treesOf(shipped)

function expectSame(ensembles: Ensembles, random: Random, rows: number): void {
  const { sums } = loaded(modelOf(ensembles))
  for (let n = 0; n < rows; n++) {
    const [fusionRow, livenessRow] = [anyRow(random, FEATURES_MAX), anyRow(random, LIVENESS_MAX)]
    expect(sums(fusionRow, livenessRow)).toEqual(slowSums(ensembles, fusionRow, livenessRow))
  }
}

interface Counts {
  /** Step between the combinations that are played, of 56. It is odd, so that both kinds of leaf values are played. */
  readonly stride: number
  /** Number of rows at the thresholds of the shipped model. */
  readonly rows: number
  readonly people: number
}

/** The tests of the trees, with counts of random inputs. */
export const treesAgree = ({ stride, rows, people }: Counts) =>
  describe('trees', () => {
    it.each([1, 2, 3, 5, 16, 24, 64])(
      'of up to %i leaves give the sums of the slow walk, bit for bit, on any row',
      (most) => {
        const random = seededRandom(most)
        const leaves = () => 1 + Math.floor(random() * most)
        for (let n = 0; n < 56; n += stride) {
          const [count, leaf] = [n >> 1, n % 2 === 0 ? exactLeaf : wildLeaf]
          const some = (trees: number, features: readonly number[]) =>
            anyTrees(random, trees, pick(random, features), leaves, leaf)
          const ensembles = {
            fusion: some(count, [1, 40, FEATURES_MAX]),
            later: some((count * 7) % 28, [1, 40, FEATURES_MAX]),
            liveness: some(27 - count, [1, 10, LIVENESS_MAX]),
            loneLiveness: some((count * 5) % 28, [LIVENESS_MAX]),
          }
          expectSame(ensembles, random, 30)
        }
      },
    )

    it('of the shipped model give the sums of the slow walk on rows at and near its thresholds', () => {
      const random = seededRandom(7)
      const { sums } = loaded(shipped)
      const thresholds = (trees: readonly Tree[], length: number): number[][] => {
        const at = Array.from({ length }, (): number[] => [0])
        for (const { feature, value } of trees) for (const [i, f] of feature.entries()) at[f]?.push(value[i] ?? 0)
        return at
      }
      const fusionAt = thresholds([...shippedTrees.fusion, ...shippedTrees.later], FEATURES_MAX)
      const livenessAt = thresholds([...shippedTrees.liveness, ...shippedTrees.loneLiveness], LIVENESS_MAX)
      const near = (of: number[][]): Float32Array =>
        Float32Array.from(of, (at) =>
          random() < 0.01 ? pick(random, EXTREMES) : pick(random, at) + pick(random, [0, 0, 1e-6, -1e-6]),
        )
      for (let n = 0; n < rows; n++) {
        const [fusionRow, livenessRow] = [near(fusionAt), near(livenessAt)]
        expect(sums(fusionRow, livenessRow)).toEqual(slowSums(shippedTrees, fusionRow, livenessRow))
      }
    })

    it('of the shipped model give the sums of the slow walk on compared people', () => {
      const { sums } = loaded(shipped)
      const kernel = createKernel(wasm, shipped)
      const typed = (person: number, session: number) => encodeSample(typedBy(person, session), 'visible')
      const [fusionRow, livenessRow] = [new Float32Array(FEATURES_MAX), new Float32Array(LIVENESS_MAX)]
      for (let person = 0; person < people; person++) {
        const references = [0, 1, 2, 3, 4].map((session) => typed(person, session))
        for (const probe of [typed(person, 7), typed(person + 1, 7)]) {
          kernel.score(probe, references)
          fusionRow.set(kernel.compare(5))
          livenessRow.set(kernel.examine(5))
          expect(sums(fusionRow, livenessRow)).toEqual(slowSums(shippedTrees, fusionRow, livenessRow))
        }
      }
    })

    it('of the shipped model are packed outside the file, which is not read again', () => {
      const random = seededRandom(8)
      const { file, sums } = loaded(shipped)
      const rows = [anyRow(random, FEATURES_MAX), anyRow(random, LIVENESS_MAX)] as const
      const before = sums(...rows)
      file.fill(255, 0, shipped.length)
      expect(sums(...rows)).toEqual(before)
    })

    it('are walked in the file if MODEL has no room to pack them, and nothing is written past MODEL', () => {
      const random = seededRandom(9)
      const of = (count: number, features: number) => anyTrees(random, count, features, () => 16)
      const ensembles = {
        fusion: of(950, FEATURES_MAX),
        later: of(950, FEATURES_MAX),
        liveness: of(1900, LIVENESS_MAX),
        loneLiveness: of(300, LIVENESS_MAX),
      }
      const model = modelOf(ensembles)
      const { next } = loaded(model)
      expect(next.every((byte) => byte === 0)).toBe(true)
      expect(model.length + 16 * 31 * 1900).toBeGreaterThan(MODEL_BYTES_MAX)
      expectSame(ensembles, random, 10)
    })

    it('are walked in the file if a child precedes its parent, or follows it at an offset over 16 bits', () => {
      const random = seededRandom(10)
      const backwards = { feature: [3, -1, -1, 5, -1], value: [0.5, 1, 2, 0, 4], left: [3, 0, 0, 1, 0] }
      const far = anyTree(random, 6000, FEATURES_MAX, exactLeaf)
      const leaf = far.feature.indexOf(-1)
      const last = far.feature.length
      const stretched = {
        feature: [...far.feature.with(leaf, 9), -1, -1],
        value: [...far.value.with(leaf, 0.5), 1, 2],
        left: [...far.left.with(leaf, last), 0, 0],
      }
      expect(last - leaf).toBeGreaterThan(0x10000 / 8)
      for (const odd of [backwards, stretched]) {
        const others = () => anyTrees(random, 9, LIVENESS_MAX, () => 8)
        const rest = { later: others(), liveness: others(), loneLiveness: others() }
        expectSame({ fusion: [...others(), odd, ...others()], ...rest }, random, 100)
      }
    })

    it('are walked in the file if their largest leaves sum to more than 128', () => {
      const random = seededRandom(11)
      const few = anyTrees(random, 9, LIVENESS_MAX, () => 8)
      const many = anyTrees(random, 16_385, FEATURES_MAX, () => 1 + Math.floor(2 * random()))
      expectSame({ fusion: many, later: few, liveness: few, loneLiveness: few }, random, 2)
    })
  })
