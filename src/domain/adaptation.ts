import { CHALLENGE_BAND, type Policy } from './policy.js'
import type { Verdict } from './verdict.js'

/**
 * Adaptive references a profile holds at the most. On free text of other days three bring nine tenths of what eight
 * do, each takes a slot of the kernel, and with the default target the enrolled ones stay in the majority.
 */
export const ADAPTIVE_MAX = 3

/**
 * Confidence from which a sign-in may become an adaptive reference, against the enrolled references alone: 0.05 % of
 * impostors reach it with 50 presses and 0.04 % with 25, on people that the model was not fitted on; half of sincere
 * patterns do (`npm run bench -- adaptation`). Wanted: 0.1 % or fewer.
 */
export const UPDATE_CONFIDENCE = 0.95

/** A member's profile adapts once in this time: 200 slow steps take an impostor 200 days. */
export const ADAPTATION_INTERVAL_MS = 24 * 3600 * 1000

/** Below this the context speaks against the sign-in. No measurement behind it. */
const CLEAN_CONTEXT = 0.5

/**
 * Whether adaptive references are asked at all: only where the enrolled ones alone would say `challenge`. So whatever
 * somebody gets adopted, an impostor passes no more often than the enrolled references let through to the lower end of
 * the challenge band (1.27 % instead of 0.84 % of impostors by default), and the owner no less often than before; and few
 * attempts are scored twice.
 */
export function liftable(enrolled: number, { decision_threshold: threshold, priority }: Policy): boolean {
  return enrolled >= Math.max(threshold - CHALLENGE_BAND[priority], threshold / 2) && enrolled < threshold
}

/** One confidence out of two: against the enrolled references, and against these and the adaptive ones (null: not asked). */
export const joinedConfidence = (enrolled: number, all: number | null, policy: Policy): number =>
  all !== null && liftable(enrolled, policy) ? Math.max(enrolled, all) : enrolled

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
