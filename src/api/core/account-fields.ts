import { z } from 'zod'
import type { AccountState } from '../../flows/session/bootstrap.js'
import { AccountTypeField, Counts, countsOf } from './shapes.js'

/** The account fields of the bootstrap state; every answer about an account has them. */
export const AccountFields = {
  userRef: z.string().describe('normalized reference'),
  accountRef: z.string().nullable().describe('id of the account; null if it does not exist'),
  accountType: AccountTypeField,
  memberRef: z.string().nullable().describe('null on a generic account until a member is designated'),
  memberSelection: z
    .enum(['ask', 'list'])
    .nullable()
    .describe(
      'how the client identifies the member of a generic account: ask for member_ref, or show the member list; null on a nominative account',
    ),
  ...Counts,
}

export function accountFields({ account, member, ...profile }: AccountState) {
  return {
    userRef: account.userRef,
    accountRef: account.id,
    accountType: account.type,
    memberRef: member?.memberRef ?? null,
    memberSelection: account.type === 'generic' ? account.memberSelection : null,
    ...countsOf(profile),
  }
}
