import type { AttemptCounters } from './attempts.js'
import type { HabitsText } from './context/circumstances.js'
import type { QueuedAction } from './pending-action.js'
import type { CodeState } from './security-code.js'

export type AccountType = 'nominative' | 'generic'
export type MemberSelection = 'ask' | 'list'

/** An identity that the customer names by `userRef`; times are epoch milliseconds. */
export interface Account {
  readonly id: string
  readonly userRef: string
  readonly type: AccountType
  readonly displayName: string | null
  readonly memberSelection: MemberSelection
  readonly groups: readonly string[]
  readonly tag: Readonly<Record<string, string>>
  readonly createdAt: number
}

/** One person of an account. A nominative account has one, whose `memberRef` is the account's `userRef`. */
export interface Member {
  readonly id: string
  readonly memberRef: string
  /** Human-readable label; never an identity key. */
  readonly displayName: string | null
  /** Number of profile resets; patterns of an older generation are never used. */
  readonly generation: number
  readonly nPatternsRef: number
  readonly nVisible: number
  readonly nSensitive: number
  /** Whether a profile was ever emptied: distinguishes `reset` from `not-ready` at zero patterns. */
  readonly everReset: boolean
  /** When the profile last became complete; null before. */
  readonly completedAt: number | null
  readonly lastSuccessAt: number | null
  readonly preferredLanguage: string | null
  readonly code: CodeState
  readonly attempts: AttemptCounters
  /**
   * Version for compare-and-swap. Every write of `attempts`, every removal of references and every change of the code
   * increments it, so no two verdicts use the same counters.
   */
  readonly attemptsVersion: number
  /** Increases with every change of the member or its account. */
  readonly rowVersion: number
  /** Ms from the read for which the member's patterns are refused, after too many invalid ones; 0 if they are accepted. */
  readonly patternsClosedForMs: number
  readonly createdAt: number
  /** When typing last succeeded; null before. A correct code does not count, because it does not use the profile. */
  readonly lastTypedAt: number | null
  /** Increases with every change of the current references, by any writer. */
  readonly profileVersion: number
  /** Format of this generation's samples; meaningless while there are none. */
  readonly sampleFormat: number
  /** The next generation, while it is collected; null otherwise. */
  readonly successor: Successor | null
  /** The queued action, which may have lapsed: `livePending` checks it. */
  readonly pending: QueuedAction | null
  /** When a sign-in last became an adaptive reference; null before. */
  readonly adaptedAt: number | null
  /** Habits that the context of an attempt is compared with. */
  readonly habits: HabitsText
}

/** References of the next generation. They do not verify until they reach the target; then they replace the current ones. */
export interface Successor {
  /** Collector of the patterns. A generation holds patterns of one owner only. */
  readonly owner: string
  readonly sampleFormat: number
  readonly nVisible: number
  readonly nSensitive: number
}
