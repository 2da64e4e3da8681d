import type { AttemptKind } from './attempts.js'

/**
 * Limits of the tries of strangers at single sign-on. A stranger is a browser that has not signed in as the person. Failures of
 * strangers count among the member's failures. The limits are below the member's, so that strangers lock nobody out:
 * - Typing has 3 tries in 24 hours, and none while the member has failed 6 times in a row. The member's first lock, of 30 seconds,
 *   is after 5 failures, the second, of 15 minutes, after 10. Strangers reach the first lock on their second day without a success,
 *   and never the second one (5 in a row, and 3 at once). The person keeps 17 of the 20 failures in 24 hours.
 * - A code has 1 try in 24 hours, and none after 2 failures in a row. The first lock is after 3.
 * - Strangers may send 10 of the 20 invalid patterns in 15 minutes.
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

/** Time after a sign-in for which a browser is the person's own. */
export const OWN_BROWSER_MS = 30 * 24 * 3600_000
