import { describe, expect, it } from 'vitest'
import { DEFAULT_POLICY, type Policy } from '../../src/domain/policy.js'
import { verdict } from '../../src/domain/verdict.js'

const evidence = {
  confidenceBiometrics: 0.9,
  confidenceContext: null,
  bot: false,
  replay: false,
  editedCopy: false,
  copyInDoubt: false,
  impossibleTravel: false,
}
const action = (confidenceBiometrics: number, confidenceContext: number | null, policy = DEFAULT_POLICY) =>
  verdict({ ...evidence, confidenceBiometrics, confidenceContext }, policy).recommendedAction

describe('a verdict', () => {
  it.each([
    [0.5, 'auth'],
    [0.49, 'challenge'],
    [0.35, 'challenge'],
    [0.34, 'block'],
  ])('at biometric confidence %d alone is %s', (confidence, wanted) => expect(action(confidence, null)).toBe(wanted))

  it('weighs context by the policy', () => {
    expect(
      verdict({ ...evidence, confidenceBiometrics: 0.6, confidenceContext: 1 }, DEFAULT_POLICY).confidence,
    ).toBeCloseTo(0.68)
  })

  it('blocks a biometric confidence below half the threshold, for any context', () => {
    expect(action(0.24, 1, { ...DEFAULT_POLICY, contextual_influence: 0.5 })).toBe('block')
  })

  it('has no challenge band if the priority is security', () => {
    expect(action(0.49, null, { ...DEFAULT_POLICY, priority: 'security' })).toBe('block')
    expect(action(0.26, null, { ...DEFAULT_POLICY, priority: 'usability' })).toBe('challenge')
  })

  it('challenges a bot and an edited copy where the policy says so, unless the typing itself is blocked', () => {
    const lenient: Policy = { ...DEFAULT_POLICY, on_suspicion: 'challenge' }
    const of = (changes: Partial<typeof evidence>, policy = lenient) => verdict({ ...evidence, ...changes }, policy)
    expect(of({ editedCopy: true })).toMatchObject({ recommendedAction: 'challenge', reason: 'fraud-detected' })
    expect(of({ bot: true })).toMatchObject({ recommendedAction: 'challenge', reason: 'detection-bot' })
    for (const suspected of [{ editedCopy: true }, { bot: true }]) {
      expect(of(suspected, DEFAULT_POLICY).recommendedAction).toBe('block')
      for (const certain of [{ replay: true }, { impossibleTravel: true }, { confidenceBiometrics: 0.2 }])
        expect(of({ ...suspected, ...certain }).recommendedAction).toBe('block')
    }
  })

  it('challenges a pattern that may be a copy, unless the priority is usability', () => {
    const of = (priority: Policy['priority'], confidenceBiometrics = 0.9) =>
      verdict({ ...evidence, confidenceBiometrics, copyInDoubt: true }, { ...DEFAULT_POLICY, priority })
    for (const priority of ['security', 'balanced'] as const)
      expect(of(priority)).toMatchObject({ recommendedAction: 'challenge', reason: '' })
    expect(of('usability').recommendedAction).toBe('auth')
    expect(of('balanced', 0.2).recommendedAction).toBe('block')
  })

  it('blocks a bot and a replay at any confidence, and gives the reason', () => {
    expect(verdict({ ...evidence, bot: true, replay: true }, DEFAULT_POLICY)).toMatchObject({
      recommendedAction: 'block',
      reason: 'detection-bot',
    })
    expect(verdict({ ...evidence, replay: true }, DEFAULT_POLICY)).toMatchObject({
      recommendedAction: 'block',
      reason: 'fraud-detected',
    })
  })
})
