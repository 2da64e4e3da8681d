import type { AttemptKind, AttemptWindow } from '../../src/domain/attempts.js'
import type { Policy } from '../../src/domain/policy.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const FOR_GOOD = Number.POSITIVE_INFINITY

/** What happened to a member's attempts, and when (epoch ms). */
export type Entry =
  | { readonly at: number; readonly what: 'failure' | 'success'; readonly kind: AttemptKind }
  | { readonly at: number; readonly what: 'reset' | 'new code' | 'unlock' | 'lock' }

export interface Visit {
  readonly attempts: { readonly kind: AttemptKind; fate: 'under way' | 'judged' | 'lost' | 'given back' }[]
  typingFailed: boolean
}

/** A member as the rules see one: everything is read off the whole history, every time, and nothing is counted on the way. */
export interface Book {
  readonly policy: Policy['security_code_fallback']
  readonly history: readonly Entry[]
  readonly visit: Visit
  readonly profileReady: boolean
  readonly codeUsable: boolean
  readonly now: number
}

/** How long a failure closes its kind, by how many there were in a row with it. */
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

/** Where a kind's failures were last wiped out; -1 where they never were. */
const wipedAt = (history: readonly Entry[], kind: AttemptKind) =>
  history.findLastIndex(({ what }) => what === 'unlock' || (what === 'reset' && kind === 'biometric'))

/** The failures of a kind that no reset or unlock has wiped out, each with its place in a row and in the history. */
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

/** Shut for good: by the last rung until a reset, or a new code; by an administrator until a reset, or an unlock for codes. */
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

const budgetOf = ({ policy }: Book, kind: AttemptKind) =>
  kind === 'biometric' ? policy.max_biometric_attempts : policy.max_code_attempts

const isThere = (book: Book, kind: AttemptKind) =>
  kind === 'biometric' ? book.profileReady : book.policy.enabled && book.codeUsable

/** Typing first, where the policy says so and there is a profile to compare with. */
const mayTryCode = ({ policy, profileReady }: Book, visit: Visit) =>
  !policy.require_biometric_first || !profileReady || visit.typingFailed

/** Whether the member may try this kind at all, whatever the visit has left. */
export const isOpen = (book: Book, kind: AttemptKind, visit: Visit, at: number): boolean =>
  isThere(book, kind) && !isClosed(book.history, kind, at) && (kind === 'biometric' || mayTryCode(book, visit))

const mayTry = (book: Book, kind: AttemptKind, visit: Visit, at: number) =>
  isOpen(book, kind, visit, at) && usedOf(visit, kind) < budgetOf(book, kind)

const remaining = (book: Book, kind: AttemptKind) =>
  isThere(book, kind) && !isDead(book.history, kind) ? Math.max(0, budgetOf(book, kind) - usedOf(book.visit, kind)) : 0

const isLocked = (book: Book, visit: Visit, at: number) =>
  !mayTry(book, 'biometric', visit, at) && !mayTry(book, 'security_code', visit, at)

export const newVisit = (): Visit => ({ attempts: [], typingFailed: false })

/** The moments at which anything can open: now, and when some failure's lock or day is over. */
export function turns({ history, now }: Pick<Book, 'history' | 'now'>): number[] {
  const ends = (['biometric', 'security_code'] as const).flatMap((kind) =>
    failuresOf(history, kind).flatMap(({ at, inARow }) => [at + lockMs(kind, inARow), at + DAY]),
  )
  return [now, ...ends.filter((at) => Number.isFinite(at) && at > now).sort((a, b) => a - b)]
}

/** The window as decisions 6 has it. */
export function windowByTheBook(book: Book): AttemptWindow {
  const { visit, now } = book
  const codeOpen = mayTry(book, 'security_code', visit, now)
  const mode = mayTry(book, 'biometric', visit, now) ? 'biometric' : codeOpen ? 'security_code' : 'locked'
  const opensAt =
    mode === 'locked' ? turns(book).find((at) => !isLocked(book, visit, at) || !isLocked(book, newVisit(), at)) : now
  return {
    mode,
    codeOpen,
    remainingBiometricAttempts: remaining(book, 'biometric'),
    remainingCodeAttempts: remaining(book, 'security_code'),
    retryAfterSeconds: opensAt === undefined ? null : Math.ceil((opensAt - now) / SECOND),
  }
}
