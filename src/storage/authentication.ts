import type { AccountType } from '../domain/account.js'
import type { AttemptFacts } from '../domain/attempt-facts.js'
import type { AttemptCounters, AttemptKind } from '../domain/attempts.js'
import type { HabitsText } from '../domain/context/circumstances.js'
import type { ReplayMark } from '../domain/replay.js'
import type { RecommendedAction, VerdictReason } from '../domain/verdict.js'
import type { SetChange } from './comparison-set.js'
import type { Binding } from './vault.js'

/** One judged sign-in attempt, as stored. */
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
  /** The tested pattern; null for a security code. */
  readonly patternId: string | null
  /** Encrypted sample of the tested pattern; null for a security code. */
  readonly sealed: Uint8Array | null
  /** Null for a security code and after the member was archived. */
  readonly facts: AttemptFacts | null
}

/** A judged attempt as the flow passes it to the store: the row, the member after it, and the versions that it was judged on. */
export interface AttemptRecord extends Authentication {
  /** The member's counters after this attempt, valid only on top of `attemptsVersion`. */
  readonly counters: AttemptCounters
  /** The member's habits after this attempt, valid only on top of `attemptsVersion`; null leaves them unchanged. */
  readonly habits: HabitsText | null
  readonly attemptsVersion: number
  readonly generation: number
  /** The member's version when it was read. A later change is a conflict. If absent, only the two versions above are compared. */
  readonly rowVersion?: number
  /** If null, the replay index is neither read nor written. */
  readonly replayMark: ReplayMark | null
}

export type RecordOutcome =
  | 'recorded'
  /** The member has changed since it was read, and nothing was written. Read and decide again. */
  | 'conflict'
  /** The mark is known, and nothing was written. */
  | 'replay'
  /** The member is gone. */
  | 'absent'

/** A pattern in the replay index. `pattern` is null if only its mark is kept, or if the mark is of the same typing. */
export interface KnownPattern {
  readonly exact: Uint8Array
  /** Number of bands that its mark shares with the mark that was looked up. */
  readonly nBandsShared: number
  readonly pattern: { readonly binding: Binding; readonly sealed: Uint8Array } | null
}

interface SessionTyping {
  readonly userRef: string
  readonly memberId: string
  /** The session as in `Authentication.sessionId`. */
  readonly sessionId: string
  readonly since: number
}

/** The pattern of a recorded attempt, or of a refused call. */
export interface TestedPattern {
  readonly patternId: string
  readonly createdAt: number
  readonly authenticated: boolean
  readonly sealed: Uint8Array
  /** The generation that a refused call's pattern is sealed for; null for the pattern of an attempt, whose record has none. */
  readonly refused: { readonly generation: number } | null
}

export interface TestedBy {
  readonly userRef: string
  readonly memberId: string
  /** Epoch ms. */
  readonly since: number
  /** Maximum numbers of patterns: `confirmed` of successes; `failed` of failures, and also of refused calls. */
  readonly limits: { readonly confirmed: number; readonly failed: number }
  /** Ids of patterns to leave out. */
  readonly known: readonly string[]
}

export interface AuthenticationStore {
  /**
   * Writes the attempt, its replay mark and the member's counters atomically; resolves after the commit. A success
   * (`authenticated`) also sets the member's `lastSuccessAt`. Concurrent attempts share one commit. Without `change`, a pattern
   * puts the member's comparison set out of date; a security code does not.
   */
  record(organizationId: string, attempt: AttemptRecord, change?: SetChange | null): Promise<RecordOutcome>
  /**
   * At most `most` patterns known at `now` (epoch ms) whose marks this mark of a member resembles: `record` would answer
   * `replay` for each.
   */
  resembling(
    organizationId: string,
    memberId: string,
    mark: ReplayMark,
    within: { readonly now: number; readonly most: number },
  ): Promise<KnownPattern[]>
  /**
   * Patterns that a member's successful attempts tested since a time, then those of failed ones, then those of refused calls, each
   * kind newest first; without those that retention removed.
   */
  tested(organizationId: string, by: TestedBy): Promise<TestedPattern[]>
  find(organizationId: string, id: string): Promise<Authentication | null>
  /** Time of the last sign-in by typing in a session since `since`, epoch ms; null if none. */
  typedInSession(organizationId: string, session: SessionTyping): Promise<number | null>
  /** The attempt of this user that tested the pattern; null if none. */
  findByPattern(organizationId: string, userRef: string, patternId: string): Promise<Authentication | null>
  /** Attempts of a user, newest first. */
  list(organizationId: string, userRef: string, limit: number): Promise<Authentication[]>
}
