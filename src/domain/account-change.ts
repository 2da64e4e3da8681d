import type { AccountType, MemberSelection } from './account.js'
import { Refusal } from './refusal.js'

/** A change to an existing account; an absent field stays as it is. */
export interface AccountChange {
  readonly type?: AccountType | undefined
  readonly memberRef?: string | undefined
  readonly memberSelection?: MemberSelection | undefined
  readonly groups?: readonly string[] | undefined
  readonly tag?: Readonly<Record<string, string>> | undefined
}

/** The effect of a change on an account's type and people. */
export type PeopleMove =
  | { readonly kind: 'none' }
  /** Adds a person to a shared account. */
  | { readonly kind: 'add'; readonly memberRef: string }
  /** The one person of a nominative account becomes the member `memberRef` of a shared one. */
  | { readonly kind: 'to-generic'; readonly memberRef: string }
  /** The only member becomes the account's one person; without members, one is created. */
  | { readonly kind: 'to-nominative' }

/** The part of an account that its type machine reads. `memberRefs` omits archived members. */
export interface People {
  readonly userRef: string
  readonly type: AccountType
  readonly memberRefs: readonly string[]
}

/**
 * The account-type machine (interface, States and transitions). Refusals: `account-type` for a change of type that is not
 * explicit or would lose a member; `member-exists` for a `member_ref` that is taken; `member-mismatch` for a second person on
 * an account that is and stays nominative.
 */
export function peopleMove(
  account: People,
  { type, memberRef }: Pick<AccountChange, 'type' | 'memberRef'>,
): PeopleMove {
  return account.type === 'nominative'
    ? fromNominative(account, type, memberRef)
    : fromGeneric(account, type, memberRef)
}

function fromNominative(account: People, type: AccountType | undefined, memberRef: string | undefined): PeopleMove {
  if (type === 'generic') {
    if (memberRef !== undefined && memberRef !== account.userRef) return { kind: 'to-generic', memberRef }
    throw new Refusal(
      'account-type',
      'a nominative account becomes generic only with a member_ref, other than the userRef, for the person it has',
    )
  }
  if (memberRef === undefined || memberRef === account.userRef) return { kind: 'none' }
  if (type === 'nominative') {
    throw new Refusal('member-mismatch', 'member_ref differs from the userRef of a nominative account: leave it out')
  }
  throw new Refusal('account-type', 'this account is nominative: give type "generic" too, to make it a shared one')
}

function fromGeneric(account: People, type: AccountType | undefined, memberRef: string | undefined): PeopleMove {
  if (type === 'nominative') {
    if (account.memberRefs.length > 1) {
      throw new Refusal(
        'account-type',
        `a generic account becomes nominative with one member at most, this one has ${account.memberRefs.length}`,
      )
    }
    if (memberRef === undefined || memberRef === account.userRef) return { kind: 'to-nominative' }
    throw new Refusal('member-mismatch', 'on a nominative account the member is the userRef: leave member_ref out')
  }
  if (memberRef === undefined) return { kind: 'none' }
  if (account.memberRefs.includes(memberRef)) {
    throw new Refusal('member-exists', 'duplicate member reference: this account has a member of this member_ref')
  }
  return { kind: 'add', memberRef }
}
