import type { BiometricStatus, ProfileTargets } from '../domain/biometric-status.js'
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

/** Properties that an account must have. Null matches every account. */
export interface UserFilter {
  /** Part of the userRef. */
  readonly userRef: string | null
  readonly group: string | null
  /** The status of a member's profile under these targets. */
  readonly profile: { readonly status: BiometricStatus; readonly targets: ProfileTargets; readonly now: number } | null
}
export const EVERYBODY: UserFilter = { userRef: null, group: null, profile: null }

export const DIRECTORY_SORTS = ['created', 'user_ref', 'last_authentication'] as const
export interface DirectoryOrder extends Paging {
  /** If sorted by `last_authentication`, accounts without a success come last in both directions. */
  readonly sort: (typeof DIRECTORY_SORTS)[number]
  readonly descending: boolean
}

/** Accounts and patterns created in a window. */
interface Arrivals {
  readonly nAccounts: number
  readonly nPatterns: number
}

/** Accounts and people, for the dashboard. */
export interface Directory {
  /**
   * Accounts with their members. A page by time of creation or userRef takes an index; by last authentication, or filtered by
   * profile, it reads the members of the organization, 0.3 s for 100,000.
   */
  page(organizationId: string, filter: UserFilter, order: DirectoryOrder): Promise<Roster[]>
  count(organizationId: string, filter: UserFilter): Promise<number>
  /** The userRefs that contain the text; those that begin with it come first. */
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
