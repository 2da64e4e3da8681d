import type { AttemptCounters } from './attempts.js'
import type { HabitsText } from './context/circumstances.js'
import type { QueuedAction } from './pending-action.js'
import type { CodeState } from './security-code.js'

export type AccountType = 'nominative' | 'generic'
export type MemberSelection = 'ask' | 'list'

/** An identity the customer names by `userRef`; times are epoch milliseconds. */
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

/** One person of an account. On a nominative account there is one, and its `memberRef` is the account's `userRef`. */
export interface Member {
  readonly id: string
  readonly memberRef: string
  /** Label for people to read; never an identity key. */
  readonly displayName: string | null
  /** Counts profile resets; patterns of an older generation are dead. */
  readonly generation: number
  readonly nPatternsRef: number
  readonly nVisible: number
  readonly nSensitive: number
  /** Whether a profile has ever been emptied: tells `reset` from `not-ready` at zero patterns. */
  readonly everReset: boolean
  /** When the profile last became complete; null before. */
  readonly completedAt: number | null
  readonly lastSuccessAt: number | null
  readonly preferredLanguage: string | null
  readonly code: CodeState
  readonly attempts: AttemptCounters
  /** Compared and swapped by every write of `attempts`, bumped by every removal of references and every change of the code: no two verdicts rest on the same counters. */
  readonly attemptsVersion: number
  /** Moves with every change of the member or its account. */
  readonly rowVersion: number
  /** So long from when it was read no pattern of the member is taken, because too many were refused; 0 where they are. */
  readonly patternsClosedForMs: number
  readonly createdAt: number
  /** When typing last succeeded; null before. A right code says nothing about the profile. */
  readonly lastTypedAt: number | null
  /** Moves with every change of the references that count, whoever makes it. */
  readonly profileVersion: number
  /** In which format this generation's samples are; without meaning while there are none. */
  readonly sampleFormat: number
  /** The next generation, while it is collected beside this one. */
  readonly successor: Successor | null
  /** As it was queued: `livePending` tells whether it still holds. */
  readonly pending: QueuedAction | null
  /** When a sign-in last became an adaptive reference; null before. */
  readonly adaptedAt: number | null
  /** What the context of an attempt is judged on. */
  readonly habits: HabitsText
}

/** References of the next generation: they verify nobody until they are as many as wanted, and then replace the old. */
export interface Successor {
  /** Who collects them: patterns of two owners never meet in one generation. */
  readonly owner: string
  readonly sampleFormat: number
  readonly nVisible: number
  readonly nSensitive: number
}
