import type { ApiKeyStore, KeyHolder } from '../../storage/api-key.js'
import type { SpendRate } from '../organization/key-rates.js'
import { sha256Hex } from '../process/tokens.js'
import { createTtlCache } from '../process/ttl-cache.js'

interface Needs {
  readonly apiKeys: ApiKeyStore
  readonly spendRate: SpendRate
  readonly monotonicMs: () => number
}

const API_KEY = /^ks_[A-Za-z0-9_-]{43}$/
/** A revoked key stops working everywhere within a second; this leaves time for the look-up itself. */
const KEPT_MS = 800

/**
 * The holder of an `apikey` header; null for a missing, unknown or revoked key. Refuses a key that exceeds its rate with
 * `over-rate`. Known and unknown hashes are cached for `KEPT_MS`. Look-up is by SHA-256, so no secret is compared byte by
 * byte.
 */
export function createAuthenticate({
  apiKeys,
  spendRate,
  monotonicMs,
}: Needs): (apikey: string) => Promise<KeyHolder | null> {
  const holders = createTtlCache((hex) => apiKeys.resolve(Buffer.from(hex, 'hex')), {
    lifetimeMs: KEPT_MS,
    entriesMax: 10_000,
    monotonicMs,
  })
  const spend = (holder: KeyHolder | null) => {
    if (holder !== null) spendRate(holder)
    return holder
  }
  const unknown = Promise.resolve(null)
  return (apikey) => (API_KEY.test(apikey) ? holders.get(sha256Hex(apikey)).then(spend) : unknown)
}
