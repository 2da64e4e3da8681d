import { ADAPTATION_INTERVAL_MS, ADAPTIVE_MAX, mayAdapt } from '../../domain/adaptation.js'
import { Refusal } from '../../domain/refusal.js'
import type { AttemptRecord } from '../../storage/authentication.js'
import type { SetChange } from '../../storage/comparison-set.js'
import type { ProfileStore } from '../../storage/profile.js'
import type { SessionStore } from '../../storage/session.js'
import type { AttemptContext, Reserved } from './attempt-context.js'
import type { TypingComparison } from './compare.js'
import { nInTailAfter } from './comparison-set.js'
import { type PatternMemory, remember } from './pattern-memory.js'
import type { PersonCache } from './person-cache.js'

export interface LearnNeeds {
  readonly sessions: Pick<SessionStore, 'markTypingFailed'>
  readonly profiles: Pick<ProfileStore, 'adapt'>
  readonly people: PersonCache
  readonly adaptation: boolean
  readonly memory: PatternMemory
}

/** A typing attempt that was recorded. */
interface RecordedTyping {
  readonly comparison: TypingComparison
  readonly record: AttemptRecord
  readonly change: SetChange | null
}

/** Runs after a typing attempt is recorded: notes a failure in the session, learns from a clean sign-in, updates the caches. */
export async function learn(
  needs: LearnNeeds,
  context: Reserved,
  { comparison, record, change }: RecordedTyping,
): Promise<void> {
  await noteFailure(needs, context, record)
  const { who, account, member, nth, isCarried } = context
  const { template, hasAdaptive, references, known, patternId, reading } = comparison
  const { createdAt: at, authenticated } = record
  const changed = await adapt(needs, context, comparison, record)
  if (isCarried && authenticated) {
    // The sign-in is over, and the session of the next one carries the person again.
    needs.people.forget(who)
    needs.memory.forget(member.id)
    return
  }
  const pattern = { id: patternId, at, authenticated, sketch: reading.sketch }
  remember(needs.memory, member, known, { ...pattern, nInTail: nInTailAfter(known, change) })
  if (changed || template === null) needs.people.forget(who)
  else needs.people.keep(who, { account, member, nth, template, hasAdaptive, references })
}

/** Under a policy that requires typing first, a failed typing attempt opens the security code. */
async function noteFailure({ sessions }: LearnNeeds, context: AttemptContext, record: AttemptRecord): Promise<void> {
  const { who, session, settings } = context
  if (!record.authenticated && settings.policy.policy.security_code_fallback.require_biometric_first)
    await sessions.markTypingFailed(who.organizationId, who.userRef, session.sha256)
}

/**
 * Keeps the pattern of a clean sign-in as an adaptive reference, in a transaction of its own after the record: the record
 * does not depend on it. A crash or an unavailable store in between loses one of many patterns to learn from.
 * Resolves to true if the profile may have changed.
 */
async function adapt(
  needs: LearnNeeds,
  { who, member }: AttemptContext,
  { reading, profileVersion, patternId, sealed }: TypingComparison,
  record: AttemptRecord,
): Promise<boolean> {
  if (!needs.adaptation) return false
  const { createdAt: now, confidenceContext, facts } = record
  const evidence = {
    verdict: record,
    replay: facts?.replay ?? true,
    confidenceEnrolled: reading.confidence ?? 0,
    confidenceContext,
  }
  if (!mayAdapt({ ...evidence, adaptedAt: member.adaptedAt, now })) return false
  const { id: memberId, generation } = member
  const reference = { id: patternId, sealed, memberId, generation, mode: reading.mode, createdAt: now }
  const rules = { profileVersion, max: ADAPTIVE_MAX, intervalMs: ADAPTATION_INTERVAL_MS }
  try {
    await needs.profiles.adapt(who.organizationId, reference, rules)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
  }
  return true
}
