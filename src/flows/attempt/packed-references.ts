import { readableSample, sampleBytes, sampleBytesAt } from '../../scoring/sample.js'

/** Bytes of a float32, of a fit or a sample; bits of a byte. */
const [NUMBER_BYTES, BYTE_BITS] = [4, 8]
/** A sample's version, mode and number of presses. */
const SAMPLE_HEAD = 4
/** First byte of a packed sample: the sample follows as it is, or with its times as steps. */
const [WHOLE, STEPPED] = [0, 1]
/** Browsers give times in tenths of a millisecond, or in whole ones. */
const STEPS_A_MS = 10
const STEP_MAX = 0xffff
/** Bytes of a press by steps: its key, the interval from the previous press, and its hold. */
const STEPPED_BYTES = 5

/**
 * Packs a fit into three quarters of its bytes: a bit for each number, set unless it is zero, lowest first, and then the numbers that
 * are not zero.
 */
export function packedFit(fit: Uint8Array): Uint8Array {
  const numbers = fit.length / NUMBER_BYTES
  const bytes = new Uint8Array(Math.ceil(numbers / BYTE_BITS) + fit.length)
  const [from, to] = [viewOf(fit), viewOf(bytes)]
  let end = Math.ceil(numbers / BYTE_BITS)
  for (let i = 0; i < numbers; i++) {
    const number = from.getUint32(NUMBER_BYTES * i)
    if (number === 0) continue
    bytes[i >> 3] = (bytes[i >> 3] ?? 0) | (1 << (i & 7))
    to.setUint32(end, number)
    end += NUMBER_BYTES
  }
  return bytes.subarray(0, end)
}

/** The fit of `fitBytes` bytes of `packedFit`. */
export function unpackedFit(packed: Uint8Array, fitBytes: number): Uint8Array {
  const bytes = new Uint8Array(fitBytes)
  const numbers = fitBytes / NUMBER_BYTES
  const [from, to] = [viewOf(packed), viewOf(bytes)]
  let at = Math.ceil(numbers / BYTE_BITS)
  for (let i = 0; i < numbers; i++) {
    if (((packed[i >> 3] ?? 0) & (1 << (i & 7))) === 0) continue
    to.setUint32(NUMBER_BYTES * i, from.getUint32(at))
    at += NUMBER_BYTES
  }
  return bytes
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength)

/**
 * Packs a sample without loss. If all times are steps of 0.1 ms, a press takes 5 bytes instead of 9; else the sample is kept as it
 * is.
 */
export function packedSample(sample: Uint8Array): Uint8Array {
  const stepped = steppedSample(sample)
  return stepped !== null && Buffer.compare(unpackedSample(stepped, 0).bytes, sample) === 0
    ? stepped
    : Buffer.concat([Uint8Array.of(WHOLE), sample])
}

function steppedSample(sample: Uint8Array): Uint8Array | null {
  if (!readableSample(sample)) return null
  const from = viewOf(sample)
  const n = from.getUint16(2, true)
  const times = sampleBytes(n) - 2 * NUMBER_BYTES * n
  const bytes = new Uint8Array(1 + SAMPLE_HEAD + STEPPED_BYTES * n)
  bytes[0] = STEPPED
  bytes.set(sample.subarray(0, SAMPLE_HEAD + n), 1)
  const to = viewOf(bytes)
  const [intervals, holds] = [1 + SAMPLE_HEAD + n, 1 + SAMPLE_HEAD + 3 * n]
  let before = 0
  for (let i = 0; i < n; i++) {
    const press = Math.round(STEPS_A_MS * from.getFloat32(times + NUMBER_BYTES * i, true))
    const release = Math.round(STEPS_A_MS * from.getFloat32(times + NUMBER_BYTES * (n + i), true))
    if (!isStep(press - before) || !isStep(release - press)) return null
    to.setUint16(intervals + 2 * i, press - before, true)
    to.setUint16(holds + 2 * i, release - press, true)
    before = press
  }
  return bytes
}

const isStep = (steps: number): boolean => steps >= 0 && steps <= STEP_MAX

/** The sample of `packedSample`, which begins at `at`, and where its packed bytes end. */
export function unpackedSample(packed: Uint8Array, at: number): { bytes: Uint8Array; end: number } {
  const head = at + 1
  if (packed[at] !== STEPPED) {
    const end = head + sampleBytesAt(packed, head)
    return { bytes: packed.subarray(head, end), end }
  }
  const from = viewOf(packed)
  const n = from.getUint16(head + 2, true)
  const bytes = new Uint8Array(sampleBytes(n))
  bytes.set(packed.subarray(head, head + SAMPLE_HEAD + n))
  const to = viewOf(bytes)
  const times = sampleBytes(n) - 2 * NUMBER_BYTES * n
  const [intervals, holds] = [head + SAMPLE_HEAD + n, head + SAMPLE_HEAD + 3 * n]
  let press = 0
  for (let i = 0; i < n; i++) {
    press += from.getUint16(intervals + 2 * i, true)
    const release = press + from.getUint16(holds + 2 * i, true)
    to.setFloat32(times + NUMBER_BYTES * i, press / STEPS_A_MS, true)
    to.setFloat32(times + NUMBER_BYTES * (n + i), release / STEPS_A_MS, true)
  }
  return { bytes, end: head + SAMPLE_HEAD + STEPPED_BYTES * n }
}
