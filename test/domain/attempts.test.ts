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
  lockedByAdministrator,
  NO_ATTEMPTS,
  whyClosed,
  windowOfRefused,
} from '../../src/domain/attempts.js'
import { DEFAULT_POLICY, type Policy } from '../../src/domain/policy.js'

const FRESH = { biometric: 0, security_code: 0, typingFailed: false }
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const FOR_GOOD = Number.POSITIVE_INFINITY

function failures(n: number, kind: AttemptKind): { counters: AttemptCounters; now: number } {
  let counters = NO_ATTEMPTS
  for (let i = 1; i <= n; i++) counters = afterFailure(counters, kind, i * DAY)
  return { counters, now: n * DAY }
}
const policyWith = (changes: Partial<Policy['security_code_fallback']>): Policy => ({
  ...DEFAULT_POLICY,
  security_code_fallback: { ...DEFAULT_POLICY.security_code_fallback, ...changes },
})
const typingFirst = policyWith({ require_biometric_first: true })
const base = {
  ...{ policy: DEFAULT_POLICY, session: FRESH, counters: NO_ATTEMPTS, now: 0 },
  ...{ profileReady: true, codeUsable: true, codeSet: true },
}

describe('failures in a row', () => {
  const typing = { 4: 0, 5: 30 * SECOND, 9: 30 * SECOND, 10: 15 * MINUTE, 15: HOUR, 49: HOUR, 50: FOR_GOOD }
  const code = { 2: 0, 3: 15 * MINUTE, 6: HOUR, 9: HOUR, 10: FOR_GOOD }
  it.each([
    ['biometric', typing],
    ['security_code', code],
  ] as const)('close %s for the times of its ladder', (kind, ladder) => {
    const closed = Object.keys(ladder).map((n) => {
      const { counters, now } = failures(Number(n), kind)
      return [n, closedForMs(counters, kind, now)]
    })
    expect(Object.fromEntries(closed)).toEqual(ladder)
  })
})

describe('typing', () => {
  it('has no lock below the first rung, nor after twenty failures spread over a day', () => {
    expect(failures(4, 'biometric').counters.biometric.closedUntil).toBe(0)
    let counters = NO_ATTEMPTS
    for (let i = 0; i < 20; i++)
      counters = afterSuccess(afterFailure(counters, 'biometric', (i * DAY) / 19), 'biometric')
    expect(counters.biometric.recentFailures).toHaveLength(20)
    expect(counters.biometric.closedUntil).toBe(0)
  })
})

describe('the open mode', () => {
  // Regression: a reservation was enough, so an attempt in progress, or a successful one, opened the code as well.
  it('is a code under a policy of typing first only after typing has failed in the session', () => {
    const strict = { ...base, policy: typingFirst }
    expect(attemptWindow({ ...strict, session: { ...FRESH, biometric: 1 } }).codeOpen).toBe(false)
    expect(attemptWindow({ ...strict, session: { ...FRESH, biometric: 1, typingFailed: true } }).codeOpen).toBe(true)
  })

  // Regression: the wait was 0, because the code was open. But it requires typing first, and no wait opens typing.
  it('has no wait if the code requires typing first and typing is disabled', () => {
    const { counters } = failures(50, 'biometric')
    const window = attemptWindow({ ...base, policy: typingFirst, counters })
    expect(window).toMatchObject({ mode: 'locked', retryAfterSeconds: null })
  })
})

describe("an administrator's lock", () => {
  it('closes both kinds and is not ended by a new code, unlike the lock after ten failures', () => {
    const dead = failures(10, 'security_code').counters
    const locked = afterNewCode(afterLock(dead))
    const closedMs = (counters: AttemptCounters) =>
      (['biometric', 'security_code'] as const).map((kind) => closedForMs(counters, kind, Date.UTC(2090)))
    expect(closedMs(afterNewCode(dead))).toEqual([0, 0])
    expect(closedMs(locked)).toEqual([FOR_GOOD, FOR_GOOD])
    expect(afterLock(dead).security_code.off).toBe(true)
    const typingReset = { ...locked, biometric: NO_ATTEMPTS.biometric }
    const others = [dead, failures(50, 'biometric').counters, typingReset]
    expect([locked, ...others].map(lockedByAdministrator)).toEqual([true, false, false, false])
  })
})

describe('the reason why an attempt is closed', () => {
  const typingLocked = failures(5, 'biometric')
  it.each([
    ['biometric', {}, null],
    ['biometric', { profileReady: false }, 'enroll'],
    ['biometric', { session: { ...FRESH, biometric: 3 } }, 'session-used-up'],
    ['biometric', { ...typingLocked, session: { ...FRESH, biometric: 3 } }, 'typing-locked'],
    ['security_code', {}, null],
    ['security_code', { policy: policyWith({ enabled: false }) }, 'fallback-off'],
    ['security_code', { codeUsable: false, codeSet: false }, 'code-not-set'],
    ['security_code', { codeUsable: false }, 'code-used'],
    ['security_code', failures(3, 'security_code'), 'code-locked'],
    ['security_code', { policy: typingFirst }, 'typing-first'],
    ['security_code', { session: { ...FRESH, security_code: 3 } }, 'session-used-up'],
  ] as const)('%s with %j: %s, and the window agrees', (kind, changes, why) => {
    const inputs = { ...base, ...changes }
    const window = attemptWindow(inputs)
    expect(whyClosed(inputs, kind)).toBe(why)
    expect(kind === 'biometric' ? window.mode === 'biometric' : window.codeOpen).toBe(why === null)
  })
})

describe('the window of a refusal', () => {
  const typingLocked = failures(5, 'biometric')
  const codeLocked = failures(3, 'security_code')
  it.each([
    ['the rest of the lock of typing, if the code is open', typingLocked, 'typing-locked', 'security_code', 30],
    ['the rest of the lock of codes, if typing is open', codeLocked, 'code-locked', 'biometric', 15 * 60],
    ['no wait if the session alone is used up', codeLocked, 'session-used-up', 'biometric', 0],
    ['no wait if no time ends the lock', failures(50, 'biometric'), 'typing-locked', 'security_code', null],
  ] as const)('says %s', (_, { counters, now }, because, mode, retryAfterSeconds) => {
    const inputs = { ...base, counters, now }
    expect(windowOfRefused(attemptWindow(inputs), inputs, because)).toMatchObject({ mode, retryAfterSeconds })
  })

  it('is the window itself if nothing is open', () => {
    const { counters, now } = typingLocked
    const inputs = { ...base, counters, now: now + 500, codeUsable: false }
    const window = attemptWindow(inputs)
    expect(windowOfRefused(window, inputs, 'code-locked')).toBe(window)
  })
})
