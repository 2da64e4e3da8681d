import { expect, it } from 'vitest'
import { seededRandom } from '../../src/calibration/random.js'
import { afterFailure, attemptWindow, NO_ATTEMPTS } from '../../src/domain/attempts.js'
import { DEFAULT_POLICY } from '../../src/domain/policy.js'
import { figure } from '../harness/figure.js'

const MEMBERS = 1_000
const SESSIONS = 40
const GUESSES = 5
const CODES = 1_000_000
const HOUR_MS = 3_600_000

/**
 * Uses only the attempt rules of the domain, with a simulated clock: the comparisons that a guesser gets over weeks.
 */
it('a guesser of security codes gets few comparisons, and none during a lock', () => {
  const random = seededRandom(8)
  let [tried, compared, inLock, most, inDay] = [0, 0, 0, 0, 0]
  for (let member = 0; member < MEMBERS; member++) {
    let counters = NO_ATTEMPTS
    const times: number[] = []
    let now = 0
    for (let session = 0; session < SESSIONS; session++) {
      // A patient guesser: in 70 % of the sessions it waits until the lock ends.
      const wait = counters.security_code.closedUntil - now
      now += random() < 0.7 ? Math.max(1000, wait) : random() * 6 * HOUR_MS
      let used = 0
      for (let guess = 0; guess < GUESSES; guess++, now += 1000) {
        tried++
        const { codeOpen } = attemptWindow({
          policy: DEFAULT_POLICY,
          session: { biometric: 0, security_code: used, typingFailed: false },
          counters,
          profileReady: true,
          codeUsable: true,
          now,
        })
        if (!codeOpen) continue
        if (counters.security_code.closedUntil > now) inLock++
        used++
        compared++
        times.push(now)
        counters = afterFailure(counters, 'security_code', now)
      }
    }
    most = Math.max(most, times.length)
    for (const [i, at] of times.entries())
      inDay = Math.max(inDay, times.slice(i).filter((time) => time < at + 24 * HOUR_MS).length)
  }
  expect(inLock).toBe(0)
  expect(compared).toBeGreaterThan(5 * MEMBERS)
  const share = compared / MEMBERS / CODES
  const found = `${most} of ${(tried / MEMBERS).toFixed(0)} guesses at a member compared (bar 10), ${inDay} in 24 h (bar 20)`
  figure('T08', found, '10, 20, 3.5e-5', most <= 10 && inDay <= 20 && share <= 3 * 1.15e-5)
})
