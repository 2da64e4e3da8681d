import type { AttemptFacts } from './attempt-facts.js'
import type { AttemptCounters, AttemptKind } from './attempts.js'
import type { RecommendedAction, VerdictReason } from './verdict.js'

/** An event of an attempt that an operator can be alerted to. */
interface AttemptEvent {
  readonly kind: 'blocked' | 'bot' | 'replay' | 'impossible-travel' | 'locked' | 'security-code-locked'
  /** End of a lock, epoch ms; null if only a reset or a new code ends it. */
  readonly until?: number | null
}

interface RecordedAttempt {
  readonly method: AttemptKind
  readonly authenticated: boolean
  readonly recommendedAction: RecommendedAction
  readonly reason: VerdictReason
  /** Epoch ms. */
  readonly createdAt: number
  readonly facts: Pick<AttemptFacts, 'replay' | 'impossibleTravel'> | null
}

/**
 * The events of an attempt, from its record and the counters after it; null if none. At most two: the most specific kind
 * of the attempt, and the lock that its failure causes. While a mode is closed no attempt is recorded, so a failure that
 * leaves the mode closed has closed it or extended the lock. A replay gives an event even if it is only flagged.
 */
export function attemptEvents(attempt: RecordedAttempt, counters: AttemptCounters): readonly AttemptEvent[] | null {
  const { method, authenticated, createdAt } = attempt
  const kind = kindOf(attempt)
  const { off, closedUntil } = counters[method]
  const locks = !authenticated && (off || closedUntil > createdAt)
  if (kind === null && !locks) return null
  return [
    ...(kind === null ? [] : [{ kind }]),
    ...(locks ? [{ kind: LOCKS[method], until: off ? null : closedUntil }] : []),
  ]
}

const LOCKS = { biometric: 'locked', security_code: 'security-code-locked' } as const

function kindOf({ recommendedAction, reason, facts }: RecordedAttempt): AttemptEvent['kind'] | null {
  if (reason === 'detection-bot') return 'bot'
  if (reason === 'fraud-detected' || facts?.replay === true) return 'replay'
  if (recommendedAction !== 'block') return null
  return facts?.impossibleTravel === true ? 'impossible-travel' : 'blocked'
}
