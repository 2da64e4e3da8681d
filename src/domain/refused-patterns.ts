import { FAILURES_PER_DAY } from './attempts.js'
import type { RefusalKind } from './refusal.js'

/**
 * Most refused patterns of a member that are remembered in 24 hours. Our choice: as many as the member may fail, because more
 * replays cannot be tried in a day. A further pattern replaces none: it is not remembered.
 */
export const REFUSED_PER_DAY = FAILURES_PER_DAY

/**
 * Refusals that use a pattern up. Our choice: every final answer does. After a limit, a shed request or an outage
 * (429, 5xx) the same request may be repeated, so these are not listed. A pattern that is `too-soon` is used up, because the
 * next one is typed hours later. A body that `pattern-invalid` refuses may be a sound pattern from a touch screen.
 */
export const USING_UP: readonly RefusalKind[] = [
  'session-missing',
  'member-mismatch',
  'profile-complete',
  'profile-locked',
  'too-soon',
  'pattern-invalid',
  'words-not-typed',
  'bot-detected',
  'replay-detected',
]
