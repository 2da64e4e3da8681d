import type { AttemptKind, AttemptWindow } from '../../src/domain/attempts.js'
import type { Policy } from '../../src/domain/policy.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const FOR_GOOD = Number.POSITIVE_INFINITY

/** Events of a member's attempts, with their times (epoch ms). */
export type Entry =
  | { readonly at: number; readonly what: 'failure' | 'success'; readonly kind: AttemptKind }
  | { readonly at: number; readonly what: 'reset' | 'new code' | 'unlock' | 'lock' }

export interface Visit {
  readonly attempts: { readonly kind: AttemptKind; fate: 'under way' | 'judged' | 'lost' | 'given back' }[]
  typingFailed: boolean
}

/** All facts about a member. The oracle derives every answer from the whole history and keeps no counters. */
export interface MemberFacts {
  readonly policy: Policy['security_code_fallback']
  readonly history: readonly Entry[]
  readonly visit: Visit
  readonly profileReady: boolean
  readonly codeUsable: boolean
  readonly now: number
}

/** Time for which a failure closes its kind, by the length of its streak. */
export function lockMs(kind: AttemptKind, inARow: number): number {
  if (kind === 'biometric') {
    if (inARow >= 50) return FOR_GOOD
    if (inARow >= 15) return 1 * HOUR
    if (inARow >= 10) return 15 * MINUTE
    if (inARow >= 5) return 30 * SECOND
    return 0
  }
  if (inARow >= 10) return FOR_GOOD
  if (inARow >= 6) return 1 * HOUR
  if (inARow >= 3) return 15 * MINUTE
  return 0
}

/** Index at which a kind's failures were last cleared; -1 if never. */
const wipedAt = (history: readonly Entry[], kind: AttemptKind) =>
  history.findLastIndex(({ what }) => what === 'unlock' || (what === 'reset' && kind === 'biometric'))

/** The failures of a kind since the last reset or unlock, each with its place in the streak and in the history. */
export function failuresOf(history: readonly Entry[], kind: AttemptKind) {
  const wiped = wipedAt(history, kind)
  const failures: { at: number; inARow: number; place: number }[] = []
  let inARow = 0
  history.forEach((entry, place) => {
    if (place <= wiped || !('kind' in entry) || entry.kind !== kind) return
    inARow = entry.what === 'success' ? 0 : inARow + 1
    if (entry.what === 'failure') failures.push({ at: entry.at, inARow, place })
  })
  return failures
}

/**
 * Whether a kind is closed without an end time, by the last rung of the ladder or by an administrator. An unlock opens it. A reset
 * also opens typing. A new code also opens codes, unless an administrator closed them.
 */
export function isDead(history: readonly Entry[], kind: AttemptKind): boolean {
  const newCode = kind === 'security_code' ? history.findLastIndex(({ what }) => what === 'new code') : -1
  const shut = history.findLastIndex(({ what }) => what === 'lock')
  if (shut > wipedAt(history, kind)) return true
  return failuresOf(history, kind).some(({ inARow, place }) => lockMs(kind, inARow) === FOR_GOOD && place > newCode)
}

export function isClosed(history: readonly Entry[], kind: AttemptKind, at: number): boolean {
  if (isDead(history, kind)) return true
  const failures = failuresOf(history, kind)
  const lastDay = failures.filter((failure) => failure.at > at - DAY && failure.at <= at)
  if (lastDay.length >= 20) return true
  return failures.some((failure) => {
    const ms = lockMs(kind, failure.inARow)
    return ms !== FOR_GOOD && failure.at + ms > at
  })
}

const usedOf = ({ attempts }: Visit, kind: AttemptKind) =>
  attempts.filter((attempt) => attempt.kind === kind && attempt.fate !== 'given back').length

const budgetOf = ({ policy }: MemberFacts, kind: AttemptKind) =>
  kind === 'biometric' ? policy.max_biometric_attempts : policy.max_code_attempts

const isThere = (facts: MemberFacts, kind: AttemptKind) =>
  kind === 'biometric' ? facts.profileReady : facts.policy.enabled && facts.codeUsable

/** A code is allowed, unless the policy requires typing first, a profile exists, and no typing of the session has failed. */
const mayTryCode = ({ policy, profileReady }: MemberFacts, visit: Visit) =>
  !policy.require_biometric_first || !profileReady || visit.typingFailed

/** Whether the member may try this kind, regardless of the visit's budget. */
export const isOpen = (facts: MemberFacts, kind: AttemptKind, visit: Visit, at: number): boolean =>
  isThere(facts, kind) && !isClosed(facts.history, kind, at) && (kind === 'biometric' || mayTryCode(facts, visit))

const mayTry = (facts: MemberFacts, kind: AttemptKind, visit: Visit, at: number) =>
  isOpen(facts, kind, visit, at) && usedOf(visit, kind) < budgetOf(facts, kind)

const remaining = (facts: MemberFacts, kind: AttemptKind) =>
  isThere(facts, kind) && !isDead(facts.history, kind)
    ? Math.max(0, budgetOf(facts, kind) - usedOf(facts.visit, kind))
    : 0

const isLocked = (facts: MemberFacts, visit: Visit, at: number) =>
  !mayTry(facts, 'biometric', visit, at) && !mayTry(facts, 'security_code', visit, at)

export const newVisit = (): Visit => ({ attempts: [], typingFailed: false })

/** The times at which a mode can open: now, the end of each lock, and a day after each failure. */
export function turns({ history, now }: Pick<MemberFacts, 'history' | 'now'>): number[] {
  const ends = (['biometric', 'security_code'] as const).flatMap((kind) =>
    failuresOf(history, kind).flatMap(({ at, inARow }) => [at + lockMs(kind, inARow), at + DAY]),
  )
  return [now, ...ends.filter((at) => Number.isFinite(at) && at > now).sort((a, b) => a - b)]
}

/** The window that the rules of attempts require. */
export function expectedWindow(facts: MemberFacts): AttemptWindow {
  const { visit, now } = facts
  const codeOpen = mayTry(facts, 'security_code', visit, now)
  const mode = mayTry(facts, 'biometric', visit, now) ? 'biometric' : codeOpen ? 'security_code' : 'locked'
  const opensAt =
    mode === 'locked' ? turns(facts).find((at) => !isLocked(facts, visit, at) || !isLocked(facts, newVisit(), at)) : now
  return {
    mode,
    codeOpen,
    remainingBiometricAttempts: remaining(facts, 'biometric'),
    remainingCodeAttempts: remaining(facts, 'security_code'),
    retryAfterSeconds: opensAt === undefined ? null : Math.ceil((opensAt - now) / SECOND),
  }
}
