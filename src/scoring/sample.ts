import type { KeyPress } from '../domain/key-press.js'
import { SAMPLE_FORMAT } from '../domain/sample-format.js'

const HEADER_BYTES = 4
const PRESSES_MAX = 500

export interface Sample {
  readonly mode: 'visible' | 'sensitive'
  readonly presses: readonly KeyPress[]
}

const keyBytes = (n: number): number => (n + 3) & ~3

/** Size of a sample of `n` presses: 9 bytes a press, 456 for 50. */
export const sampleBytes = (n: number): number => HEADER_BYTES + keyBytes(n) + 8 * n

/**
 * The compact binary form of a pattern, the only form that is kept: u8 version, u8 mode, u16 presses n, n key
 * indices padded to a multiple of four, n float32 press and n float32 release times, ms since the first press,
 * little-endian. Ten patterns of 50 keys are 4.6 kB. The caller owns the result.
 */
export function encodeSample(presses: readonly KeyPress[], mode: Sample['mode']): Uint8Array {
  const n = presses.length
  const bytes = new Uint8Array(sampleBytes(n))
  const view = new DataView(bytes.buffer)
  view.setUint8(0, SAMPLE_FORMAT)
  view.setUint8(1, mode === 'sensitive' ? 1 : 0)
  view.setUint16(2, n, true)
  const times = HEADER_BYTES + keyBytes(n)
  const origin = presses[0]?.pressMs ?? 0
  presses.forEach(({ key, pressMs, releaseMs }, i) => {
    bytes[HEADER_BYTES + i] = key
    view.setFloat32(times + 4 * i, pressMs - origin, true)
    view.setFloat32(times + 4 * (n + i), releaseMs - origin, true)
  })
  return bytes
}

/** Size of the readable sample at an offset in a row of samples. */
export const sampleBytesAt = (bytes: Uint8Array, at: number): number =>
  sampleBytes((bytes[at + 2] ?? 0) | ((bytes[at + 3] ?? 0) << 8))

/** Whether the bytes are a sample that this version of the scorer reads. */
export function readableSample(bytes: Uint8Array): boolean {
  if (bytes.length < HEADER_BYTES || bytes[0] !== SAMPLE_FORMAT) return false
  const n = (bytes[2] ?? 0) | ((bytes[3] ?? 0) << 8)
  return n >= 1 && n <= PRESSES_MAX && bytes.length === sampleBytes(n)
}

/** The key indices of a readable sample: a view of its bytes. */
export const sampleKeys = (bytes: Uint8Array): Uint8Array =>
  bytes.subarray(HEADER_BYTES, HEADER_BYTES + ((bytes[2] ?? 0) | ((bytes[3] ?? 0) << 8)))

/** Decodes a sample, with times to float32 precision; null if it fails `readableSample`. */
export function decodeSample(bytes: Uint8Array): Sample | null {
  if (!readableSample(bytes)) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const n = view.getUint16(2, true)
  const times = HEADER_BYTES + keyBytes(n)
  const presses = Array.from({ length: n }, (_, i) => ({
    key: view.getUint8(HEADER_BYTES + i),
    pressMs: view.getFloat32(times + 4 * i, true),
    releaseMs: view.getFloat32(times + 4 * (n + i), true),
  }))
  return { mode: view.getUint8(1) === 1 ? 'sensitive' : 'visible', presses }
}
