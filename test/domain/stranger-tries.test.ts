import { describe, expect, it } from 'vitest'
import {
  type AttemptKind,
  afterFailure,
  closedForMs,
  FAILURES_PER_DAY,
  NO_ATTEMPTS,
} from '../../src/domain/attempts.js'
import { STRANGER_LIMITS } from '../../src/domain/stranger-tries.js'

const KINDS = ['biometric', 'security_code'] as const
const DAY_MS = 24 * 3600_000

/** The longest lock after so many failures, an hour apart, ms. */
function longestLock(kind: AttemptKind, failures: number): number {
  let counters = NO_ATTEMPTS
  let longest = 0
  for (let n = 0; n < failures; n++) {
    counters = afterFailure(counters, kind, n * DAY_MS)
    longest = Math.max(longest, closedForMs(counters, kind, n * DAY_MS))
  }
  return longest
}

describe('the failures of strangers at single sign-on', () => {
  it('of a day lock nobody, and leave most of the failures of a day to the person', () => {
    for (const kind of KINDS) {
      const { perDay } = STRANGER_LIMITS[kind]
      expect([kind, longestLock(kind, perDay)]).toEqual([kind, 0])
      expect(FAILURES_PER_DAY - perDay).toBeGreaterThanOrEqual(17)
    }
  })

  it('of any number of days lock nobody for longer than 30 seconds, even if the last ones came at once', () => {
    const most = (kind: AttemptKind) => STRANGER_LIMITS[kind].streak - 1 + STRANGER_LIMITS[kind].perDay
    expect(KINDS.map((kind) => longestLock(kind, most(kind)))).toEqual([30_000, 0])
  })
})
