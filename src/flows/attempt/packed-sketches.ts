import { sketchBytesAt } from '../../scoring/sketch.js'

/** Columns of a sketch behind its first byte: key indices, holds and intervals. */
const COLUMNS = 3
const [BYTE_BITS, VALUES] = [8, 256]
/** Bits of the narrowest code: with fewer, most values are outside its range. */
const NARROWEST = 3
/** Width and origin. */
const HEAD_BYTES = 2

/**
 * Packs sketches: their first bytes, then a packed column each of key indices, holds and intervals. A column has a width w
 * and an origin, a byte each, then a code of w bits for each value, and then the values without a code, a byte each. The 2^w - 1
 * values from the origin on have a code; w ones stand for a value without. Codes begin with the lowest bit. A person's times are
 * near one another, so that sketches take three quarters of their bytes.
 *
 * Deflate takes 1 % fewer bytes, and the front's processor time of a sign-in is 1.15 times as much with it (6,000 people, 64 at
 * once, medians of four alternating rounds): it allocates a window for each section of each base.
 */
export function packedSketches(sketches: Uint8Array): Uint8Array {
  const starts = startsIn(sketches)
  const heads = Uint8Array.from(starts, (at) => sketches[at] ?? 0)
  const columns = Array.from({ length: COLUMNS }, (_, column) => packed(columnOf(sketches, starts, column)))
  return Buffer.concat([heads, ...columns])
}

/** The `n` sketches of `packedSketches`, one after another. */
export function unpackedSketches(bytes: Uint8Array, n: number): Uint8Array {
  const lengths = Array.from({ length: n }, (_, i) => sketchBytesAt(bytes, i))
  const sketches = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
  let to = 0
  for (const [i, length] of lengths.entries()) {
    sketches[to] = bytes[i] ?? 0
    to += length
  }
  let from = n
  for (let column = 0; column < COLUMNS; column++) from = unpack({ bytes, from, lengths, sketches, column })
  return sketches
}

function startsIn(sketches: Uint8Array): number[] {
  const starts: number[] = []
  for (let at = 0; at < sketches.length; at += sketchBytesAt(sketches, at)) starts.push(at)
  return starts
}

function columnOf(sketches: Uint8Array, starts: readonly number[], column: number): Uint8Array {
  const values = new Uint8Array((sketches.length - starts.length) / COLUMNS)
  let to = 0
  for (const at of starts) {
    const n = (sketchBytesAt(sketches, at) - 1) / COLUMNS
    values.set(sketches.subarray(at + 1 + column * n, at + 1 + (column + 1) * n), to)
    to += n
  }
  return values
}

interface Code {
  readonly width: number
  readonly origin: number
  readonly nOutside: number
}

/** The code that takes the fewest bits. */
function codeOf(values: Uint8Array): Code {
  const counts = new Uint32Array(VALUES)
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  let best = { width: BYTE_BITS, origin: 0, nOutside: 0, bits: Number.POSITIVE_INFINITY }
  for (let width = NARROWEST; width <= BYTE_BITS; width++) {
    const range = 2 ** width - 1
    let inside = 0
    for (let end = 0; end < VALUES; end++) {
      inside += counts[end] ?? 0
      if (end >= range) inside -= counts[end - range] ?? 0
      const nOutside = values.length - inside
      const bits = values.length * width + nOutside * BYTE_BITS
      if (bits < best.bits) best = { width, origin: Math.max(0, end - range + 1), nOutside, bits }
    }
  }
  return best
}

function packed(values: Uint8Array): Uint8Array {
  const { width, origin, nOutside } = codeOf(values)
  const outside = 2 ** width - 1
  const codesEnd = HEAD_BYTES + codeBytes(values.length, width)
  const bytes = new Uint8Array(codesEnd + nOutside)
  bytes.set([width, origin])
  let [bit, rest] = [HEAD_BYTES * BYTE_BITS, codesEnd]
  for (const value of values) {
    let code = value - origin
    if (code < 0 || code >= outside) {
      bytes[rest++] = value
      code = outside
    }
    const at = bit >> 3
    const shifted = code << (bit & 7)
    bytes[at] = (bytes[at] ?? 0) | shifted
    bytes[at + 1] = (bytes[at + 1] ?? 0) | (shifted >> BYTE_BITS)
    bit += width
  }
  return bytes
}

interface Unpacking {
  readonly bytes: Uint8Array
  /** Where the packed column begins. */
  readonly from: number
  /** Bytes of each sketch. */
  readonly lengths: readonly number[]
  readonly sketches: Uint8Array
  readonly column: number
}

/** Writes a column into the sketches. Returns where the next column begins. */
function unpack({ bytes, from, lengths, sketches, column }: Unpacking): number {
  const [width = BYTE_BITS, origin = 0] = [bytes[from], bytes[from + 1]]
  const outside = 2 ** width - 1
  const values = (sketches.length - lengths.length) / COLUMNS
  let [bit, rest, start] = [(from + HEAD_BYTES) * BYTE_BITS, from + HEAD_BYTES + codeBytes(values, width), 0]
  for (const length of lengths) {
    const n = (length - 1) / COLUMNS
    const end = start + 1 + (column + 1) * n
    for (let to = end - n; to < end; to++) {
      const at = bit >> 3
      const code = (((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << BYTE_BITS)) >> (bit & 7)) & outside
      sketches[to] = code === outside ? (bytes[rest++] ?? 0) : origin + code
      bit += width
    }
    start += length
  }
  return rest
}

const codeBytes = (values: number, width: number): number => Math.ceil((values * width) / BYTE_BITS)
