import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { biometricStatus, PROFILE_LIFETIME_MS } from '../../src/domain/biometric-status.js'
import { agreement, SHIPPED, type StatusRules } from './biometric-status-played.js'

const RUNS = 10_000

it(`the biometric status follows the table in ${RUNS} runs of enrollments, removals, resets, successes and waits`, () => {
  fc.assert(agreement(SHIPPED), { numRuns: RUNS })
}, 60_000)

type Inputs = Parameters<typeof biometricStatus>
const withInputs = (change: (...inputs: Inputs) => Inputs): Partial<StatusRules> => ({
  status: (...inputs) => biometricStatus(...change(...inputs)),
})

const planted: readonly [string, Partial<StatusRules>][] = [
  [
    'a profile is complete one pattern early',
    withInputs((p, t, now) => [p, { ...t, targetRefPatterns: t.targetRefPatterns - 1 }, now]),
  ],
  [
    'a profile is complete one pattern late',
    withInputs((p, t, now) => [p, { ...t, targetRefPatterns: t.targetRefPatterns + 1 }, now]),
  ],
  [
    'a profile is full one pattern late',
    withInputs((p, t, now) => [p, { ...t, fullRefPatterns: t.fullRefPatterns + 1 }, now]),
  ],
  ['a year is a millisecond short', withInputs((p, t, now) => [p, t, now + 1])],
  ['a year is a millisecond long', withInputs((p, t, now) => [p, t, now - 1])],
  ['a profile expires whatever its successes', withInputs((p, t, now) => [{ ...p, lastTypedAt: null }, t, now])],
  [
    'an unfinished profile expires',
    {
      status: (p, t, now) =>
        p.nPatternsRef > 0 && now - Math.max(p.completedAt ?? 0, p.lastTypedAt ?? 0) > PROFILE_LIFETIME_MS
          ? 'expired'
          : biometricStatus(p, t, now),
    },
  ],
  [
    'typing is open in an expired profile',
    { canVerify: (status) => SHIPPED.canVerify(status) || status === 'expired' },
  ],
  ['typing is closed in a full profile', { canVerify: (status) => status === 'ok' }],
  ['the time of completion is not stored', { afterAdd: (p) => ({ ...p, nPatternsRef: p.nPatternsRef + 1 }) }],
  ['the last removal is no reset', { afterRemoval: (p) => ({ ...SHIPPED.afterRemoval(p), everReset: p.everReset }) }],
  ['a reset is forgotten', { afterReset: (p) => ({ ...SHIPPED.afterReset(p), everReset: p.everReset }) }],
  ['an expired generation counts together with the next one', { afterCollected: SHIPPED.afterAdd }],
  [
    'an expired generation is dropped with the first of the next one',
    { afterCollected: (p, target, now) => SHIPPED.afterAdd(SHIPPED.afterReset(p), target, now) },
  ],
  ['a reset leaves a pattern', { afterReset: (p) => ({ ...SHIPPED.afterReset(p), nPatternsRef: 1 }) }],
]

describe('with a planted bug in the status, the table', () => {
  it.each(planted)('detects that %s', (_, bug) => {
    const { failed } = fc.check(agreement({ ...SHIPPED, ...bug }), { numRuns: RUNS, endOnFailure: true })
    expect(failed).toBe(true)
  })
})
