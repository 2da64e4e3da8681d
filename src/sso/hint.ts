import { createRemoteJWKSet, decodeJwt, errors, jwtVerify } from 'jose'
import type { SsoSettings } from './settings.js'
import { isVerified } from './verified.js'

/** The person of an `id_token_hint` that the upstream provider has signed. */
export interface Hint {
  readonly sub: string
  /** The name under which the directory has the person. */
  readonly name: string
}

/**
 * Reads a hint. `invalid`: it is not a valid hint of the upstream provider. `not-verified`: the provider does not call the claim that
 * names the person verified. Throws if the keys of the provider cannot be fetched or read.
 */
export type HintReader = (token: string) => Promise<Hint | 'invalid' | 'not-verified'>

const WITHIN_MS = 3_000
/** Entra may send a hint that has just expired. The hint names a person; typing still has to prove it. */
const TOLERANCE_S = 600
/** Codes of errors with the keys. `ERR_JOSE_GENERIC` means that the address of the keys did not answer 200 with JSON. */
const WITHOUT_KEYS = ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID']

export function hintReader({
  issuer,
  jwksUri,
  audience,
  name: claim,
  acceptUnverified,
}: NonNullable<SsoSettings['upstream']>): HintReader {
  const keys = createRemoteJWKSet(new URL(jwksUri), { timeoutDuration: WITHIN_MS })
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience,
        algorithms: ['RS256', 'PS256', 'ES256', 'RS384', 'RS512', 'PS384', 'PS512', 'ES384', 'ES512', 'EdDSA'],
        clockTolerance: TOLERANCE_S,
        requiredClaims: ['sub', 'exp', 'iat'],
      })
      const name = payload[claim]
      if (typeof payload.sub !== 'string' || typeof name !== 'string' || name === '') return 'invalid'
      return acceptUnverified || isVerified(payload, claim) ? { sub: payload.sub, name } : 'not-verified'
    } catch (error) {
      if (error instanceof errors.JOSEError && !WITHOUT_KEYS.includes(error.code)) return 'invalid'
      throw error
    }
  }
}

/** The issuer that a token claims, unverified; null if it is no JWT. */
export function claimedIssuer(token: string): string | null {
  try {
    return decodeJwt(token).iss ?? null
  } catch {
    return null
  }
}
