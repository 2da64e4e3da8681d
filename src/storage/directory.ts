import type { Bucket, TimeWindow } from '../domain/time-window.js'
import type { Roster } from './account.js'
import type { Paging } from './attempt-log.js'

export interface BlockedMember {
  readonly userRef: string
  readonly memberRef: string
  readonly displayName: string | null
  /** End of the lock, epoch ms; null if only a reset or a new code ends it. */
  readonly until: number | null
}

/** Accounts and patterns created in a window. */
interface Arrivals {
  readonly nAccounts: number
  readonly nPatterns: number
}

/** Accounts and people, for the dashboard. */
export interface Directory {
  /** Accounts whose userRef contains `filter` (null: all), newest first, each with its members. */
  page(organizationId: string, filter: string | null, paging: Paging): Promise<Roster[]>
  count(organizationId: string, filter: string | null): Promise<number>
  /** UserRefs that contain the text; those that begin with it come first. */
  search(organizationId: string, text: string, limit: number): Promise<string[]>
  /** Existing accounts by time of creation; `before` counts those created before the window. */
  growth(
    organizationId: string,
    window: TimeWindow,
    bucket: Bucket,
  ): Promise<{ readonly before: number; readonly created: readonly { readonly at: number; readonly n: number }[] }>
  arrivals(organizationId: string, window: TimeWindow): Promise<Arrivals>
  /** Accounts by group, largest first. */
  groups(organizationId: string): Promise<{ group: string; n: number }[]>
  /** Locked members, longest remaining lock first. */
  blocked(organizationId: string, now: number, paging: Paging): Promise<BlockedMember[]>
  countBlocked(organizationId: string, now: number): Promise<number>
}
