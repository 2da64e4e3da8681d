import { userNotFound } from '../domain/refusal.js'
import type { AccountStore } from '../storage/account.js'
import type { SessionStore } from '../storage/session.js'
import { type AccountState, stateOf } from './bootstrap.js'
import type { Designation } from './person.js'
import { refuseForeignMember } from './person.js'

interface Needs {
  readonly accounts: AccountStore
  readonly sessions: SessionStore
  readonly newId: () => string
  readonly now: () => number
}

export interface AccountFlows {
  /** Creates a nominative account; `created` false where it is there already, then nothing changes. */
  create(who: Designation, displayName: string | null): Promise<AccountState & { created: boolean }>
  /** Deletes the account and everything that names it; its sessions end. */
  remove(who: Designation): Promise<{ userRef: string; nPatternsDeleted: number }>
}

export function createAccountFlows(needs: Needs): AccountFlows {
  return {
    async create(who, displayName) {
      const { account, member, created } = await needs.accounts.create(who.organizationId, {
        id: needs.newId(),
        userRef: who.userRef,
        type: 'nominative',
        displayName,
        member: { id: needs.newId(), memberRef: who.userRef },
        createdAt: needs.now(),
      })
      refuseForeignMember(account, who.memberRef)
      return { ...stateOf(account, member, needs.now()), created }
    },

    async remove(who) {
      const found = await needs.accounts.find(who.organizationId, who.userRef, who.memberRef)
      if (found === null) throw userNotFound(who.userRef)
      refuseForeignMember(found.account, who.memberRef)
      // Sessions first: where they cannot be ended, nothing is deleted and the call can be repeated.
      await needs.sessions.endAll(who.organizationId, who.userRef, null)
      const removed = await needs.accounts.remove(who.organizationId, who.userRef)
      if (removed === null) throw userNotFound(who.userRef)
      return { userRef: who.userRef, nPatternsDeleted: removed.nPatternsDeleted }
    },
  }
}
