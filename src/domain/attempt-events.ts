import type { AttemptFacts } from './attempt-facts.js'
import type { AttemptCounters, AttemptKind } from './attempts.js'
import type { RecommendedAction, VerdictReason } from './verdict.js'

/** What an attempt means to an operator. */
interface AttemptEvent {
  readonly kind: 'blocked' | 'bot' | 'replay' | 'impossible-travel' | 'locked' | 'security-code-locked'
  /** Of a lock: until when, epoch ms; null until a reset or a new code. */
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
 * The events of an attempt, from its record and the counters it leaves; null for none. One for what it was, by the most
 * telling kind, and one for the lock that its failure brings: while a mode is closed nothing is recorded, so each failure
 * that leaves it closed has closed it, or lengthened what closed it. A replay is told where it is only flagged, too.
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
