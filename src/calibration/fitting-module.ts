import { readFileSync } from 'node:fs'
import { fittingFile } from '../scoring/artifacts.js'
import { instanceOf } from '../scoring/kernel-instance.js'

/** The exports of `assembly/fitting.ts`. */
interface Exports {
  readonly products: (a: number, b: number, out: number, m: number, n: number, width: number) => void
  readonly histograms: (
    bins: number,
    all: number,
    columns: number,
    sums: number,
    rows: number,
    n: number,
    out: number,
  ) => void
  readonly memory: { readonly buffer: ArrayBuffer; readonly grow: (pages: number) => number }
  readonly START: { readonly value: number }
}

const PAGE = 65_536

/** An instance of the module. `reserve` makes room for so many bytes from `start` on. */
function createModule() {
  // Sound: the module of this build.
  const exports = instanceOf(readFileSync(fittingFile())) as unknown as Exports
  const start = exports.START.value
  const reserve = (bytes: number): void => {
    const missing = start + bytes - exports.memory.buffer.byteLength
    if (missing > 0) exports.memory.grow(Math.ceil(missing / PAGE))
  }
  return { exports, start, reserve }
}

/** Products of the rows of two matrices: `m` rows of `a` and `n` rows of `b`, of `width` numbers each. */
export type Products = (a: ArrayLike<number>, b: ArrayLike<number>, m: number, n: number, width: number) => Float32Array

/** The products, `m` x `n`, in f32. The three counts are multiples of four. */
export function createProducts(): Products {
  const { exports, start, reserve } = createModule()
  return (a, b, m, n, width) => {
    const out = a.length + b.length
    reserve(4 * (out + m * n))
    const room = new Float32Array(exports.memory.buffer, start)
    room.set(a)
    room.set(b, a.length)
    exports.products(start, start + 4 * a.length, start + 4 * out, m, n, width)
    return room.slice(out, out + m * n)
  }
}

/** Numbers of a bin, and bins of a column. */
export const [BIN_NUMBERS, BINS] = [4, 256]

/** Histograms of the rows of one tree. */
export interface Histograms {
  /** Loads the bins of these rows in some columns, and their sums, BIN_NUMBERS a row. */
  load(columns: readonly Uint8Array[], rows: Int32Array, sums: Float32Array): void
  /** For each column, BINS x BIN_NUMBERS sums over some of the loaded rows, by their place among them; over all if null. */
  of(places: Int32Array | null): Float32Array
}

/** An instance of the module for the trees of one fit. */
export function createHistograms(): Histograms {
  const { exports, start, reserve } = createModule()
  let [all, columns] = [0, 0]
  const at = () => {
    const sums = start + Math.ceil((columns * all) / 16) * 16
    const rows = sums + 16 * all
    return { bins: start, sums, rows, out: rows + Math.ceil((4 * all) / 16) * 16 }
  }
  const size = () => columns * BINS * BIN_NUMBERS
  return {
    load(from, rows, sums) {
      all = rows.length
      columns = from.length
      reserve(at().out - start + 4 * size())
      const bytes = new Uint8Array(exports.memory.buffer, start, columns * all)
      from.forEach((column, c) => {
        for (let i = 0; i < all; i++) bytes[c * all + i] = column[rows[i] as number] as number
      })
      new Float32Array(exports.memory.buffer, at().sums, sums.length).set(sums)
    },
    of(places) {
      const { bins, sums, rows, out } = at()
      if (places !== null) new Int32Array(exports.memory.buffer, rows, places.length).set(places)
      exports.histograms(bins, all, columns, sums, places === null ? 0 : rows, places?.length ?? all, out)
      return new Float32Array(exports.memory.buffer, out, size()).slice()
    },
  }
}
