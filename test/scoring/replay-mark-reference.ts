/** A slow, simple implementation of the replay mark, as the reference for the kernel's. */

const MASK = (1n << 64n) - 1n

/** SipHash-2-4 (Aumasson, Bernstein, 2012) of any bytes under a 16-byte key: 64 bits, or 128 if `wide`, little-endian. */
export function sipHash(key: Uint8Array, message: Uint8Array, wide: boolean): bigint {
  const word = (bytes: Uint8Array, at: number) =>
    Array.from({ length: 8 }, (_, i) => BigInt(bytes[at + i] ?? 0) << BigInt(8 * i)).reduce((sum, part) => sum | part)
  const rotated = (value: bigint, by: bigint) => ((value << by) | (value >> (64n - by))) & MASK
  const [k0, k1] = [word(key, 0), word(key, 8)]
  let [v0, v1, v2, v3] = [
    k0 ^ 0x736f6d6570736575n,
    k1 ^ 0x646f72616e646f6dn ^ (wide ? 0xeen : 0n),
    k0 ^ 0x6c7967656e657261n,
    k1 ^ 0x7465646279746573n,
  ]
  const rounds = (n: number) => {
    for (let i = 0; i < n; i++) {
      v0 = (v0 + v1) & MASK
      v2 = (v2 + v3) & MASK
      v1 = rotated(v1, 13n) ^ v0
      v3 = rotated(v3, 16n) ^ v2
      v0 = rotated(v0, 32n)
      v2 = (v2 + v1) & MASK
      v0 = (v0 + v3) & MASK
      v1 = rotated(v1, 17n) ^ v2
      v3 = rotated(v3, 21n) ^ v0
      v2 = rotated(v2, 32n)
    }
  }
  const padded = new Uint8Array(8 * Math.floor(message.length / 8) + 8)
  padded.set(message)
  padded[padded.length - 1] = message.length & 255
  for (let at = 0; at < padded.length; at += 8) {
    v3 ^= word(padded, at)
    rounds(2)
    v0 ^= word(padded, at)
  }
  v2 ^= wide ? 0xeen : 0xffn
  rounds(4)
  const first = v0 ^ v1 ^ v2 ^ v3
  if (!wide) return first
  v1 ^= 0xddn
  rounds(4)
  return first | ((v0 ^ v1 ^ v2 ^ v3) << 64n)
}

const bytesOf = (...cells: number[]) => new Uint8Array(Int32Array.from(cells).buffer)
const bytesOfWord = (word: bigint) => new Uint8Array(BigUint64Array.of(word).buffer)

/** SplitMix64 (Steele, Lea, Flood, 2014). */
function* splitMix(seed: bigint): Generator<bigint, never> {
  for (let state = seed; ; ) {
    state = (state + 0x9e3779b97f4a7c15n) & MASK
    const once = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK
    const twice = ((once ^ (once >> 27n)) * 0x94d049bb133111ebn) & MASK
    yield twice ^ (twice >> 31n)
  }
}

/**
 * The `wanted` least hashes of windows of 14 consecutive logarithms, each hashed again with the key. With few windows, each
 * window is hashed with several shifts of the cell borders.
 */
function bandsOf(logs: readonly number[], cell: number, wanted: number, start: bigint, secrets: Secrets): bigint[] {
  const windows = Math.max(logs.length - 13, 1)
  const shifts = Math.ceil(wanted / windows)
  const hashes = Array.from({ length: windows * shifts }, (_, at) => {
    const [shift, from] = [Math.floor(at / windows), at % windows]
    const window = Array.from({ length: 14 }, (_, i) => logs[(from + i) % logs.length] ?? 0)
    const mean = window.reduce((sum, log) => sum + log, 0) / 14
    const squares = window.reduce((sum, log) => sum + (log - mean) * (log - mean), 0)
    const width = cell * Math.max(Math.sqrt(squares / 14), 0.12)
    const cellOf = (log: number, i: number) =>
      Math.floor((log - mean) / width + (secrets.borders[i] ?? 0) + shift / shifts)
    const cells = window.map((log, i) => BigInt(cellOf(log, i)))
    const salted = start * BigInt(2 * shift + 1)
    return cells.reduce((hash, index, i) => BigInt.asUintN(64, hash + index * (secrets.multipliers[i] ?? 0n)), salted)
  })
  const least = [...new Set(hashes)].sort((a, b) => (a < b ? -1 : 1)).slice(0, wanted)
  return Array.from({ length: wanted }, (_, i) => {
    const hash = least[Math.min(i, least.length - 1)] ?? 0n
    return BigInt.asIntN(64, sipHash(secrets.key, bytesOfWord(hash), false))
  })
}

interface Secrets {
  readonly key: Uint8Array
  readonly borders: readonly number[]
  readonly multipliers: readonly bigint[]
}

/** `exact` and `bands` of a pattern; `times` alternates press and release times, ms. */
export function referenceMark(times: readonly number[], key: Uint8Array): { exact: bigint; bands: bigint[] } {
  const n = times.length / 2
  const at = (i: number) => times[i] ?? 0
  const bandsKey = key.subarray(0, 16)
  const drawn = splitMix(sipHash(bandsKey, bytesOfWord(0n), false))
  const draw = <T>(length: number, as: (word: bigint) => T) => Array.from({ length }, () => as(drawn.next().value))
  const secrets: Secrets = {
    key: bandsKey,
    borders: draw(14, (word) => Number(word >> 11n) / 2 ** 53),
    multipliers: draw(14, (word) => word | 1n),
  }
  const [ofIntervals = 0n, ofHolds = 0n] = draw(2, (word) => word | 1n)
  const intervals = Array.from({ length: Math.max(n - 1, 1) }, (_, i) => (n < 2 ? 0 : at(2 * i + 2) - at(2 * i)))
  const holds = Array.from({ length: n }, (_, i) => at(2 * i + 1) - at(2 * i))
  const logs = (all: readonly number[], addedMs: number) => all.map((ms) => Math.log(ms + addedMs))
  const bands = [
    ...bandsOf(logs(intervals, 70), 0.9, 7, ofIntervals, secrets),
    ...bandsOf(logs(holds, 25), 0.65, 1, ofHolds, secrets),
  ]
  const exact = bytesOf(...times.map((ms) => Math.floor(ms - at(0) + 0.2137)))
  return { exact: sipHash(key.subarray(16), exact, true), bands }
}
