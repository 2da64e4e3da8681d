import type { AccountType, Member } from '../../domain/account.js'
import { type AccountChange, peopleMove } from '../../domain/account-change.js'
import type { ProfileTargets } from '../../domain/biometric-status.js'
import type { ErasedPerson } from '../../domain/erased-person.js'
import { memberNotFound, Refusal, userNotFound } from '../../domain/refusal.js'
import type { AccountStore, AccountWithMember, NewAccount, Roster } from '../../storage/account.js'
import type { SessionStore } from '../../storage/session.js'
import type { SsoArtifactStore } from '../../storage/sso-artifact.js'
import { type AccountState, stateOf } from '../session/bootstrap.js'
import { endingSessions } from '../session/ending-sessions.js'
import type { Designation } from '../session/person.js'
import { refuseForeignMember } from '../session/person.js'
import type { SecurityCodeFlows } from './security-code.js'

interface Needs {
  readonly accounts: AccountStore
  readonly sessions: SessionStore
  readonly ssoArtifacts: Pick<SsoArtifactStore, 'endAll'>
  readonly securityCodes: Pick<SecurityCodeFlows, 'issueFirst'>
  /** Removes what the processes of this machine have cached of a person. */
  readonly forgetPerson: (person: ErasedPerson) => Promise<void>
  readonly targets: ProfileTargets
  readonly newId: () => string
  readonly now: () => number
}

interface NewPerson {
  /** If null, a new account is nominative and an existing one keeps its type. */
  readonly type: AccountType | null
  readonly displayName: string | null
  /** Issues a temporary security code if the person has none, so a creation that failed at this step can be repeated. */
  readonly withCode: boolean
}

/** `created` is true if this call created the account or the member. `securityCode` is null if none was issued. */
type Created = AccountState & { readonly created: boolean; readonly securityCode: string | null }

/** An account's members, each with their state. */
export interface People {
  readonly account: Roster['account']
  readonly members: readonly AccountState[]
}

export interface AccountFlows {
  /**
   * Creates an account, or a member of an existing shared one (`who.memberRef`). Idempotent: an existing account or member
   * is unchanged. Refuses an account of the other type with `account-type`, and a creation above a quota.
   */
  create(who: Designation, person: NewPerson): Promise<Created>
  members(who: Designation): Promise<People>
  /** Changes type, members or settings of an account. A change of type ends its sessions. */
  change(who: Designation, change: AccountChange): Promise<People>
  /**
   * Deletes the account and everything that names it. If `who` names a member of a shared account, archives that member
   * instead. Ends their sessions, those of single sign-on included.
   */
  remove(who: Designation): Promise<{ userRef: string; nPatternsDeleted: number }>
  /** Clears all display names of the organization; returns their number. */
  clearDisplayNames(organizationId: string): Promise<number>
}

export function createAccountFlows(needs: Needs): AccountFlows {
  return {
    async create(who, person) {
      const { state, created } = await createdOrFound(needs, who, person)
      const { account, member } = state
      if (!person.withCode || member === null || member.code.set) return { ...state, created, securityCode: null }
      const issued = await needs.securityCodes.issueFirst({ organizationId: who.organizationId, account, member })
      const after = stateOf(needs, account, issued?.member ?? member)
      return { ...after, created, securityCode: issued?.code ?? null }
    },

    async members(who) {
      const roster = await needs.accounts.roster(who.organizationId, who.userRef)
      if (roster === null) throw userNotFound()
      return peopleOf(needs, roster)
    },

    async change(who, change) {
      const { organizationId, userRef } = who
      let moved = false
      const roster = await needs.accounts.change(organizationId, userRef, ({ account, members }) => {
        const move = peopleMove({ ...account, memberRefs: members.map(({ memberRef }) => memberRef) }, change)
        moved = move.kind === 'to-generic' || move.kind === 'to-nominative'
        return { settings: change, move, newMember: newMember(needs, null) }
      })
      if (roster === null) throw userNotFound()
      // A session is bound to a `member_ref`, which has changed.
      if (moved) await needs.sessions.endAll(organizationId, userRef, null)
      return peopleOf(needs, roster)
    },

    async remove(who) {
      const { organizationId, userRef, memberRef } = who
      const found = await needs.accounts.find(organizationId, userRef, memberRef)
      if (found === null) {
        // An earlier call may have deleted the person without ending the sessions begun meanwhile.
        await needs.sessions.endAll(organizationId, userRef, memberRef)
        await needs.ssoArtifacts.endAll(organizationId, userRef)
        throw userNotFound()
      }
      refuseForeignMember(found.account, memberRef)
      const ofShared = found.account.type === 'generic' ? memberRef : null
      const memberIds = ofShared === null ? await membersOf(needs, who, found) : memberIdsOf([found.member])
      const endSessions = async () => {
        await needs.sessions.endAll(organizationId, userRef, ofShared)
        if (ofShared === null) await needs.ssoArtifacts.endAll(organizationId, userRef)
      }
      return endingSessions(endSessions, async () => {
        const removing =
          ofShared === null
            ? needs.accounts.remove(organizationId, userRef)
            : needs.accounts.archiveMember(organizationId, userRef, ofShared, needs.now())
        // The store may have committed a removal that failed, so the caches drop the person in any case.
        const removed = await removing.finally(() => needs.forgetPerson({ organizationId, userRef, memberIds }))
        if (removed === null) throw ofShared === null ? userNotFound() : memberNotFound()
        return { userRef, nPatternsDeleted: removed.nPatternsDeleted }
      })
    },

    clearDisplayNames: (organizationId) => needs.accounts.clearDisplayNames(organizationId),
  }
}

async function membersOf(
  { accounts }: Needs,
  { organizationId, userRef }: Designation,
  { account, member }: AccountWithMember,
): Promise<string[]> {
  if (account.type === 'nominative') return memberIdsOf([member])
  const roster = await accounts.roster(organizationId, userRef)
  return memberIdsOf(roster?.members ?? [])
}

const memberIdsOf = (members: readonly (Member | null)[]) => members.flatMap((member) => member?.id ?? [])

const newMember = (needs: Needs, displayName: string | null) => ({
  id: needs.newId(),
  displayName,
  createdAt: needs.now(),
})

const peopleOf = (needs: Needs, { account, members }: Roster): People => ({
  account,
  members: members.map((member) => stateOf(needs, account, member)),
})

async function createdOrFound(
  needs: Needs,
  who: Designation,
  { type, displayName }: NewPerson,
): Promise<{ state: AccountState; created: boolean }> {
  const { organizationId, userRef, memberRef } = who
  let found = await needs.accounts.find(organizationId, userRef, memberRef)
  if (found === null) {
    const made = await needs.accounts.create(organizationId, newAccount(needs, who, type ?? 'nominative', displayName))
    if (made.created) return { state: stateOf(needs, made.account, made.member), created: true }
    found = await needs.accounts.find(organizationId, userRef, memberRef)
  }
  if (found === null) throw userNotFound()
  const { account, member } = found
  if (type !== null && type !== account.type) {
    throw new Refusal('account-type', `this account is ${account.type}: change its type with PATCH`)
  }
  refuseForeignMember(account, memberRef)
  if (account.type === 'generic' && memberRef !== null && member === null) {
    return addedMember(needs, { organizationId, userRef, memberRef }, displayName)
  }
  return { state: stateOf(needs, account, member), created: false }
}

function newAccount(
  needs: Needs,
  { userRef, memberRef }: Designation,
  type: AccountType,
  displayName: string | null,
): NewAccount {
  refuseForeignMember({ type, userRef }, memberRef)
  const first = type === 'nominative' ? userRef : memberRef
  // The store keeps one creation time for the account and its first member.
  const createdAt = needs.now()
  return {
    id: needs.newId(),
    userRef,
    type,
    displayName: first === null ? displayName : null,
    member: first === null ? null : { ...newMember(needs, displayName), memberRef: first, createdAt },
    createdAt,
  }
}

/** Adds a member to a shared account. One of several concurrent calls for the same member creates it. */
async function addedMember(
  needs: Needs,
  { organizationId, userRef, memberRef }: Designation & { readonly memberRef: string },
  displayName: string | null,
): Promise<{ state: AccountState; created: boolean }> {
  let created = false
  const roster = await needs.accounts.change(organizationId, userRef, ({ account, members }) => {
    created = account.type === 'generic' && !members.some((one) => one.memberRef === memberRef)
    const move = created ? ({ kind: 'add', memberRef } as const) : ({ kind: 'none' } as const)
    return { settings: {}, move, newMember: newMember(needs, displayName) }
  })
  if (roster === null) throw userNotFound()
  refuseForeignMember(roster.account, memberRef)
  const member = roster.members.find((one) => one.memberRef === memberRef) ?? null
  return { state: stateOf(needs, roster.account, member), created }
}
