import { v7 } from 'uuid'
import { randomPool } from '../storage/crypto/random-pool.js'

/** Drawn in batches: drawn one by one, random bytes took 2 % of a verify's processor time. */
const randomBytes = randomPool(16)

/** Creates UUIDv7 (RFC 9562) from the clock `nowMs`. The ids also ascend within a millisecond and if the clock is set back. */
export function createUuidV7(nowMs: () => number): () => string {
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
