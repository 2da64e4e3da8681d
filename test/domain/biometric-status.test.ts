import { describe, expect, it } from 'vitest'
import {
  biometricStatus,
  canVerify,
  DEFAULT_TARGETS,
  ENROLLMENT,
  PROFILE_LIFETIME_MS,
  refPatternsStatus,
} from '../../src/domain/biometric-status.js'
import { SAMPLE_FORMAT } from '../../src/domain/sample-format.js'
import { member, NOW } from './members.js'

type Profile = Parameters<typeof biometricStatus>[0]
/** The status of a profile that was completed now, with changes. `test/simulator` checks it after calls in any order. */
const status = (n: number, more: Partial<Profile> = {}, targets = DEFAULT_TARGETS) =>
  biometricStatus(member(n, { completedAt: NOW, ...more }), targets, NOW)

describe('the biometric status', () => {
  it('follows the number of references, also if the target was raised or lowered since', () => {
    const found = Object.fromEntries([0, 1, 4, 5, 9, 10, 11].map((n) => [n, status(n)]))
    const partial = { 1: 'in-progress', 4: 'in-progress' }
    expect(found).toEqual({ 0: 'not-ready', ...partial, 5: 'ok', 9: 'ok', 10: 'full', 11: 'full' })
    expect(status(6, {}, { targetRefPatterns: 7, fullRefPatterns: 10 })).toBe('in-progress')
    expect(status(5, {}, { targetRefPatterns: 5, fullRefPatterns: 5 })).toBe('full')
    expect(status(4, { completedAt: null }, { targetRefPatterns: 3, fullRefPatterns: 10 })).toBe('ok')
  })

  it('without references is reset if there were some', () => {
    expect(status(0, { everReset: true })).toBe('reset')
    expect(status(0, { everReset: true, lastTypedAt: 1 })).toBe('reset')
    expect(status(1, { everReset: true })).toBe('in-progress')
  })

  it('of a complete profile is expired a year after its completion or its last success, and not before', () => {
    const [yearAgo, before] = [NOW - PROFILE_LIFETIME_MS, NOW - PROFILE_LIFETIME_MS - 1]
    expect(PROFILE_LIFETIME_MS).toBe(365 * 24 * 3_600_000)
    expect([5, 10].map((n) => status(n, { completedAt: yearAgo }))).toEqual(['ok', 'full'])
    expect([5, 10].map((n) => status(n, { completedAt: before }))).toEqual(['expired', 'expired'])
    expect(status(5, { completedAt: before, lastTypedAt: yearAgo })).toBe('ok')
    expect(status(5, { completedAt: before, lastTypedAt: before })).toBe('expired')
    expect(status(4, { completedAt: before, lastTypedAt: before })).toBe('in-progress')
  })

  it('opens typing in ok and full only', () => {
    const open = (['not-ready', 'in-progress', 'ok', 'full', 'reset', 'expired'] as const).filter(canVerify)
    expect(open).toEqual(['ok', 'full'])
  })

  it('counts each capture mode separately', () => {
    const found = [0, 1, 4, 5].map((n) => refPatternsStatus(n, DEFAULT_TARGETS))
    expect(found).toEqual(['none', 'in-progress', 'in-progress', 'ok'])
  })
})

describe('an outdated generation', () => {
  const unread = { sampleFormat: SAMPLE_FORMAT + 1 }
  const successor = { owner: ENROLLMENT, sampleFormat: SAMPLE_FORMAT, nVisible: 2, nSensitive: 0 }

  it('in a format that the scorer does not read is expired', () => {
    expect([0, 1, 5, 10].map((n) => status(n, unread))).toEqual(['not-ready', 'expired', 'expired', 'expired'])
  })

  it('is shown as in-progress while enrollment collects the next one, but not while a link does', () => {
    expect(status(5, { ...unread, successor })).toBe('in-progress')
    expect(status(5, { ...unread, successor: { ...successor, owner: 'a link' } })).toBe('expired')
    expect(status(5, { successor: { ...successor, owner: 'a link' } })).toBe('ok')
  })
})
