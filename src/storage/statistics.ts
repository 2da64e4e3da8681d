import type { Bucket, TimeWindow } from '../domain/time-window.js'

/** Attempts counted together. The three sums are of confidences, over `n`, `nBiometrics` and `nContext` attempts. */
export interface Tally {
  /** Begin of the bucket, epoch ms. */
  readonly at: number
  /** The facet's value; empty for `all`. */
  readonly value: string
  readonly n: number
  readonly nAuthenticated: number
  readonly nChallenged: number
  readonly nBlocked: number
  readonly sumConfidence: number
  readonly sumBiometrics: number
  readonly nBiometrics: number
  readonly sumContext: number
  readonly nContext: number
}

/** Statistics of one user's attempts in a window. A mean over no attempts is null. */
export interface UserStatistics {
  readonly userRef: string
  readonly type: 'nominative' | 'generic'
  readonly n: number
  readonly nAuthenticated: number
  readonly nChallenged: number
  readonly nBlocked: number
  readonly confidence: number | null
  readonly confidenceBiometrics: number | null
  readonly lastAt: number | null
}

export const USER_SORTS = ['n', 'authenticated', 'challenged', 'blocked', 'confidence', 'last', 'user_ref'] as const
export type UserSort = (typeof USER_SORTS)[number]

export interface UserOrder {
  readonly sort: UserSort
  readonly descending: boolean
  readonly skip: number
  readonly limit: number
  /** Part of the userRef; null selects all users. */
  readonly userRefFilter: string | null
}

/** Figures over attempts, for the dashboard. Windows are exact; no request of the core API writes them. */
export interface StatisticsStore {
  /** By facet: `all`, `method`, `reason`, `confidence` (by twentieth), or one of `facetsOf`. A null bucket is the whole window. */
  tallies(organizationId: string, facet: string, window: TimeWindow, bucket: Bucket | null): Promise<Tally[]>
  /** The tallies of one user's attempts, which are read one by one. */
  talliesOfUser(
    organizationId: string,
    userRef: string,
    asked: { readonly facet: string; readonly window: TimeWindow; readonly bucket: Bucket | null },
  ): Promise<Tally[]>
  /** Number of users with a blocked attempt, by bucket. */
  blockedUsers(
    organizationId: string,
    window: TimeWindow,
    bucket: Bucket | null,
  ): Promise<{ at: number; nUsers: number }[]>
  /**
   * Every user. Users without an attempt in the window come last by `confidence` and `last`, and count as 0 in the other
   * orders. Fast for the last 7, 30 or 90 days, within two days at the beginning; other windows read every attempt in them,
   * for at most 10 s.
   */
  users(organizationId: string, window: TimeWindow, order: UserOrder): Promise<UserStatistics[]>
  /** For a job: updates due counts of all organizations, for half a second per kind of count; true if more are left. */
  countAttempts(): Promise<boolean>
  /** Counts again from the day of `since` (epoch ms), after attempts were written with a past time or must leave all counts. */
  countAgain(organizationId: string, since: number): Promise<void>
}
