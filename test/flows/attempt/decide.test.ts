import { parse, v7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import { NO_ATTEMPTS } from '../../../src/domain/attempts.js'
import { DEFAULT_POLICY, type Policy } from '../../../src/domain/policy.js'
import type { AttemptContext } from '../../../src/flows/attempt/attempt-context.js'
import type { Comparison } from '../../../src/flows/attempt/compare.js'
import { decide } from '../../../src/flows/attempt/decide.js'
import { NOT_SEEN, type ReplayCheck } from '../../../src/flows/attempt/replay-check.js'
import { EMPTY_ROW, latestOf } from '../../../src/flows/attempt/sketch-row.js'
import type { PatternReading } from '../../../src/scoring/scoring.js'
import { member, NOW } from '../../domain/members.js'

const mark = { exact: Uint8Array.of(1), bands: [1n, 2n] }
const CHALLENGE = { on_suspicion: 'challenge' } as const
const TESTED = v7()
const rowOf = (id: string) => latestOf(EMPTY_ROW, [{ id: parse(id), sketch: Uint8Array.of(0) }], 1)
const location = { network: null, place: null, anonymizer: null }

const COPY = { index: 1, chance: 1e-7 }
const DOUBT = { index: 1, chance: 0.003 }

// Sound: `decide` reads no other fields of context and comparison.
const contextOf = (policy: Partial<Policy> = {}, method: 'biometric' | 'security_code' = 'biometric', shadow = {}) =>
  ({
    method,
    account: { id: 'a', userRef: 'ada', type: 'nominative' },
    member: member(5, { attemptsVersion: 7, rowVersion: 9 }),
    session: { sha256: Buffer.alloc(32, 3) },
    settings: { policy: { id: 'p', policy: { ...DEFAULT_POLICY, ...policy } }, shadow: null, ...shadow },
  }) as unknown as AttemptContext

const typing = (changes: Partial<PatternReading> = {}) =>
  ({
    method: 'biometric',
    reading: {
      ...{ ip: null, mode: 'visible', metadata: { device: null, application: 'web', tags: [] }, replayMark: mark },
      ...{ bot: false, botLikelihood: 0.1, replayOfReference: false, copy: null },
      ...{ confidence: 0.9, confidenceAdapted: null, nReferencesUsed: 5, ...changes },
    },
    known: { references: rowOf(v7()), confirmed: rowOf(TESTED), failed: EMPTY_ROW },
    ...{ references: ['e0'], adaptive: [], patternId: 'n', sealed: Uint8Array.of(5) },
  }) as unknown as Comparison

const decided = (
  context: AttemptContext,
  comparison: Comparison,
  check: ReplayCheck = NOT_SEEN,
  replay: 'reject' | 'flag' = 'reject',
) => decide({ replay, contextIndicators: [] }, { context, comparison, location, check, id: 'i', now: NOW })

describe('the decision on an attempt', () => {
  it.each([
    ['the owner', {}, {}, 'auth', ''],
    ['another person', { confidence: 0.1 }, {}, 'block', ''],
    ['somebody near the threshold', { confidence: 0.45 }, {}, 'challenge', ''],
    ['a machine', { bot: true }, {}, 'block', 'detection-bot'],
    ['a machine, if suspicion is a challenge', { bot: true }, CHALLENGE, 'challenge', 'detection-bot'],
    ['a copy of a reference', { replayOfReference: true }, CHALLENGE, 'block', 'fraud-detected'],
    ['a copy', { copy: COPY }, {}, 'block', 'fraud-detected'],
    ['a copy, if suspicion is a challenge', { copy: COPY }, CHALLENGE, 'challenge', 'fraud-detected'],
    ['what may be a copy', { copy: DOUBT }, {}, 'challenge', ''],
    ['what may be a copy, if usability comes first', { copy: DOUBT }, { priority: 'usability' }, 'auth', ''],
  ] as const)('is by score, signs and policy: %s', (_, reading, policy, recommendedAction, reason) => {
    const record = decided(contextOf(policy), typing(reading))
    expect(record).toMatchObject({ recommendedAction, reason, authenticated: recommendedAction === 'auth' })
    const failed = { streak: 1, recentFailures: [NOW] }
    const { biometric } = record.counters
    if (recommendedAction === 'auth') expect(record.counters).toEqual(NO_ATTEMPTS)
    else expect(biometric).toMatchObject(failed)
  })

  it('gives a pattern with the times of a known one no mark, and any other its mark with those that were cleared', () => {
    const seen = decided(contextOf(), typing(), { seenBefore: true, cleared: [] })
    expect(seen).toMatchObject({ recommendedAction: 'block', reason: 'fraud-detected', replayMark: null })
    const cleared = [Uint8Array.of(8)]
    const other = decided(contextOf(), typing(), { seenBefore: false, cleared })
    expect(other).toMatchObject({ authenticated: true, replayMark: { ...mark, cleared } })
  })

  it('only notes a replay where replays are not rejected, and names the pattern that was copied', () => {
    const copy = typing({ copy: COPY })
    const { authenticated, facts } = decided(contextOf(), copy, NOT_SEEN, 'flag')
    expect(authenticated).toBe(true)
    expect(facts).toMatchObject({
      ...{ replay: true, replayRejected: false, editedCopyRejected: false },
      copyOf: { patternId: TESTED, chance: COPY.chance },
      copyInDoubt: false,
    })
  })

  it('lets an adaptive score lift the confidence, and records the versions that it was made on', () => {
    const low = decided(contextOf(), typing({ confidence: 0.45, confidenceAdapted: 0.8 }))
    expect(low.confidenceBiometrics).toBeGreaterThan(0.45)
    expect(low).toMatchObject({
      id: 'i',
      createdAt: NOW,
      attemptsVersion: 7,
      rowVersion: 9,
      generation: 0,
      policyId: 'p',
    })
  })

  it.each([
    [true, 'auth'],
    [false, 'block'],
  ] as const)('is by the code alone if one was entered: right is %s', (right, recommendedAction) => {
    const code = { method: 'security_code', right, version: 1 } as const
    const record = decided(contextOf({}, 'security_code'), code)
    expect(record).toMatchObject({
      recommendedAction,
      authenticated: right,
      confidence: 0,
      facts: null,
      replayMark: null,
    })
    expect(record.counters.security_code.streak).toBe(right ? 0 : 1)
  })
})
