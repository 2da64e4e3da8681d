import type { Bucket, TimeWindow } from '../domain/time-window.js'

/** Attempts counted together. Sums are of confidences, over as many as the count beside them says. */
export interface Tally {
  /** When the bucket begins, epoch ms. */
  readonly at: number
  /** Of the facet that was asked for; empty for `all`. */
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

/** What one user's attempts of a window come to. Means are null where there is nothing to mean over. */
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
  /** Part of the userRef; null for everybody. */
  readonly userRefFilter: string | null
}

/** Figures over attempts, for people to look at. Windows are exact; nothing here is written on the way of a request. */
export interface StatisticsStore {
  /** By facet (`all`, `method`, `reason`, or one of `facetsOf`) and bucket; null makes one bucket of the whole window. */
  tallies(organizationId: string, facet: string, window: TimeWindow, bucket: Bucket | null): Promise<Tally[]>
  /** The same of one user's attempts, all together. */
  talliesOfUser(organizationId: string, userRef: string, window: TimeWindow, bucket: Bucket | null): Promise<Tally[]>
  /** Users with an attempt that was blocked, by bucket. */
  blockedUsers(
    organizationId: string,
    window: TimeWindow,
    bucket: Bucket | null,
  ): Promise<{ at: number; nUsers: number }[]>
  /**
   * Every user; those without an attempt in the window stand last by `confidence` and `last`, and count as 0 by the rest. Fast for the last 7, 30 or 90 days, give or take two days
   * at the beginning; other windows read every attempt in them, for 10 s at the most.
   */
  users(organizationId: string, window: TimeWindow, order: UserOrder): Promise<UserStatistics[]>
  /** Counts what is due, of all organizations, for half a second a kind of count; true where more is left. A job's. */
  countAttempts(): Promise<boolean>
}
