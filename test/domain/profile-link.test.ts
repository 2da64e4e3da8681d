import { describe, expect, it } from 'vitest'
import { DEFAULT_TARGETS, ENROLLMENT, PROFILE_LIFETIME_MS } from '../../src/domain/biometric-status.js'
import { type LinkInputs, type LinkTask, linkAim, linkPlace, linkProgress } from '../../src/domain/profile-link.js'
import { SAMPLE_FORMAT } from '../../src/domain/sample-format.js'
import { member, NOW } from './members.js'

const inputs = (kind: LinkTask['kind'], of: LinkInputs['member'], aim: LinkTask['aim'] = 'target'): LinkInputs => ({
  link: { id: 'one', kind, aim },
  member: of,
  targets: DEFAULT_TARGETS,
  now: NOW,
})
const aim = (kind: LinkTask['kind'], n: number) => linkAim(kind, inputs(kind, member(n)))
const expired = member(5, { completedAt: NOW - PROFILE_LIFETIME_MS - 1 })
const collecting = (owner: string, nVisible: number, nSensitive = 0) => ({
  successor: { owner, sampleFormat: SAMPLE_FORMAT, nVisible, nSensitive },
})

describe('a profile link', () => {
  it('to create aims at a complete profile, and has nothing to do if one exists', () => {
    expect([0, 3, 5, 10].map((n) => aim('create-profile', n))).toEqual(['target', 'target', null, null])
  })

  it('to complete aims at a complete profile, then at a full one, and has nothing to do if the profile is full', () => {
    expect([0, 3, 5, 9, 10].map((n) => aim('complete-profile', n))).toEqual(['target', 'target', 'full', 'full', null])
  })

  it('to reset always has something to do', () => {
    expect([0, 3, 5, 10].map((n) => aim('reset-profile', n))).toEqual(Array(4).fill('target'))
  })

  it('to create or complete adds to the references, up to its aim', () => {
    for (const kind of ['create-profile', 'complete-profile'] as const) {
      expect(linkPlace(inputs(kind, member(3)))).toEqual({ kind: 'current', limit: 5 })
      expect(linkProgress(inputs(kind, member(3)))).toEqual({ nPatterns: 3, targetPatterns: 5 })
      expect(linkPlace(inputs(kind, member(5)))).toEqual({ kind: 'none' })
    }
    expect(linkPlace(inputs('complete-profile', member(7), 'full'))).toEqual({ kind: 'current', limit: 10 })
    expect(linkProgress(inputs('complete-profile', member(7), 'full'))).toEqual({ nPatterns: 7, targetPatterns: 10 })
  })

  it('replaces an expired profile as enrollment does', () => {
    const place = { kind: 'successor', owner: ENROLLMENT, asReset: false }
    expect(linkPlace(inputs('create-profile', expired))).toEqual(place)
    expect(linkProgress(inputs('create-profile', expired))).toEqual({ nPatterns: 0, targetPatterns: 5 })
    const begun = { ...expired, ...collecting(ENROLLMENT, 2) }
    expect(linkProgress(inputs('create-profile', begun))).toEqual({ nPatterns: 2, targetPatterns: 5 })
  })

  it('to reset collects separately: it never uses references of another link or of enrollment', () => {
    for (const of of [member(0), member(3), member(10), expired])
      expect(linkPlace(inputs('reset-profile', of))).toEqual({ kind: 'successor', owner: 'link:one', asReset: true })
    const own = inputs('reset-profile', member(10, collecting('link:one', 3, 1)))
    expect(linkProgress(own)).toEqual({ nPatterns: 4, targetPatterns: 5 })
    const other = inputs('reset-profile', member(10, collecting('link:two', 4)))
    expect(linkProgress(other)).toEqual({ nPatterns: 0, targetPatterns: 5 })
  })
})
