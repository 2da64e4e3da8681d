import type { Account, AccountType, Member } from '../domain/account.js'

export interface NewAccount {
  readonly id: string
  readonly userRef: string
  readonly type: AccountType
  readonly displayName: string | null
  readonly member: { readonly id: string; readonly memberRef: string } | null
  readonly createdAt: number
}

export interface AccountWithMember {
  readonly account: Account
  /** The asked-for member; the only one of a nominative account; null where there is none (yet). */
  readonly member: Member | null
}

export interface AccountStore {
  /** `created` false where the userRef was taken: then nothing is written and the existing one comes back. */
  create(organizationId: string, account: NewAccount): Promise<AccountWithMember & { created: boolean }>
  /** `memberRef` null asks for the member of a nominative account. */
  find(organizationId: string, userRef: string, memberRef: string | null): Promise<AccountWithMember | null>
  /** Removes the account with everything that names it, in one transaction; null where it does not exist. */
  remove(organizationId: string, userRef: string): Promise<{ nPatternsDeleted: number } | null>
}
