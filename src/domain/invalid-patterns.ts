import type { RefusalKind } from './refusal.js'

/** Refused patterns allowed per member and window; then no pattern is read until the oldest refusal leaves the window. */
export const INVALID_PATTERNS_MAX = 20
export const INVALID_PATTERNS_WINDOW_MS = 15 * 60_000

/**
 * Refusals of a pattern that use no attempt and are rate-limited instead. Our choice: the list includes
 * - a bot and a replay on enroll, because each is a free query of the detectors;
 * - a pattern that is `too-soon` or of a locked profile, because the refusal shows that no bot was detected;
 * - a foreign `member_ref`, because its reservation is returned.
 * It does not include a weak security code: the code is not scored, and a good code, which costs more, has no limit.
 */
export const LIMITED_REFUSALS: readonly RefusalKind[] = [
  'pattern-invalid',
  'words-not-typed',
  'member-mismatch',
  'bot-detected',
  'replay-detected',
  'too-soon',
  'profile-locked',
]
