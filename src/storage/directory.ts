import type { Bucket, TimeWindow } from '../domain/time-window.js'
import type { Roster } from './account.js'
import type { Paging } from './attempt-log.js'

export interface BlockedMember {
  readonly userRef: string
  readonly memberRef: string
  readonly displayName: string | null
  /** Epoch ms; null where only a reset or a new code opens. */
  readonly until: number | null
}

/** What came to be in a window. */
interface Arrivals {
  readonly nAccounts: number
  readonly nPatterns: number
}

/** Accounts and people, for people to look through. */
export interface Directory {
  /** Accounts whose userRef holds `filter` (null: all), newest first, each with everybody on it. */
  page(organizationId: string, filter: string | null, paging: Paging): Promise<Roster[]>
  count(organizationId: string, filter: string | null): Promise<number>
  /** UserRefs that hold the text; those that begin with it come first. */
  search(organizationId: string, text: string, limit: number): Promise<string[]>
  /** Accounts that are there now, by when they were created; `before` counts those from before the window. */
  growth(
    organizationId: string,
    window: TimeWindow,
    bucket: Bucket,
  ): Promise<{ readonly before: number; readonly created: readonly { readonly at: number; readonly n: number }[] }>
  arrivals(organizationId: string, window: TimeWindow): Promise<Arrivals>
  /** Accounts by group, largest first. */
  groups(organizationId: string): Promise<{ group: string; n: number }[]>
  /** Members who may not try now, those blocked longest first. */
  blocked(organizationId: string, now: number, paging: Paging): Promise<BlockedMember[]>
  countBlocked(organizationId: string, now: number): Promise<number>
}
