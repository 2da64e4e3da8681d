import { challengeFrom, type Policy } from './policy.js'
import type { Verdict } from './verdict.js'

/**
 * Most adaptive references of a profile. On free text of other days, three bring nine tenths of the gain of eight. Each
 * takes a slot of the kernel. With the default target the enrolled references stay in the majority.
 */
export const ADAPTIVE_MAX = 3

/**
 * Least confidence against the enrolled references alone at which a sign-in may become an adaptive reference. 0.02 % of
 * impostors reach it with 50 presses and 0.01 % with 25, on people that the model was not fitted on; 29 % and 12 % of the
 * sincere patterns reach it (later sitting, `npm run bench -- adaptation`). Goal: at most 0.1 % of impostors.
 */
export const UPDATE_CONFIDENCE = 0.95

/** Least time between two adaptations of a profile: 200 slow steps take an impostor 200 days. */
export const ADAPTATION_INTERVAL_MS = 24 * 3600 * 1000

/** A context confidence below this counts against the sign-in. Not measured. */
const CLEAN_CONTEXT = 0.5

/**
 * Whether adaptive references are scored: only if the enrolled ones alone would give `challenge`. This bounds the damage
 * of a bad adaptation: impostors pass no more often than the enrolled references score them at or above the lower end of
 * the challenge band (by default 1.40 % instead of 0.85 %). The owner passes no less often than before. Few attempts are
 * scored twice.
 */
export function liftable(enrolled: number, policy: Policy): boolean {
  const threshold = policy.decision_threshold
  return enrolled >= Math.max(challengeFrom(policy), threshold / 2) && enrolled < threshold
}

/** Combines two confidences: against the enrolled references, and against all references (null if not scored). */
export const joinedConfidence = (enrolled: number, all: number | null, policy: Policy): number =>
  all !== null && liftable(enrolled, policy) ? Math.max(enrolled, all) : enrolled

export interface AdaptationInputs {
  readonly verdict: Verdict
  /** The typing was seen before, even if the policy does not refuse replays. */
  readonly replay: boolean
  /** Confidence against the enrolled references alone, because adaptive references must not confirm further ones. */
  readonly confidenceEnrolled: number
  /** Null if no context signal is known. */
  readonly confidenceContext: number | null
  /** When this member's profile last adapted, epoch ms; null if never. */
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
