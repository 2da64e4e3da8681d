import type { ApiKeyStore, KeyHolder } from '../storage/api-key.js'
import { remember } from './remembered.js'
import { sha256 } from './tokens.js'

interface Needs {
  readonly apiKeys: ApiKeyStore
  readonly monotonicMs: () => number
}

const API_KEY = /^ks_[A-Za-z0-9_-]{43}$/
/** A revoked key dies everywhere within a second of its revocation; this leaves room for the look-up itself. */
const KEPT_MS = 800

/**
 * Who an `apikey` header speaks for; null for a missing, unknown or revoked key. Known and unknown hashes are kept for
 * `KEPT_MS`. Look-up is by SHA-256, so no secret is compared byte by byte.
 */
export function createAuthenticate({ apiKeys, monotonicMs }: Needs): (apikey: string) => Promise<KeyHolder | null> {
  const holders = remember((hex) => apiKeys.resolve(Buffer.from(hex, 'hex')), {
    lifetimeMs: KEPT_MS,
    entriesMax: 10_000,
    monotonicMs,
  })
  return async (apikey) => {
    if (!API_KEY.test(apikey)) return null
    return holders.get(Buffer.from(sha256(apikey)).toString('hex'))
  }
}
