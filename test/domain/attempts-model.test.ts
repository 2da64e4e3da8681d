import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attemptWindow } from '../../src/domain/attempts.js'
import { DEFAULT_POLICY } from '../../src/domain/policy.js'
import { agreement, lateAgreement, policies } from './attempts-played.js'

/** `attempts-model.long.test.ts` plays more runs. */
const RUN = { numRuns: 2000, seed: 1 }

describe('the rules of attempts, against the oracle', () => {
  it('agree with it in runs of reservations, ends, waits, sessions, resets, codes and unlocks', () => {
    fc.assert(agreement, RUN)
  })

  it('close what it closes, for the same time, in histories without enforced locks', () => {
    fc.assert(lateAgreement, RUN)
  })
})

type Inputs = Parameters<typeof attemptWindow>[0]

describe('the open mode', () => {
  const use = fc.integer({ min: 0, max: 6 })
  const times = fc.integer({ min: 0, max: 2000 })
  const counters = fc.record({
    streak: fc.nat(60),
    closedUntil: times,
    off: fc.boolean(),
    recentFailures: fc.array(times, { maxLength: 20 }),
  })
  const inputs = fc.record({
    policy: policies.map((fallback) => ({ ...DEFAULT_POLICY, security_code_fallback: fallback })),
    session: fc.record({ biometric: use, security_code: use, typingFailed: fc.boolean() }),
    counters: fc.record({ biometric: counters, security_code: counters }),
    profileReady: fc.boolean(),
    codeUsable: fc.boolean(),
    now: times,
  })

  it('depends only on policy, session, locks and time', () => {
    const read = (whole: Inputs): Inputs => ({
      ...whole,
      policy: {
        ...DEFAULT_POLICY,
        security_code_fallback: { ...whole.policy.security_code_fallback, code_length: 9, weak_codes: ['1'] },
        name: 'another',
        priority: 'security',
      },
      counters: {
        biometric: { ...whole.counters.biometric, streak: 0, recentFailures: [] },
        security_code: { ...whole.counters.security_code, streak: 0, recentFailures: [] },
      },
    })
    fc.assert(
      fc.property(inputs, (whole) => {
        const copy = structuredClone(whole)
        const window = attemptWindow(whole)
        expect(whole).toEqual(copy)
        expect(attemptWindow(copy)).toEqual(window)
        expect(attemptWindow(read(copy))).toEqual(window)
      }),
      RUN,
    )
  })
})
