import { describe, expect, it } from 'vitest'
import type { Member } from '../../src/domain/account.js'
import { DEFAULT_TARGETS, ENROLLMENT, PROFILE_LIFETIME_MS } from '../../src/domain/biometric-status.js'
import { type EnrollmentInputs, enrollmentPlace } from '../../src/domain/enrollment.js'
import { PENDING_ACTION_LIFETIME_MS } from '../../src/domain/pending-action.js'
import { SAMPLE_FORMAT } from '../../src/domain/sample-format.js'
import { member, NOW } from './members.js'

const MINUTE = 60_000
const place = (of: Member, session: Partial<EnrollmentInputs['session']> = {}) =>
  enrollmentPlace({
    member: of,
    session: { authenticatedAt: null, reportedAction: null, ...session },
    targets: DEFAULT_TARGETS,
    now: NOW,
  })
const reset = { id: 'a', action: 'RESET_BIOMETRIC_PROFILE', queuedAt: NOW - 1, nReplaced: 0 } as const
const update = { ...reset, action: 'UPDATE_BIOMETRIC_PROFILE' } as const

describe('an enrolled pattern', () => {
  it.each([0, 1, 4])('is added to %i references, up to the target', (n) => {
    expect(place(member(n))).toEqual({ kind: 'current', limit: 5 })
  })

  it('is refused once the profile is complete, unless typing succeeded in this session within 5 minutes', () => {
    expect(place(member(5))).toEqual({ kind: 'closed' })
    expect(place(member(5), { authenticatedAt: NOW - 5 * MINUTE })).toEqual({ kind: 'current', limit: 10 })
    expect(place(member(5), { authenticatedAt: NOW - 5 * MINUTE - 1 })).toEqual({ kind: 'closed' })
  })

  it('is not stored if the profile is full, without an error', () => {
    expect(place(member(10))).toEqual({ kind: 'none' })
    expect(place(member(10), { authenticatedAt: NOW })).toEqual({ kind: 'none' })
  })

  it('goes into a successor if the profile is expired or a successor exists', () => {
    const expired = { completedAt: NOW - PROFILE_LIFETIME_MS - 1 }
    const next = { kind: 'successor', owner: ENROLLMENT, asReset: false }
    const successor = { owner: ENROLLMENT, sampleFormat: SAMPLE_FORMAT, nVisible: 2, nSensitive: 0 }
    expect(place(member(5, expired))).toEqual(next)
    expect(place(member(10, expired))).toEqual(next)
    expect(place(member(5, { ...expired, successor }))).toEqual(next)
    expect(place(member(3, { sampleFormat: SAMPLE_FORMAT + 1 }))).toEqual(next)
    expect(place(member(5, { successor: { ...successor, owner: 'a link' } }))).toEqual({ kind: 'closed' })
  })

  it('is stored after a queued reset that this session has reported, in any state', () => {
    for (const n of [0, 3, 5, 10]) {
      expect(place(member(n, { pending: reset }), { reportedAction: 'a' })).toEqual({ kind: 'reset', pendingId: 'a' })
      expect(place(member(n, { pending: reset }), { reportedAction: 'b' }).kind).not.toBe('reset')
      const lapsed = { ...reset, queuedAt: NOW - PENDING_ACTION_LIFETIME_MS - 1 }
      expect(place(member(n, { pending: lapsed }), { reportedAction: 'a' }).kind).not.toBe('reset')
    }
  })

  it('replaces the oldest reference under a queued update, if this session has reported it and then authenticated', () => {
    const session = { reportedAction: 'a', authenticatedAt: NOW - 14 * MINUTE }
    for (const n of [5, 10]) {
      expect(place(member(n, { pending: update }), session)).toEqual({ kind: 'replace', pendingId: 'a' })
    }
    expect(place(member(5, { pending: update }), { reportedAction: 'a' })).toEqual({ kind: 'closed' })
    expect(place(member(10, { pending: update }), { reportedAction: 'a' })).toEqual({ kind: 'none' })
    expect(place(member(5, { pending: update }), { ...session, reportedAction: null })).toEqual({ kind: 'closed' })
    expect(place(member(4, { pending: update }), session)).toEqual({ kind: 'current', limit: 5 })
  })
})
