import type { RefusalKind } from './refusal.js'

/** So many patterns of a member may be refused within the window; then no more are read until the oldest is past it. */
export const INVALID_PATTERNS_MAX = 20
export const INVALID_PATTERNS_WINDOW_MS = 15 * 60_000

/**
 * Refusals of a pattern that cost no attempt and are limited instead. Our choice: a bot and a replay on enroll are among
 * them, because each is a free question to the detectors, and a foreign `member_ref`, because its reservation is given
 * back. A weak security code is not: nothing is scored for it, and a good one, which costs more, has no limit.
 */
export const LIMITED_REFUSALS: readonly RefusalKind[] = [
  'pattern-invalid',
  'member-mismatch',
  'bot-detected',
  'replay-detected',
]
