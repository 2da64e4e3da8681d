import type { AttemptKind } from './attempts.js'

/**
 * Tries at single sign-on of a stranger: of a browser that has not signed in as the person. Failures of strangers count among the
 * member's like all others. The limits are below the member's, so that strangers lock nobody out:
 * - Typing: 3 in 24 hours, and none while the member has failed 6 times in a row. The member's first lock, of 30 seconds, is after 5,
 *   the next, of 15 minutes, after 10: strangers reach the first one on their second day without a success, and never the second one
 *   (5 in a row, and 3 at once). The person keeps 17 of the 20 failures in 24 hours.
 * - Code: 1 in 24 hours, and none after 2 in a row. The first lock is after 3.
 * - Patterns that are not valid: 10 in 15 minutes, of 20.
 */
export const STRANGER_LIMITS: Readonly<Record<AttemptKind, StrangerLimit>> = {
  biometric: { perDay: 3, streak: 6 },
  security_code: { perDay: 1, streak: 2 },
}
export const STRANGER_INVALID = { most: 10, withinMs: 15 * 60_000 } as const

interface StrangerLimit {
  readonly perDay: number
  /** Failures of the member in a row, of any browser, after which strangers have no try. */
  readonly streak: number
}

/** A browser is its person's own for so long after a sign-in. */
export const OWN_BROWSER_MS = 30 * 24 * 3600_000
