import { readableSample } from './sample.js'

/** Presses in a sketch; later ones are left out. */
const PRESSES_MAX = 127
/** Step of a time in a sketch, in natural logarithm. */
const STEP = 0.0275
/** The scale is nearly linear below this, ms, where a few ms are a large share of a time. Not measured. */
const LINEAR_MS = 10
const SAMPLE_HEADER = 4
const CONFIRMED = 0x80
const EMPTY = new Uint8Array(1)

/**
 * The sketch of a pattern, from its sample (`encodeSample`): u8 presses n (highest bit: confirmed), n key indices, n holds,
 * n intervals from the previous press; times as steps of 2.75 % (the format of `assembly/sketch.ts`). 151 bytes for 50
 * presses. A sketch is biometric data like the sample. A sample of another version gets a sketch without presses.
 */
export function sketchOf(sample: Uint8Array): Uint8Array {
  if (!readableSample(sample)) return EMPTY
  const view = new DataView(sample.buffer, sample.byteOffset, sample.byteLength)
  const all = view.getUint16(2, true)
  const n = Math.min(all, PRESSES_MAX)
  const times = SAMPLE_HEADER + ((all + 3) & ~3)
  const sketch = new Uint8Array(1 + 3 * n)
  sketch[0] = n
  let previous = 0
  for (let i = 0; i < n; i++) {
    const press = view.getFloat32(times + 4 * i, true)
    const release = view.getFloat32(times + 4 * (all + i), true)
    sketch[1 + i] = sample[SAMPLE_HEADER + i] ?? 0
    sketch[1 + n + i] = stepOf(release - press)
    sketch[1 + 2 * n + i] = i === 0 ? 0 : stepOf(press - previous)
    previous = press
  }
  return sketch
}

/** A time on the scale of sketches. */
export const stepOf = (ms: number): number =>
  Math.min(255, Math.round(Math.log(1 + Math.max(0, ms) / LINEAR_MS) / STEP))

/** Marks the sketch of a reference or of a successful sign-in. Only confirmed sketches count for the member's means. */
export function confirmed(sketch: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(sketch)
  copy[0] = (copy[0] ?? 0) | CONFIRMED
  return copy
}

/** Bytes of the sketch at an offset in a row of sketches. */
export const sketchBytesAt = (sketches: Uint8Array, at: number): number => 1 + 3 * ((sketches[at] ?? 0) & ~CONFIRMED)
