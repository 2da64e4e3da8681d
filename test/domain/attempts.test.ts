import { describe, expect, it } from 'vitest'
import {
  type AttemptCounters,
  type AttemptKind,
  afterFailure,
  afterLock,
  afterNewCode,
  afterSuccess,
  attemptWindow,
  closedForMs,
  NO_ATTEMPTS,
  whyClosed,
} from '../../src/domain/attempts.js'
import { DEFAULT_POLICY } from '../../src/domain/policy.js'

const FRESH = { biometric: 0, security_code: 0, typingFailed: false }
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

function failures(n: number, kind: AttemptKind, everyMs = DAY): { counters: AttemptCounters; now: number } {
  let counters = NO_ATTEMPTS
  let now = 1_000_000
  for (let i = 0; i < n; i++) {
    now += everyMs
    counters = afterFailure(counters, kind, now)
  }
  return { counters, now }
}

describe('the ladder of typing failures', () => {
  it.each([
    [4, 0],
    [5, 30 * SECOND],
    [9, 30 * SECOND],
    [10, 15 * MINUTE],
    [15, HOUR],
    [49, HOUR],
    [50, Number.POSITIVE_INFINITY],
  ])('after %i failures in a row closes typing for %d ms', (n, closedMs) => {
    const { counters, now } = failures(n, 'biometric')
    expect(closedForMs(counters, 'biometric', now)).toBe(closedMs)
  })

  it('opens again when the time is over, not before', () => {
    const { counters, now } = failures(5, 'biometric')
    expect(closedForMs(counters, 'biometric', now + 30 * SECOND - 1)).toBe(1)
    expect(closedForMs(counters, 'biometric', now + 30 * SECOND)).toBe(0)
  })
})

describe('the ladder of code failures', () => {
  it.each([
    [2, 0],
    [3, 15 * MINUTE],
    [6, HOUR],
    [9, HOUR],
    [10, Number.POSITIVE_INFINITY],
  ])('after %i failures in a row closes the code for %d ms', (n, closedMs) => {
    const { counters, now } = failures(n, 'security_code')
    expect(closedForMs(counters, 'security_code', now)).toBe(closedMs)
  })
})

describe('a day of failures', () => {
  it('closes typing at twenty, until the oldest is a day old, regardless of successes in between', () => {
    let counters = NO_ATTEMPTS
    let now = 0
    for (let i = 0; i < 20; i++) {
      now += HOUR
      counters = afterSuccess(afterFailure(counters, 'biometric', now), 'biometric')
      if (i < 19) expect(closedForMs(counters, 'biometric', now)).toBe(0)
    }
    counters = afterFailure(counters, 'biometric', now)
    expect(closedForMs(counters, 'biometric', now)).toBe(DAY - 18 * HOUR)
  })
})

describe('typing', () => {
  it('is not locked below the first rung, nor by twenty failures spread over a day', () => {
    expect(failures(4, 'biometric').counters.biometric.closedUntil).toBe(0)
    let counters = NO_ATTEMPTS
    for (let i = 0; i < 20; i++)
      counters = afterSuccess(afterFailure(counters, 'biometric', (i * DAY) / 19), 'biometric')
    expect(counters.biometric.recentFailures).toHaveLength(20)
    expect(counters.biometric.closedUntil).toBe(0)
  })
})

describe('a success', () => {
  it('ends its own streak and does not change the other kind', () => {
    const typing = failures(4, 'biometric').counters
    const both = afterFailure(typing, 'security_code', 1)
    expect(afterSuccess(both, 'biometric').biometric.streak).toBe(0)
    expect(afterSuccess(both, 'biometric').security_code.streak).toBe(1)
  })
})

describe('the open mode', () => {
  const base = {
    policy: DEFAULT_POLICY,
    session: FRESH,
    counters: NO_ATTEMPTS,
    profileReady: true,
    codeUsable: true,
    now: 0,
  }

  it('is typing first, then the code, then locked', () => {
    expect(attemptWindow(base).mode).toBe('biometric')
    expect(attemptWindow({ ...base, session: { ...FRESH, biometric: 3 } }).mode).toBe('security_code')
    expect(attemptWindow({ ...base, session: { ...FRESH, biometric: 3, security_code: 3 } }).mode).toBe('locked')
  })

  it('is locked if typing is used up and no code is usable', () => {
    expect(attemptWindow({ ...base, codeUsable: false, session: { ...FRESH, biometric: 3 } }).mode).toBe('locked')
  })

  it('allows a code while typing is open, unless the policy requires typing first', () => {
    expect(attemptWindow(base)).toMatchObject({ mode: 'biometric', codeOpen: true })
    expect(attemptWindow({ ...base, codeUsable: false }).codeOpen).toBe(false)
    expect(attemptWindow({ ...base, session: { ...FRESH, security_code: 3 } }).codeOpen).toBe(false)
    const fallback = { ...base.policy.security_code_fallback, require_biometric_first: true }
    const strict = { ...base, policy: { ...base.policy, security_code_fallback: fallback } }
    expect(attemptWindow(strict).codeOpen).toBe(false)
    // Regression: a reservation was enough, so an attempt in progress, or a successful one, opened the code as well.
    expect(attemptWindow({ ...strict, session: { ...FRESH, biometric: 1 } }).codeOpen).toBe(false)
    expect(attemptWindow({ ...strict, session: { ...FRESH, biometric: 1, typingFailed: true } }).codeOpen).toBe(true)
    expect(attemptWindow({ ...strict, profileReady: false })).toMatchObject({ mode: 'security_code', codeOpen: true })
  })

  it('gives the wait, rounded up, and null if only a reset ends the lock', () => {
    const locked = failures(10, 'biometric')
    const inputs = { ...base, codeUsable: false, counters: locked.counters, now: locked.now + 1 }
    expect(attemptWindow(inputs).retryAfterSeconds).toBe(900)
    expect(attemptWindow({ ...inputs, counters: failures(50, 'biometric').counters }).retryAfterSeconds).toBeNull()
  })

  // Regression: the wait was 0, because the code was open. But it requires typing first, and no wait opens typing.
  it('gives no wait if the code requires typing first and typing is disabled', () => {
    const fallback = { ...base.policy.security_code_fallback, require_biometric_first: true }
    const policy = { ...base.policy, security_code_fallback: fallback }
    const counters = failures(50, 'biometric').counters
    expect(attemptWindow({ ...base, policy, counters })).toMatchObject({ mode: 'locked', retryAfterSeconds: null })
  })
})

describe("an administrator's lock", () => {
  it('is not ended by a new code, unlike the lock after ten failures', () => {
    const dead = failures(10, 'security_code').counters
    expect(closedForMs(afterNewCode(dead), 'security_code', Date.UTC(2090))).toBe(0)
    expect(closedForMs(afterNewCode(afterLock(dead)), 'security_code', Date.UTC(2090))).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('the reason why an attempt is closed', () => {
  const base = { profileReady: true, codeUsable: true, codeSet: true, session: FRESH, counters: NO_ATTEMPTS, now: 0 }
  const { security_code_fallback } = DEFAULT_POLICY
  const policyWith = (changes: object) => ({
    ...DEFAULT_POLICY,
    security_code_fallback: { ...security_code_fallback, ...changes },
  })
  const typingLocked = { counters: failures(5, 'biometric').counters, now: failures(5, 'biometric').now }
  const codeLocked = { counters: failures(3, 'security_code').counters, now: failures(3, 'security_code').now }
  it.each([
    ['biometric', {}, null],
    ['biometric', { profileReady: false }, 'enroll'],
    ['biometric', { session: { ...FRESH, biometric: 3 } }, 'session-used-up'],
    ['biometric', { ...typingLocked, session: { ...FRESH, biometric: 3 } }, 'typing-locked'],
    ['security_code', {}, null],
    ['security_code', { policy: policyWith({ enabled: false }) }, 'fallback-off'],
    ['security_code', { codeUsable: false, codeSet: false }, 'code-not-set'],
    ['security_code', { codeUsable: false }, 'code-used'],
    ['security_code', codeLocked, 'code-locked'],
    ['security_code', { policy: policyWith({ require_biometric_first: true }) }, 'typing-first'],
    ['security_code', { session: { ...FRESH, security_code: 3 } }, 'session-used-up'],
  ] as const)('%s with %j: %s, and the window agrees', (kind, changes, why) => {
    const inputs = { policy: DEFAULT_POLICY, ...base, ...changes }
    const window = attemptWindow(inputs)
    expect(whyClosed(inputs, kind)).toBe(why)
    expect(kind === 'biometric' ? window.mode === 'biometric' : window.codeOpen).toBe(why === null)
  })
})
