/** A slow and obvious replay mark, to compare the kernel's with. */

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

/** `exact` and `bands` of a pattern; `times` alternates press and release times, ms. */
export function referenceMark(times: readonly number[], key: Uint8Array): { exact: bigint; bands: bigint[] } {
  const n = times.length / 2
  const pressMs = (i: number) => times[2 * i] ?? 0
  const count = Math.max(n - 1, 1)
  let state = Number(sipHash(key.subarray(0, 16), bytesOf(-1, n), false) & 0xffffffffn)
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const borders = Array.from({ length: 256 }, next)
  const dealt = Array.from({ length: count }, (_, i) => i)
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1))
    const [a, b] = [dealt[i] ?? 0, dealt[j] ?? 0]
    dealt[i] = b
    dealt[j] = a
  }
  const meanMs = Math.max((pressMs(n - 1) - pressMs(0)) / Math.max(n - 1, 1), 1)
  const flight = (i: number) => (n < 2 ? 0 : Math.log(0.48 + (pressMs(i + 1) - pressMs(i)) / meanMs))
  const bands = Array.from({ length: 8 }, (_, band) => {
    const cells = Array.from({ length: 14 }, (_, i) => {
      const which = dealt[(band * 14 + i) % count] ?? 0
      return [which, Math.floor(flight(which) / 0.31 + (borders[(band * 16 + i) % 256] ?? 0))]
    })
    return BigInt.asIntN(64, sipHash(key.subarray(0, 16), bytesOf(band, n, ...cells.flat()), false))
  })
  const exact = bytesOf(...times.map((at) => Math.floor(at - pressMs(0) + 0.2137)))
  return { exact: sipHash(key.subarray(16), exact, true), bands }
}
