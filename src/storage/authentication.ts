import type { AccountType } from '../domain/account.js'
import type { AttemptFacts } from '../domain/attempt-facts.js'
import type { AttemptCounters, AttemptKind } from '../domain/attempts.js'
import type { HabitsText } from '../domain/context/circumstances.js'
import type { ReplayMark } from '../domain/replay.js'
import type { RecommendedAction, VerdictReason } from '../domain/verdict.js'
import type { Binding } from './vault.js'

/** One judged sign-in attempt, as it is kept. */
export interface Authentication {
  readonly id: string
  readonly createdAt: number
  readonly accountId: string
  readonly memberId: string
  readonly userRef: string
  readonly memberRef: string
  readonly accountType: AccountType
  /** First 16 hex characters of the session's SHA-256, never the bearer value. */
  readonly sessionId: string
  readonly method: AttemptKind
  readonly authenticated: boolean
  readonly recommendedAction: RecommendedAction
  readonly reason: VerdictReason
  readonly confidence: number
  readonly confidenceBiometrics: number
  readonly confidenceContext: number | null
  readonly policyId: string
  readonly nPatternsRef: number
  readonly nPatternsRefUsed: number
  /** The tested pattern's id and its encrypted sample; null for a security code. */
  readonly pattern: { readonly id: string; readonly sealed: Uint8Array } | null
  /** Null for a security code, for what was recorded before there were any, and after the member was archived. */
  readonly facts: AttemptFacts | null
}

export interface AttemptToRecord {
  readonly authentication: Authentication
  /** The member's counters after this attempt, valid only on top of `attemptsVersion`. */
  readonly counters: AttemptCounters
  /** What the member's successes have in common after this attempt; null leaves it as it is. Valid on top of the same. */
  readonly habits: HabitsText | null
  readonly attemptsVersion: number
  readonly generation: number
  /** The member's when it was read; nothing at all of it may have changed. Left out, only the two above count. */
  readonly rowVersion?: number
  /** Null records without looking at, or adding to, the replay index. */
  readonly replayMark: ReplayMark | null
}

export type RecordOutcome =
  | 'recorded'
  /** The member's counters or profile, or whatever `rowVersion` tells of, moved since they were read: nothing was written, read and decide again. */
  | 'conflict'
  /** The mark is known: nothing was written. */
  | 'replay'
  /** The member is gone. */
  | 'absent'

/** A pattern that the replay index knows; null where nothing of it but the mark is kept, and beside a mark of this very typing. */
export interface KnownPattern {
  readonly exact: Uint8Array
  readonly pattern: { readonly binding: Binding; readonly sealed: Uint8Array } | null
}

interface SessionTyping {
  readonly userRef: string
  readonly memberId: string
  /** As records show it, see `Authentication`. */
  readonly sessionId: string
  readonly since: number
}

export interface AuthenticationStore {
  /**
   * Writes the attempt, its replay mark and the member's counters, all or nothing; resolves after the commit. A success
   * (`authenticated`) also sets the member's `lastSuccessAt`. Attempts of the same moment share one commit.
   */
  record(organizationId: string, attempt: AttemptToRecord): Promise<RecordOutcome>
  /** Patterns known at `now`, epoch ms, whose marks this one resembles: what `record` calls a replay of. `most` at the most. */
  resembling(organizationId: string, mark: ReplayMark, now: number, most: number): Promise<KnownPattern[]>
  find(organizationId: string, id: string): Promise<Authentication | null>
  /** When a session's typing last signed the member in, epoch ms, of its attempts from `since` on; null where none did. */
  typedInSession(organizationId: string, session: SessionTyping): Promise<number | null>
  /** The attempt of this user that tested the pattern; null where there is none. */
  findByPattern(organizationId: string, userRef: string, patternId: string): Promise<Authentication | null>
  /** Newest first. */
  list(organizationId: string, userRef: string, limit: number): Promise<Authentication[]>
}
