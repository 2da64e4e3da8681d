import type { Account, AccountType, Member } from '../domain/account.js'
import type { AccountChange, PeopleMove } from '../domain/account-change.js'
import type { StoredComparisonSet } from './comparison-set.js'

export interface NewMember {
  readonly id: string
  readonly memberRef: string
  readonly displayName: string | null
  readonly createdAt: number
}

export interface NewAccount {
  readonly id: string
  readonly userRef: string
  readonly type: AccountType
  /** Label of the account; the label of a person is that of the member. */
  readonly displayName: string | null
  /** The first member; null for a shared account without members. */
  readonly member: NewMember | null
  readonly createdAt: number
}

export interface AccountWithMember {
  readonly account: Account
  /** The named member, or the only one of a nominative account; null if there is none. */
  readonly member: Member | null
  /** The member's comparison set; present only if asked for, and null if there is none. */
  readonly comparisonSet?: StoredComparisonSet | null
}

export interface FindOptions {
  /** Whether to read the member's comparison set too, in the same statement. */
  readonly withComparisonSet?: boolean
}

/** An account with its members in the order of their creation, without archived ones. */
export interface Roster {
  readonly account: Account
  readonly members: readonly Member[]
}

export interface AccountPlan {
  readonly settings: Pick<AccountChange, 'memberSelection' | 'groups' | 'tag'>
  readonly move: PeopleMove
  /** The member that `add` creates; `to-nominative` creates it on an account without members. */
  readonly newMember: Omit<NewMember, 'memberRef'>
}

/**
 * Accounts and their members. Methods that create refuse with `accounts-quota`, `shared-accounts-quota` or `members-quota`
 * if a strict quota of the organization is used up. The transaction that inserts decides this.
 */
export interface AccountStore {
  /** If the userRef is taken, writes nothing and returns the existing account with `created` false. */
  create(organizationId: string, account: NewAccount): Promise<AccountWithMember & { created: boolean }>
  /** Finds the member of a nominative account if `memberRef` is null. Archived members are not found. */
  find(
    organizationId: string,
    userRef: string,
    memberRef: string | null,
    options?: FindOptions,
  ): Promise<AccountWithMember | null>
  roster(organizationId: string, userRef: string): Promise<Roster | null>
  /**
   * Locks the account, calls `plan` and carries the plan out. An error thrown by `plan` changes nothing and is rethrown.
   * Returns the roster afterwards; null if there is no such account. An archived member is restored with its locks.
   */
  change(organizationId: string, userRef: string, plan: (roster: Roster) => AccountPlan): Promise<Roster | null>
  /**
   * Removes one member from a shared account: erases patterns, code and label, and keeps the record of sign-ins. Null if
   * there is no such member.
   */
  archiveMember(
    organizationId: string,
    userRef: string,
    memberRef: string,
    at: number,
  ): Promise<{ nPatternsDeleted: number } | null>
  /** Removes the account with everything that names it, in one transaction; null if it does not exist. */
  remove(organizationId: string, userRef: string): Promise<{ nPatternsDeleted: number } | null>
  /** Clears every display name of the organization; returns their number. */
  clearDisplayNames(organizationId: string): Promise<number>
}
