import { describe, expect, it } from 'vitest'
import type { Account } from '../../src/domain/account.js'
import {
  biometricStatus,
  canVerify,
  DEFAULT_TARGETS,
  ENROLLMENT,
  refPatternsStatus,
} from '../../src/domain/biometric-status.js'
import { SAMPLE_FORMAT } from '../../src/domain/sample-format.js'
import { stateOf } from '../../src/flows/session/bootstrap.js'
import { type Play, type Profile, play, profileOf, SHIPPED } from './biometric-status-played.js'

const NOW = 1_800_000_000_000
const YEAR_DAYS = 365

/** A profile with a number of references. */
function profile(n: number, targets = DEFAULT_TARGETS): Play {
  const played = play(SHIPPED, targets)
  for (let i = 0; i < n; i++) played.enroll(true)
  return played
}
const expired = () => {
  const played = profile(7)
  played.wait(YEAR_DAYS + 1)
  return played
}
const reset = () => {
  const played = profile(3)
  played.reset()
  return played
}

describe('the biometric status, row by row of its table', () => {
  it('absent, bootstrap: not-ready', () => {
    const account: Account = {
      id: 'id',
      userRef: 'ada',
      type: 'nominative',
      displayName: null,
      memberSelection: 'ask',
      groups: [],
      tag: {},
      createdAt: NOW,
    }
    expect(stateOf({ targets: DEFAULT_TARGETS, now: () => NOW }, account, null).biometricStatus).toBe('not-ready')
    expect(profile(0).status()).toBe('not-ready')
  })

  it.each([
    ['not-ready', () => profile(0)],
    ['reset', reset],
    ['expired', expired],
  ])('%s, enroll, below the target: in-progress', (from, made) => {
    const played = made()
    expect(played.status()).toBe(from)
    expect(played.enroll(false)).toBe('stored')
    expect([played.status(), played.n()]).toEqual(['in-progress', 1])
  })

  it('in-progress, enroll, target reached: ok, or full if the full number equals the target', () => {
    const played = profile(4)
    played.enroll(false)
    expect(played.status()).toBe('ok')
    expect(profile(5, { targetRefPatterns: 5, fullRefPatterns: 5 }).status()).toBe('full')
  })

  it('ok, enroll, in a session already authenticated: ok, full at ten; else 409', () => {
    const played = profile(5)
    expect(played.enroll(false)).toBe('409')
    expect(played.n()).toBe(5)
    for (const wanted of ['ok', 'ok', 'ok', 'ok', 'full']) {
      expect(played.enroll(true)).toBe('stored')
      expect(played.status()).toBe(wanted)
    }
  })

  it('full, enroll: full, nothing stored', () => {
    const played = profile(10)
    expect(played.enroll(true)).toBe('nothing stored')
    expect([played.status(), played.n()]).toEqual(['full', 10])
  })

  it.each([0, 3, 5, 10])('any with %i references, reset: reset', (n) => {
    const played = profile(n)
    played.reset()
    expect([played.status(), played.n()]).toEqual(['reset', 0])
  })
  it('expired, reset: reset', () => {
    const played = expired()
    played.reset()
    expect(played.status()).toBe('reset')
  })

  it.each([
    [11, 'full'],
    [10, 'ok'],
    [6, 'ok'],
    [5, 'in-progress'],
    [2, 'in-progress'],
    [1, 'reset'],
  ])('any with %i references, one removed: %s', (n, wanted) => {
    expect(biometricStatus(SHIPPED.afterRemoval(profileOf(n, NOW)), DEFAULT_TARGETS, NOW)).toBe(wanted)
  })

  it.each([
    [5, 'ok'],
    [6, 'full'],
  ])('with %i references (%s), target raised above them: in-progress', (n, from) => {
    const played = profile(n, { targetRefPatterns: 5, fullRefPatterns: 6 })
    expect(played.status()).toBe(from)
    expect(biometricStatus(profileOf(n, NOW), { targetRefPatterns: 7, fullRefPatterns: 10 }, NOW)).toBe('in-progress')
  })

  it.each([
    [5, 'ok'],
    [10, 'full'],
  ])('with %i references (%s), 365 days without a success: expired', (n, from) => {
    const played = profile(n)
    played.wait(YEAR_DAYS)
    expect(played.status()).toBe(from)
    played.succeed()
    played.wait(YEAR_DAYS)
    expect(played.status()).toBe(from)
    played.wait(1)
    expect(played.status()).toBe('expired')
  })
})

describe('an outdated generation', () => {
  const unread = { sampleFormat: SAMPLE_FORMAT + 1 }
  const successor = { owner: ENROLLMENT, sampleFormat: SAMPLE_FORMAT, nVisible: 2, nSensitive: 0 }
  const status = (n: number, more: Partial<Profile>, targets = DEFAULT_TARGETS) =>
    biometricStatus({ ...profileOf(n, NOW), ...more }, targets, NOW)

  it.each([1, 5, 10])('of %i references in a format that the scorer does not read is expired', (n) => {
    expect(status(n, unread)).toBe('expired')
    expect(status(0, unread)).toBe('not-ready')
  })

  it('is shown as in-progress while enrollment collects the next one, but not while a link does', () => {
    expect(status(5, { ...unread, successor })).toBe('in-progress')
    expect(status(5, { ...unread, successor: { ...successor, owner: 'a link' } })).toBe('expired')
    expect(status(5, { successor: { ...successor, owner: 'a link' } })).toBe('ok')
  })

  it('does not include a profile that became complete only because the target was lowered', () => {
    expect(status(4, { completedAt: null }, { targetRefPatterns: 3, fullRefPatterns: 10 })).toBe('ok')
  })
})

describe('consequences of the status', () => {
  it('typing is open in ok and full only', () => {
    const open = (['not-ready', 'in-progress', 'ok', 'full', 'reset', 'expired'] as const).filter(canVerify)
    expect(open).toEqual(['ok', 'full'])
  })

  it('each capture mode is counted separately', () => {
    expect([0, 1, 4, 5].map((n) => refPatternsStatus(n, DEFAULT_TARGETS))).toEqual([
      'none',
      'in-progress',
      'in-progress',
      'ok',
    ])
  })
})
