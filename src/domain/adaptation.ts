import { CHALLENGE_BAND, type Policy } from './policy.js'
import type { Verdict } from './verdict.js'

/**
 * Adaptive references a profile holds at the most. On free text of other days three bring nine tenths of what eight
 * do, each takes a slot of the kernel, and with the default target the enrolled ones stay in the majority.
 */
export const ADAPTIVE_MAX = 3

/**
 * Confidence from which a sign-in may become an adaptive reference, against the enrolled references alone: 0.07 % of
 * impostors reach it with 50 presses and 0.08 % with 25, on people that the model was not fitted on; half of sincere
 * patterns do (`npm run bench:adaptation`). Wanted: 0.1 % or fewer.
 */
export const UPDATE_CONFIDENCE = 0.95

/** A member's profile adapts once in this time: 200 slow steps take an impostor 200 days. */
export const ADAPTATION_INTERVAL_MS = 24 * 3600 * 1000

/** Below this the context speaks against the sign-in. No measurement behind it. */
const CLEAN_CONTEXT = 0.5

/**
 * One confidence out of two: against the enrolled references, and against these and the adaptive ones together (`all`,
 * null where there are none). Adaptive references can make `auth` of what would be `challenge`, never of a `block`, and
 * never take anything away. So whatever somebody gets adopted, an impostor passes no more often than the enrolled references
 * alone would let through to the lower end of the challenge band (1.3 % instead of 0.9 % of impostors by default), and
 * the owner no less often than before.
 */
export function joinedConfidence(enrolled: number, all: number | null, policy: Policy): number {
  const { decision_threshold: threshold, priority } = policy
  const floor = Math.max(threshold - CHALLENGE_BAND[priority], threshold / 2)
  return all === null || enrolled < floor ? enrolled : Math.max(enrolled, all)
}

export interface AdaptationInputs {
  readonly verdict: Verdict
  /** The typing was seen before, whether or not that is refused here. */
  readonly replay: boolean
  /** Against the enrolled references alone: what was learned does not vouch for what is learned next. */
  readonly confidenceEnrolled: number
  /** Null where no context signal knows anything. */
  readonly confidenceContext: number | null
  /** When this member's profile last adapted; null: never. */
  readonly adaptedAt: number | null
  readonly now: number
}

/** Whether the pattern of a typing attempt may become an adaptive reference. */
export function mayAdapt(inputs: AdaptationInputs): boolean {
  const { verdict, replay, confidenceEnrolled, confidenceContext, adaptedAt, now } = inputs
  if (verdict.recommendedAction !== 'auth' || replay) return false
  if (confidenceEnrolled < UPDATE_CONFIDENCE) return false
  if (confidenceContext !== null && confidenceContext < CLEAN_CONTEXT) return false
  return adaptedAt === null || now - adaptedAt >= ADAPTATION_INTERVAL_MS
}
