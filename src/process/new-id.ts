import { v7 } from 'uuid'
import { randomPool } from '../storage/crypto/random-pool.js'

/** Drawn many at a time: drawn one by one they took 2 % of a verify's processor time. */
const randomBytes = randomPool(16)

/** Makes UUIDv7 (RFC 9562) of the time by `nowMs`. They ascend, also within a millisecond and where the clock is set back. */
export function idsBy(nowMs: () => number): () => string {
  let lastMs = 0
  let sequence = 0
  return () => {
    const random = randomBytes()
    const now = nowMs()
    if (now > lastMs) {
      lastMs = now
      sequence = new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1
    } else {
      sequence = (sequence + 1) >>> 0
      if (sequence === 0) lastMs++
    }
    return v7({ random, msecs: lastMs, seq: sequence })
  }
}
