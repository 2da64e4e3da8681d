import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AttemptCounters,
  type AttemptKind,
  type AttemptWindow,
  afterFailure,
  afterSuccess,
  attemptWindow,
  NO_ATTEMPTS,
  type SessionUse,
} from '../../src/domain/attempts.js'
import { DEFAULT_POLICY } from '../../src/domain/policy.js'
import { agreement, KINDS, lateAgreement, policies, type Rules, SHIPPED } from './attempts-played.js'

/** `attempts-model.long.test.ts` plays more runs. The seed is fixed, so that each planted bug is always found. */
const RUN = { numRuns: 2000, seed: 1 }
const DAY = 24 * 3_600_000

describe('the rules of attempts, against the oracle', () => {
  it('agree with it in runs of reservations, ends, waits, sessions, resets, codes and unlocks', () => {
    fc.assert(agreement(SHIPPED), RUN)
  })

  it('close what it closes, for the same time, in histories without enforced locks', () => {
    fc.assert(lateAgreement(SHIPPED), RUN)
  })
})

/** Counters with changes to one kind. */
const but = (counters: AttemptCounters, kind: AttemptKind, changes: Partial<AttemptCounters[AttemptKind]>) => ({
  ...counters,
  [kind]: { ...counters[kind], ...changes },
})
/** A copy of `afterFailure`; each option plants a bug. */
const failing =
  ({
    perDay = 20,
    dayMs = DAY,
    dayFrom = (recent: readonly number[]) => recent[0] ?? 0,
    keepsLock = true,
    longest = true,
    typing = [50, 15, 10, 5],
    code = [10, 6, 3],
  } = {}): Rules['afterFailure'] =>
  (counters, kind, now) => {
    const before = counters[kind]
    const streak = before.streak + 1
    const recentFailures = [...before.recentFailures, now].slice(-perDay)
    const rungs = kind === 'biometric' ? typing : code
    const ms = [Number.POSITIVE_INFINITY, 3_600_000, 900_000, 30_000][rungs.findIndex((rung) => streak >= rung)] ?? 0
    const day = recentFailures.length === perDay ? dayFrom(recentFailures) + dayMs : 0
    const rung = Number.isFinite(ms) && ms > 0 ? now + ms : 0
    const kept = keepsLock ? before.closedUntil : 0
    const closedUntil = longest ? Math.max(kept, rung, day) : rung > 0 ? rung : Math.max(kept, day)
    const off = before.off || ms === Number.POSITIVE_INFINITY
    return { ...counters, [kind]: { streak, closedUntil, off, recentFailures } }
  }

/** Bugs that Stryker does not make (docs/mutation.md): in the counters after an attempt, */
const miscounted: readonly [string, Pick<Rules, 'afterFailure'> | Pick<Rules, 'afterSuccess'>][] = [
  ['a success resets both kinds', { afterSuccess: (c) => KINDS.reduce(afterSuccess, c) }],
  [
    'a success forgets the day',
    { afterSuccess: (c, kind) => but(afterSuccess(c, kind), kind, { recentFailures: [] }) },
  ],
  [
    'a failure counts for both kinds',
    { afterFailure: (c, _, now) => KINDS.reduce((a, k) => afterFailure(a, k, now), c) },
  ],
  ['19 failures close the day', { afterFailure: failing({ perDay: 19 }) }],
  ['21 failures close the day', { afterFailure: failing({ perDay: 21 }) }],
  ['a day has 23 hours', { afterFailure: failing({ dayMs: DAY - 3_600_000 }) }],
  ['a day counts from its latest failure', { afterFailure: failing({ dayFrom: (recent) => recent.at(-1) ?? 0 }) }],
  ['a later failure shortens the lock', { afterFailure: failing({ keepsLock: false }) }],
  ['a rung hides the end of the day', { afterFailure: failing({ longest: false }) }],
  ['typing is disabled at 51', { afterFailure: failing({ typing: [51, 15, 10, 5] }) }],
  ['a code is disabled at 11', { afterFailure: failing({ code: [11, 6, 3] }) }],
  ['typing has the ladder of codes', { afterFailure: failing({ typing: [10, 6, 5, 3] }) }],
]

type Inputs = Parameters<typeof attemptWindow>[0]
const withInputs = (change: (inputs: Inputs) => Partial<Inputs>) => ({
  attemptWindow: (inputs: Inputs) => attemptWindow({ ...inputs, ...change(inputs) }),
})
const withSession = (change: (session: SessionUse) => Partial<SessionUse>) =>
  withInputs(({ session }) => ({ session: { ...session, ...change(session) } }))
const withAnswer = (change: (window: AttemptWindow) => Partial<AttemptWindow>) => ({
  attemptWindow: (inputs: Inputs) => ({ ...attemptWindow(inputs), ...change(attemptWindow(inputs)) }),
})

/** in the window, and in other changes of counters and reservations. */
const misjudged: readonly [string, Partial<Rules>][] = [
  ['a lock ends a millisecond early', withInputs(({ now }) => ({ now: now + 1 }))],
  ['a lock ends a millisecond late', withInputs(({ now }) => ({ now: now - 1 }))],
  ['a session has one attempt more', withSession(({ biometric }) => ({ biometric: biometric - 1 }))],
  ['a session has unlimited codes', withSession(() => ({ security_code: 0 }))],
  ['a reservation counts as a failure', withSession(({ biometric }) => ({ typingFailed: biometric > 0 }))],
  ['a code is open in its own mode only', withAnswer(({ mode }) => ({ codeOpen: mode === 'security_code' }))],
  ['the wait is a second short', withAnswer(({ retryAfterSeconds: s }) => ({ retryAfterSeconds: s && s - 1 }))],
  ['a reset clears the codes too', { afterReset: () => NO_ATTEMPTS }],
  ['a new code resets its streak', { afterNewCode: (c) => but(c, 'security_code', { streak: 0, off: false }) }],
  ['a new code ends a lock', { afterNewCode: (c) => but(c, 'security_code', { closedUntil: 0, off: false }) }],
  ['a new session resets the counters', { inNewSession: () => NO_ATTEMPTS }],
  ['a lost attempt is refunded', { afterLoss: (used, kind) => ({ ...used, [kind]: used[kind] - 1 }) }],
]

describe('with a planted bug in the rules, the oracle', () => {
  const found = (property: Parameters<typeof fc.check>[0]) =>
    (fc.check(property, { ...RUN, endOnFailure: true }) as { failed: boolean }).failed

  it.each(miscounted)('detects that %s', (_, bug) => {
    expect(found(lateAgreement({ ...SHIPPED, ...bug }))).toBe(true)
  })

  it.each(misjudged)('detects that %s', (_, bug) => {
    expect(found(agreement({ ...SHIPPED, ...bug }))).toBe(true)
  })

  it('detects nothing without a planted bug', () => {
    expect(found(lateAgreement({ ...SHIPPED, afterFailure: failing() }))).toBe(false)
  })
})

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
