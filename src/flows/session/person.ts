import type { Account, Member } from '../../domain/account.js'
import { memberNotFound, Refusal, sessionMissing, sessionOfAnother, userNotFound } from '../../domain/refusal.js'
import type { AccountStore, AccountWithMember, FindOptions } from '../../storage/account.js'
import type { StoredComparisonSet } from '../../storage/comparison-set.js'
import type { Session, SessionStore } from '../../storage/session.js'
import { sha256Hex } from '../process/tokens.js'

/** The person of a user-scoped call. `memberRef` is null if the call names none. */
export interface Designation {
  readonly organizationId: string
  readonly userRef: string
  readonly memberRef: string | null
}

/** A member with the account. */
export interface Person {
  readonly account: Account
  readonly member: Member
  /** The member's comparison set, if it was read with the person; null if there is none. */
  readonly comparisonSet?: StoredComparisonSet | null
}

/** The account, and its designated member, if any. Refuses an absent account and a foreign member_ref. */
export async function findAccount(
  accounts: AccountStore,
  who: Designation,
  options?: FindOptions,
): Promise<AccountWithMember> {
  const found = await accounts.find(who.organizationId, who.userRef, who.memberRef, options)
  if (found === null) throw userNotFound()
  refuseForeignMember(found.account, who.memberRef)
  return found
}

export function refuseForeignMember(account: Pick<Account, 'type' | 'userRef'>, memberRef: string | null): void {
  if (account.type === 'nominative' && memberRef !== null && memberRef !== account.userRef) {
    throw new Refusal('member-mismatch', 'member_ref differs from the userRef of a nominative account: leave it out')
  }
}

/** The person of an account; refuses an account without the member. */
export function personOf({ account, member, comparisonSet }: AccountWithMember): Person {
  if (member === null) throw memberNotFound()
  return { account, member, ...(comparisonSet === undefined ? {} : { comparisonSet }) }
}

/** The account and its designated member. Refuses an absent one, and a shared account without a named member. */
export async function findPerson(accounts: AccountStore, who: Designation, options?: FindOptions): Promise<Person> {
  const found = await findAccount(accounts, who, options)
  if (found.member === null && who.memberRef === null)
    throw new Refusal('member-required', 'member_ref is required on a generic account')
  return personOf(found)
}

export interface LiveSession extends Session {
  readonly sha256: string
  /** The session was found by its member, not by a bearer value, so the caller has proved nothing. */
  readonly implicit?: true
}

/** The session of a call: its bearer value, or a live session that was already found. */
export type Presented = string | LiveSession

/** The session behind a bearer value; refuses a missing, expired or foreign one, and one bound to another member. */
export async function requireSession(
  sessions: Pick<SessionStore, 'find'>,
  who: Designation,
  token: Presented,
): Promise<LiveSession> {
  if (typeof token !== 'string') return token
  const hash = sha256Hex(token)
  const session = await sessions.find(who.organizationId, who.userRef, hash)
  if (session === null) throw sessionMissing()
  if (!fitsMember(session, who)) throw sessionOfAnother()
  return { ...session, sha256: hash }
}

/** Binds a shared account's session to the first member that a call names. */
export async function bindSession(
  sessions: Pick<SessionStore, 'designate'>,
  who: Designation,
  session: LiveSession,
  { account, member }: Person,
): Promise<void> {
  if (account.type === 'nominative' || session.memberRef !== null) return
  const bound = await sessions.designate(who.organizationId, who.userRef, session.sha256, member.memberRef)
  if (!bound) throw sessionMissing()
}

/** Whether the session may serve the member of the call. A session that is bound to a member serves no other one. */
export const fitsMember = (session: Session, who: Designation): boolean =>
  who.memberRef === null || session.memberRef === null || session.memberRef === who.memberRef
