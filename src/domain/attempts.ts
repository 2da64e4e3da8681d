import type { Policy } from './policy.js'

export type AttemptKind = 'biometric' | 'security_code'
type AttemptMode = AttemptKind | 'locked'

/** A member's failures of one kind of attempt, and the locks they caused; times are epoch milliseconds. */
export interface KindCounters {
  /** Failures since the last success of this kind. */
  readonly streak: number
  /** Closed until this time; 0 if open. */
  readonly closedUntil: number
  /** Closed until a reset (typing) or a new code (code). */
  readonly off: boolean
  /** Times of the latest failures, oldest first, at most `FAILURES_PER_DAY`. */
  readonly recentFailures: readonly number[]
}

/** Counters of a member. They survive sessions, restarts and a flushed Redis. */
export interface AttemptCounters {
  readonly biometric: KindCounters
  readonly security_code: KindCounters
}

/** Attempts that a session has used. */
export interface SessionUse {
  readonly biometric: number
  readonly security_code: number
  /** A typing attempt of the session has failed; recorded only under a policy with `require_biometric_first`. */
  readonly typingFailed: boolean
}

const UNUSED: KindCounters = { streak: 0, closedUntil: 0, off: false, recentFailures: [] }
export const NO_ATTEMPTS: AttemptCounters = { biometric: UNUSED, security_code: UNUSED }

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** This many failures of a kind in 24 hours close it until the oldest of them is a day old. */
export const FAILURES_PER_DAY = 20

/** One step of a lockout ladder: from `streak` on, each failure closes the kind for `closedMs` (Infinity: until a reset). */
interface Rung {
  readonly streak: number
  readonly closedMs: number
}
const LADDERS: Record<AttemptKind, readonly Rung[]> = {
  biometric: [
    { streak: 50, closedMs: Number.POSITIVE_INFINITY },
    { streak: 15, closedMs: HOUR },
    { streak: 10, closedMs: 15 * MINUTE },
    { streak: 5, closedMs: 30 * SECOND },
  ],
  security_code: [
    { streak: 10, closedMs: Number.POSITIVE_INFINITY },
    { streak: 6, closedMs: HOUR },
    { streak: 3, closedMs: 15 * MINUTE },
  ],
}

/** The counters after a failed attempt of `kind` at `now`. */
export function afterFailure(counters: AttemptCounters, kind: AttemptKind, now: number): AttemptCounters {
  const before = counters[kind]
  const streak = before.streak + 1
  const rung = LADDERS[kind].find((step) => streak >= step.streak)
  const recentFailures = [...before.recentFailures, now].slice(-FAILURES_PER_DAY)
  const full = recentFailures.length === FAILURES_PER_DAY ? (recentFailures[0] ?? 0) + DAY : 0
  const closedMs = rung?.closedMs ?? 0
  const off = before.off || closedMs === Number.POSITIVE_INFINITY
  const rungUntil = closedMs > 0 && Number.isFinite(closedMs) ? now + closedMs : 0
  const closedUntil = Math.max(before.closedUntil, rungUntil, full > now ? full : 0)
  return { ...counters, [kind]: { streak, closedUntil, off, recentFailures } }
}

/** A success resets the streak of its own kind only; locks and the day's failures stay. */
export function afterSuccess(counters: AttemptCounters, kind: AttemptKind): AttemptCounters {
  return { ...counters, [kind]: { ...counters[kind], streak: 0 } }
}

/** `closedUntil` of an administrator's lock: the year 9999, which every date parser accepts. `off` is set, too. */
export const UNTIL_UNLOCKED = 253_402_300_799_999

/** A new code lifts the permanent lock that failures caused; an administrator's lock stays. */
export const afterNewCode = (counters: AttemptCounters): AttemptCounters => ({
  ...counters,
  security_code: { ...counters.security_code, off: counters.security_code.closedUntil >= UNTIL_UNLOCKED },
})

/** An administrator closes both kinds: typing until a reset or an unlock, the code until an unlock. */
export const afterLock = ({ biometric, security_code }: AttemptCounters): AttemptCounters => ({
  biometric: { ...biometric, off: true },
  security_code: { ...security_code, off: true, closedUntil: UNTIL_UNLOCKED },
})

/** Whether an administrator's lock closes typing. A reset by the API or the dashboard, or an unlock, ends this lock. */
export const lockedByAdministrator = ({ biometric, security_code }: AttemptCounters): boolean =>
  biometric.off && security_code.closedUntil >= UNTIL_UNLOCKED

/** Milliseconds until `kind` opens for the member: 0 if open, Infinity if only a reset opens it. */
export function closedForMs(counters: AttemptCounters, kind: AttemptKind, now: number): number {
  const { off, closedUntil } = counters[kind]
  if (off) return Number.POSITIVE_INFINITY
  return Math.max(0, closedUntil - now)
}

/** All inputs of the decision about the open mode. */
export interface ModeInputs {
  readonly policy: Policy
  readonly session: SessionUse
  readonly counters: AttemptCounters
  /** The profile's status allows typing verification. */
  readonly profileReady: boolean
  /** A security code is set and may be used. */
  readonly codeUsable: boolean
  readonly now: number
}

export const REFUSED_BECAUSE = [
  'session-used-up',
  'typing-locked',
  'code-locked',
  'code-not-set',
  'code-used',
  'fallback-off',
  'typing-first',
] as const
/** The reason why an attempt was not open. `code-used` means that a temporary code was used or has expired. */
export type RefusedBecause = (typeof REFUSED_BECAUSE)[number]

export interface AttemptWindow {
  readonly mode: AttemptMode
  /** A security code may be tried now, even if `mode` is `biometric`. */
  readonly codeOpen: boolean
  readonly remainingBiometricAttempts: number
  readonly remainingCodeAttempts: number
  /** Seconds until a mode opens, in this session or a new one; 0 if one is open, null if waiting does not help. */
  readonly retryAfterSeconds: number | null
}

/** The attempt that a session may make next: typing if it is open, else the code if it is open, else `locked`. */
export function attemptWindow(inputs: ModeInputs): AttemptWindow {
  const { policy, session, counters, now } = inputs
  const fallback = policy.security_code_fallback
  const codeAllowed = fallback.enabled && inputs.codeUsable
  const remainingBiometricAttempts = Math.max(0, fallback.max_biometric_attempts - session.biometric)
  const remainingCodeAttempts = codeAllowed ? Math.max(0, fallback.max_code_attempts - session.security_code) : 0
  const typingWaitMs = inputs.profileReady ? closedForMs(counters, 'biometric', now) : Number.POSITIVE_INFINITY
  const codeWaitMs = codeAllowed ? closedForMs(counters, 'security_code', now) : Number.POSITIVE_INFINITY
  const biometricOpen = remainingBiometricAttempts > 0 && typingWaitMs === 0
  const codeFirst = !fallback.require_biometric_first || !inputs.profileReady
  const codeInTurn = remainingCodeAttempts > 0 && (codeFirst || session.typingFailed)
  const codeOpen = codeInTurn && codeWaitMs === 0
  const mode = biometricOpen ? 'biometric' : codeOpen ? 'security_code' : 'locked'
  // A new session has all its attempts, but if typing is required first it cannot start with the code.
  const waitMs = mode === 'locked' ? Math.min(typingWaitMs, codeFirst || codeInTurn ? codeWaitMs : typingWaitMs) : 0
  return {
    mode,
    codeOpen,
    remainingBiometricAttempts: typingWaitMs === Number.POSITIVE_INFINITY ? 0 : remainingBiometricAttempts,
    remainingCodeAttempts: codeWaitMs === Number.POSITIVE_INFINITY ? 0 : remainingCodeAttempts,
    retryAfterSeconds: Number.isFinite(waitMs) ? Math.ceil(waitMs / 1000) : null,
  }
}

/**
 * The reason why an attempt of `kind` is not open; null if it is open, `enroll` without a complete profile to compare typing with.
 * A reason that persists in a new session has priority over one that ends with the session.
 */
export function whyClosed(
  inputs: ModeInputs & { readonly codeSet: boolean },
  kind: AttemptKind,
): 'enroll' | RefusedBecause | null {
  const { policy, session, counters, profileReady, now } = inputs
  const fallback = policy.security_code_fallback
  const locked = closedForMs(counters, kind, now) > 0
  if (kind === 'biometric') {
    if (!profileReady) return 'enroll'
    if (locked) return 'typing-locked'
    return session.biometric < fallback.max_biometric_attempts ? null : 'session-used-up'
  }
  if (!fallback.enabled) return 'fallback-off'
  if (!inputs.codeUsable) return inputs.codeSet ? 'code-used' : 'code-not-set'
  if (locked) return 'code-locked'
  if (fallback.require_biometric_first && profileReady && !session.typingFailed) return 'typing-first'
  return session.security_code < fallback.max_code_attempts ? null : 'session-used-up'
}

/** The window sent with a refusal: if the other kind is open, `retryAfterSeconds` is the rest of the lock that refused. */
export function windowOfRefused(
  window: AttemptWindow,
  { counters, now }: ModeInputs,
  because: RefusedBecause,
): AttemptWindow {
  if (window.mode === 'locked' || (because !== 'typing-locked' && because !== 'code-locked')) return window
  const waitMs = closedForMs(counters, because === 'typing-locked' ? 'biometric' : 'security_code', now)
  return { ...window, retryAfterSeconds: Number.isFinite(waitMs) ? Math.ceil(waitMs / 1000) : null }
}
