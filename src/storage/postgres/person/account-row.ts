import type { Account, AccountType, MemberSelection } from '../../../domain/account.js'
import type { AccountWithMember } from '../../account.js'
import type { Statements } from '../connection/client.js'
import { type MemberRow, toMember } from './member.js'

export interface AccountRow {
  account_id: string
  user_ref: string
  type: AccountType
  account_display_name: string | null
  member_selection: MemberSelection
  groups: string[]
  tag: Record<string, string>
  account_created_at: Date
}

/** The columns of a member in the outer join if the account has no such member. */
type NoMemberRow = { [Column in keyof MemberRow]: null }
export type PersonRow = AccountRow & (MemberRow | NoMemberRow)

export const accountColumns = (sql: Statements) => sql`
  a.id as account_id, a.user_ref, a.type, a.display_name as account_display_name, a.member_selection, a.groups, a.tag,
  a.created_at as account_created_at`

export function toPerson(row: PersonRow | undefined): AccountWithMember | null {
  if (row === undefined) return null
  return { account: toAccount(row), member: row.id === null ? null : toMember(row) }
}

export function toAccount(row: AccountRow): Account {
  return {
    id: row.account_id,
    userRef: row.user_ref,
    type: row.type,
    displayName: row.account_display_name,
    memberSelection: row.member_selection,
    groups: row.groups,
    tag: row.tag,
    createdAt: row.account_created_at.getTime(),
  }
}
