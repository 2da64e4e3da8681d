import type { Account, AccountType, Member } from '../domain/account.js'
import type { AccountChange, PeopleMove } from '../domain/account-change.js'

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
  /** Label of the account itself; a person's own label is the member's. */
  readonly displayName: string | null
  /** Null makes a shared account without anybody yet. */
  readonly member: NewMember | null
  readonly createdAt: number
}

export interface AccountWithMember {
  readonly account: Account
  /** The asked-for member; the only one of a nominative account; null where there is none (yet). */
  readonly member: Member | null
}

/** An account with everybody on it, archived members left out, in the order of their creation. */
export interface Roster {
  readonly account: Account
  readonly members: readonly Member[]
}

export interface AccountPlan {
  readonly settings: Pick<AccountChange, 'memberSelection' | 'groups' | 'tag'>
  readonly move: PeopleMove
  /** Whom `add` puts on the account, or `to-nominative` where nobody is left. */
  readonly newMember: Omit<NewMember, 'memberRef'>
}

/**
 * Accounts and their members. What creates refuses with `accounts-quota`, `shared-accounts-quota` or `members-quota`
 * where the organization's quotas are strict and used up; that is decided in the transaction that inserts.
 */
export interface AccountStore {
  /** `created` false where the userRef was taken: then nothing is written and the existing one comes back. */
  create(organizationId: string, account: NewAccount): Promise<AccountWithMember & { created: boolean }>
  /** `memberRef` null asks for the member of a nominative account. Archived members are not found. */
  find(organizationId: string, userRef: string, memberRef: string | null): Promise<AccountWithMember | null>
  roster(organizationId: string, userRef: string): Promise<Roster | null>
  /**
   * Does what `plan` says to the account as it is under its lock; a refusal thrown by `plan` leaves it as it was. Gives
   * the roster afterwards; null where there is no such account. A member archived before comes back with its locks.
   */
  change(organizationId: string, userRef: string, plan: (roster: Roster) => AccountPlan): Promise<Roster | null>
  /**
   * Takes one member off a shared account: patterns, code and label are erased, the record of sign-ins stays. Null
   * where there is no such member.
   */
  archiveMember(
    organizationId: string,
    userRef: string,
    memberRef: string,
    at: number,
  ): Promise<{ nPatternsDeleted: number } | null>
  /** Removes the account with everything that names it, in one transaction; null where it does not exist. */
  remove(organizationId: string, userRef: string): Promise<{ nPatternsDeleted: number } | null>
  /** Clears every display name of the organization; how many there were. */
  clearDisplayNames(organizationId: string): Promise<number>
}
