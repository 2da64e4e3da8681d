import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ADAPTATION_INTERVAL_MS,
  type AdaptationInputs,
  joinedConfidence,
  mayAdapt,
  UPDATE_CONFIDENCE,
} from '../../src/domain/adaptation.js'
import { DEFAULT_POLICY, type Policy, PRIORITIES } from '../../src/domain/policy.js'
import { verdict } from '../../src/domain/verdict.js'

const NOW = 1_800_000_000_000
const unit = fc.double({ min: 0, max: 1, noNaN: true })
const policy: fc.Arbitrary<Policy> = fc
  .record({
    decision_threshold: fc.double({ min: 0.01, max: 0.99, noNaN: true }),
    priority: fc.constantFrom(...PRIORITIES),
  })
  .map((chosen) => ({ ...DEFAULT_POLICY, ...chosen }))
const judged = (confidenceBiometrics: number, of: Policy) =>
  verdict(
    {
      confidenceBiometrics,
      confidenceContext: null,
      bot: false,
      replay: false,
      editedCopy: false,
      copyInDoubt: false,
      impossibleTravel: false,
    },
    of,
  ).recommendedAction

describe('the confidence combined from both scores', () => {
  it('never changes a block by the enrolled references alone, under any policy', () => {
    fc.assert(
      fc.property(unit, unit, policy, (enrolled, all, of) => {
        if (judged(enrolled, of) === 'block') expect(judged(joinedConfidence(enrolled, all, of), of)).toBe('block')
      }),
      { seed: 1, numRuns: 5000 },
    )
  })

  it('is never below the confidence of the enrolled references, and equals it without others', () => {
    fc.assert(
      fc.property(unit, unit, policy, (enrolled, all, of) => {
        expect(joinedConfidence(enrolled, all, of)).toBeGreaterThanOrEqual(enrolled)
        expect(joinedConfidence(enrolled, null, of)).toBe(enrolled)
      }),
    )
  })

  it('is raised only if the policy would challenge by the enrolled references alone', () => {
    expect(joinedConfidence(0.36, 0.8, DEFAULT_POLICY)).toBe(0.8)
    expect(joinedConfidence(0.34, 0.8, DEFAULT_POLICY)).toBe(0.34)
    expect(joinedConfidence(0.5, 0.8, DEFAULT_POLICY)).toBe(0.5)
    expect(joinedConfidence(0.49, 0.8, { ...DEFAULT_POLICY, priority: 'security' })).toBe(0.49)
  })
})

describe('a sign-in', () => {
  const clean: AdaptationInputs = {
    verdict: { confidence: 0.97, recommendedAction: 'auth', reason: '' },
    replay: false,
    confidenceEnrolled: UPDATE_CONFIDENCE,
    confidenceContext: null,
    adaptedAt: null,
    now: NOW,
  }
  it('adapts the profile if it is clean', () => {
    expect(mayAdapt(clean)).toBe(true)
    expect(mayAdapt({ ...clean, confidenceContext: 0.9, adaptedAt: NOW - ADAPTATION_INTERVAL_MS })).toBe(true)
  })

  it.each<[string, Partial<AdaptationInputs>]>([
    ['is challenged', { verdict: { confidence: 0.97, recommendedAction: 'challenge', reason: '' } }],
    ['is blocked', { verdict: { confidence: 0.97, recommendedAction: 'block', reason: 'detection-bot' } }],
    ['is a replay under REPLAY=flag', { replay: true }],
    ['is confirmed by adaptive references only', { confidenceEnrolled: UPDATE_CONFIDENCE - 0.001 }],
    ['has a low context confidence', { confidenceContext: 0.49 }],
    ['follows the last adaptation within a day', { adaptedAt: NOW - ADAPTATION_INTERVAL_MS + 1 }],
  ])('adapts nothing if it %s', (_, change) => {
    expect(mayAdapt({ ...clean, ...change })).toBe(false)
  })
})
