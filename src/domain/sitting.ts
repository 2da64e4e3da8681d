/** When a probe was typed: in one sitting with the references, or later, mostly on another day. */
export type Sitting = 'same' | 'later'

/**
 * Longest time from the completion of a profile to a probe of the same sitting. Our choice: the open data have sittings of
 * minutes and gaps of days, and nothing in between.
 */
const SITTING_MS = 3600 * 1000

/**
 * The sitting of a probe. `completedAt` is when the profile was completed, epoch ms; null if that is unknown, as after a lower
 * target made the profile complete.
 */
export const sittingOf = (completedAt: number | null, now: number): Sitting =>
  completedAt === null || now - completedAt > SITTING_MS ? 'later' : 'same'
