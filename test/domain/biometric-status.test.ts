import { describe, expect, it } from 'vitest'
import { biometricStatus, DEFAULT_TARGETS, PROFILE_LIFETIME_MS } from '../../src/domain/biometric-status.js'

const NOW = 1_800_000_000_000
const status = (nPatternsRef: number, more: Partial<Parameters<typeof biometricStatus>[0]> = {}) =>
  biometricStatus(
    { nPatternsRef, everReset: false, completedAt: NOW - 1, lastSuccessAt: null, ...more },
    DEFAULT_TARGETS,
    NOW,
  )

describe('the biometric status', () => {
  it.each([
    [0, 'not-ready'],
    [1, 'in-progress'],
    [4, 'in-progress'],
    [5, 'ok'],
    [9, 'ok'],
    [10, 'full'],
  ])('with %i references is %s', (n, wanted) => expect(status(n)).toBe(wanted))

  it('is reset at zero once a profile was emptied', () => expect(status(0, { everReset: true })).toBe('reset'))

  it('is expired a year after the last success, or after completion where there was none', () => {
    expect(status(5, { completedAt: NOW - PROFILE_LIFETIME_MS })).toBe('ok')
    expect(status(5, { completedAt: NOW - PROFILE_LIFETIME_MS - 1 })).toBe('expired')
    expect(status(5, { completedAt: NOW - PROFILE_LIFETIME_MS - 1, lastSuccessAt: NOW - 5 })).toBe('ok')
  })

  it('falls back to in-progress where the target rises above the count', () => {
    const raised = { targetRefPatterns: 7, fullRefPatterns: 10 }
    expect(
      biometricStatus({ nPatternsRef: 5, everReset: false, completedAt: NOW, lastSuccessAt: null }, raised, NOW),
    ).toBe('in-progress')
  })
})
