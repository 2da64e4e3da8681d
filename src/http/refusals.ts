import type { RefusalKind } from '../domain/refusal.js'

/** The values of `reason` (interface, Errors). */
type Reason =
  | 'invalid-action'
  | 'invalid-data'
  | 'api-failed'
  | 'detection-bot'
  | 'fraud-detected'
  | 'user-not-found'
  | 'quota-exceeded'
  | 'internal-error'

/** A refusal in its wire format. The answer has no field `reason` if it is null, which only 401 has. */
export interface WireRefusal {
  readonly status: number
  readonly reason: Reason | null
}

/**
 * Status and reason of every kind of refusal; a missing kind does not compile. Source: interface, Errors. Unknown paths (404), 405,
 * 408, 413, 415 and 429 are our choice.
 */
export const wireRefusals: Readonly<Record<RefusalKind, WireRefusal>> = {
  'request-malformed': { status: 400, reason: 'invalid-data' },
  'session-missing': { status: 400, reason: 'invalid-data' },
  'member-required': { status: 400, reason: 'invalid-data' },
  'member-mismatch': { status: 400, reason: 'invalid-data' },
  'key-missing': { status: 401, reason: null },
  'key-scope': { status: 403, reason: 'invalid-action' },
  'cross-site': { status: 403, reason: 'invalid-action' },
  'core-word': { status: 403, reason: 'invalid-action' },
  'path-unknown': { status: 404, reason: 'invalid-action' },
  'user-not-found': { status: 404, reason: 'user-not-found' },
  'pattern-not-found': { status: 404, reason: 'invalid-data' },
  'nothing-found': { status: 404, reason: 'invalid-data' },
  'typing-word-not-found': { status: 404, reason: 'invalid-data' },
  'link-unknown': { status: 404, reason: 'invalid-data' },
  'method-not-allowed': { status: 405, reason: 'invalid-action' },
  'profile-complete': { status: 409, reason: 'invalid-action' },
  'profile-locked': { status: 409, reason: 'invalid-action' },
  'account-type': { status: 409, reason: 'invalid-action' },
  'member-exists': { status: 409, reason: 'invalid-action' },
  'accounts-quota': { status: 409, reason: 'quota-exceeded' },
  'shared-accounts-quota': { status: 409, reason: 'quota-exceeded' },
  'members-quota': { status: 409, reason: 'quota-exceeded' },
  'policy-default': { status: 409, reason: 'invalid-action' },
  'key-own': { status: 409, reason: 'invalid-action' },
  'typing-word-taken': { status: 409, reason: 'invalid-action' },
  'typing-words-bound': { status: 409, reason: 'invalid-action' },
  'body-too-large': { status: 413, reason: 'invalid-data' },
  'media-type-unsupported': { status: 415, reason: 'invalid-data' },
  'validation-failed': { status: 422, reason: 'invalid-data' },
  'pattern-invalid': { status: 422, reason: 'invalid-data' },
  'words-not-typed': { status: 422, reason: 'invalid-data' },
  'security-code-weak': { status: 422, reason: 'invalid-data' },
  'bot-detected': { status: 422, reason: 'detection-bot' },
  'replay-detected': { status: 422, reason: 'fraud-detected' },
  'too-soon': { status: 429, reason: 'quota-exceeded' },
  'rate-limited': { status: 429, reason: 'quota-exceeded' },
  'over-rate': { status: 429, reason: 'quota-exceeded' },
  internal: { status: 500, reason: 'internal-error' },
  degraded: { status: 503, reason: 'api-failed' },
  overloaded: { status: 503, reason: 'api-failed' },
}

/** The refusal of a body that did not arrive in time. It has no kind, because only the server uses it. */
export const bodyLate: WireRefusal = { status: 408, reason: 'invalid-data' }

/** Seconds of `Retry-After` if the refusal names none. Health is polled every second, so two are enough. */
export const retryAfterS: Readonly<Partial<Record<RefusalKind, number>>> = {
  degraded: 2,
  overloaded: 1,
  'too-soon': 1,
  'rate-limited': 1,
  'over-rate': 1,
}

/** The reason of an error that a handler returns as a Reply without one, such as the 404 onboarding shell; null for 401. */
export function reasonForStatus(status: number): Reason | null {
  if (status === 401) return null
  if (status >= 500) return status === 503 ? 'api-failed' : 'internal-error'
  if (status === 404) return 'user-not-found'
  if (status === 429) return 'quota-exceeded'
  return status === 403 || status === 405 || status === 409 ? 'invalid-action' : 'invalid-data'
}
