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
  verdict({ confidenceBiometrics, confidenceContext: null, bot: false, replay: false, impossibleTravel: false }, of)
    .recommendedAction

describe('the confidence joined of both scores', () => {
  it('never turns a block of the enrolled references into auth, under any policy', () => {
    fc.assert(
      fc.property(unit, unit, policy, (enrolled, all, of) => {
        if (judged(enrolled, of) === 'block') expect(judged(joinedConfidence(enrolled, all, of), of)).toBe('block')
      }),
      { numRuns: 5000 },
    )
  })

  it('is never below that of the enrolled references, and equal to it without others', () => {
    fc.assert(
      fc.property(unit, unit, policy, (enrolled, all, of) => {
        expect(joinedConfidence(enrolled, all, of)).toBeGreaterThanOrEqual(enrolled)
        expect(joinedConfidence(enrolled, null, of)).toBe(enrolled)
      }),
    )
  })

  it('lifts only what the default policy would challenge', () => {
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
  it('adapts the profile where it is clean', () => {
    expect(mayAdapt(clean)).toBe(true)
    expect(mayAdapt({ ...clean, confidenceContext: 0.9, adaptedAt: NOW - ADAPTATION_INTERVAL_MS })).toBe(true)
  })

  it.each<[string, Partial<AdaptationInputs>]>([
    ['was challenged', { verdict: { confidence: 0.97, recommendedAction: 'challenge', reason: '' } }],
    ['was blocked', { verdict: { confidence: 0.97, recommendedAction: 'block', reason: 'detection-bot' } }],
    ['was seen before, with replays only flagged', { replay: true }],
    ['only adaptive references confirm', { confidenceEnrolled: UPDATE_CONFIDENCE - 0.001 }],
    ['the context counts against', { confidenceContext: 0.49 }],
    ['comes within a day of the last', { adaptedAt: NOW - ADAPTATION_INTERVAL_MS + 1 }],
  ])('adapts nothing if it %s', (_, change) => {
    expect(mayAdapt({ ...clean, ...change })).toBe(false)
  })
})
