import type { KeyPress } from '../../../src/domain/key-press.js'
import { KEY_KINDS, KINDS, type Model } from './model.js'
import { log32 } from './single.js'

const { fround } = Math

/** Maximum of presses compared. */
export const COMPARED_MAX = 128

/**
 * The features of one pattern: a window of shared rows that begins at `at`. A row of `raw` (log times) or `z` (the same in
 * population deviations) has one time a press: the hold, or a time from the previous press (press-press, release-press,
 * release-release), 0 at the first press. `contexts` are those of the pair that ends at a press, 0 at the first.
 */
export interface Pattern {
  readonly at: number
  n: number
  /** Distance between the rows of two kinds. */
  readonly stride: number
  readonly keys: Uint8Array
  readonly contexts: Uint16Array
  readonly raw: Float32Array
  readonly z: Float32Array
}

/** Rows for `presses` presses in total. */
export const patternOf = (presses: number): Pattern => ({
  at: 0,
  n: 0,
  stride: presses,
  keys: new Uint8Array(presses),
  contexts: new Uint16Array(presses),
  raw: new Float32Array(KINDS * presses),
  z: new Float32Array(KINDS * presses),
})

/** The window that begins at press `at` and has room for `n`. */
export const windowOf = (rows: Pattern, at: number, n: number): Pattern => ({ ...rows, at, n })

const pressMs = new Float32Array(COMPARED_MAX)
const releaseMs = new Float32Array(COMPARED_MAX)

/** Computes the features of key presses. Times are relative to the first press and rounded as in a sample. */
export function readPresses(model: Model, pattern: Pattern, presses: readonly KeyPress[]): void {
  const n = Math.min(presses.length, COMPARED_MAX)
  const origin = presses[0]?.pressMs ?? 0
  for (let i = 0; i < n; i++) {
    const press = presses[i]
    if (press === undefined) break
    pattern.keys[pattern.at + i] = press.key & 127
    pressMs[i] = press.pressMs - origin
    releaseMs[i] = press.releaseMs - origin
  }
  readTimes(model, pattern, n)
}

const SAMPLE_HEADER = 4

/** Number of presses and bytes of the sample at offset `from`. */
export function sampleAt(bytes: Uint8Array, from: number): { presses: number; bytes: number } {
  const presses = (bytes[from + 2] ?? 0) | ((bytes[from + 3] ?? 0) << 8)
  return { presses, bytes: SAMPLE_HEADER + ((presses + 3) & ~3) + 8 * presses }
}

/** Computes the features of the sample at `from` (format in `src/scoring/sample.ts`). */
export function readSample(model: Model, pattern: Pattern, bytes: Uint8Array, from: number): void {
  const { presses } = sampleAt(bytes, from)
  const n = Math.min(presses, COMPARED_MAX)
  const times = from + SAMPLE_HEADER + ((presses + 3) & ~3)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let i = 0; i < n; i++) {
    pattern.keys[pattern.at + i] = (bytes[from + SAMPLE_HEADER + i] ?? 0) & 127
    pressMs[i] = view.getFloat32(times + 4 * i, true)
    releaseMs[i] = view.getFloat32(times + 4 * (presses + i), true)
  }
  readTimes(model, pattern, n)
}

const between = (value: number, low: number, high: number): number => (value < low ? low : value > high ? high : value)
const PER_30_MS = fround(1 / 30)

/** Linear near 0, logarithmic from 30 ms, on both sides. */
function signedLog(ms: number): number {
  return ms < 0 ? -log32(fround(1 + fround(-ms * PER_30_MS))) : log32(fround(1 + fround(ms * PER_30_MS)))
}

function readTimes(model: Model, pattern: Pattern, n: number): void {
  const { at, stride, keys, contexts, raw } = pattern
  pattern.n = n
  let press = 0
  let release = 0
  let before = 0
  for (let i = 0; i < n; i++) {
    const key = keys[at + i] ?? 0
    const pressBefore = press
    const releaseBefore = release
    press = pressMs[i] ?? 0
    release = releaseMs[i] ?? 0
    raw[at + i] = log32(between(fround(release - press), 8, 1000))
    if (i === 0) {
      contexts[at] = 0
      for (let kind = 1; kind < KINDS; kind++) raw[kind * stride + at] = 0
    } else {
      contexts[at + i] = model.pairContexts[before * KEY_KINDS + key] ?? 0
      raw[stride + at + i] = log32(between(fround(press - pressBefore), 5, 3000))
      raw[2 * stride + at + i] = signedLog(between(fround(press - releaseBefore), -800, 3000))
      raw[3 * stride + at + i] = signedLog(between(fround(release - releaseBefore), -800, 3000))
    }
    before = key
  }
  normalize(model, pattern)
}

function normalize({ means, inverseSds, holdContexts, contexts: all }: Model, pattern: Pattern): void {
  const { at, n, stride, keys, contexts, raw, z } = pattern
  for (let i = at; i < at + n; i++) {
    const context = holdContexts[keys[i] ?? 0] ?? 0
    z[i] = between(fround(fround((raw[i] ?? 0) - (means[context] ?? 0)) * (inverseSds[context] ?? 0)), -4, 4)
  }
  for (let kind = 1; kind < KINDS; kind++) {
    const row = kind * stride
    z[row + at] = 0
    for (let i = at + 1; i < at + n; i++) {
      const context = kind * all + (contexts[i] ?? 0)
      const value = fround(fround((raw[row + i] ?? 0) - (means[context] ?? 0)) * (inverseSds[context] ?? 0))
      z[row + i] = between(value, -4, 4)
    }
  }
}
