import { userNotFound } from '../domain/refusal.js'
import type { AccountStore } from '../storage/account.js'
import type { SessionStore } from '../storage/session.js'
import { type AccountState, stateOf } from './bootstrap.js'
import type { Designation } from './person.js'
import { refuseForeignMember } from './person.js'
import type { SecurityCodeFlows } from './security-code.js'

interface Needs {
  readonly accounts: AccountStore
  readonly sessions: SessionStore
  readonly securityCodes: Pick<SecurityCodeFlows, 'issueFirst'>
  readonly newId: () => string
  readonly now: () => number
}

export interface NewPerson {
  readonly displayName: string | null
  /** Give the account a temporary security code if it has none: a creation that broke off here can be repeated. */
  readonly withCode: boolean
}

/** `securityCode` null where none was made. */
export type Created = AccountState & { readonly created: boolean; readonly securityCode: string | null }

export interface AccountFlows {
  /** Creates a nominative account; `created` false where it is there already, then it stays as it is. */
  create(who: Designation, person: NewPerson): Promise<Created>
  /** Deletes the account and everything that names it; its sessions end. */
  remove(who: Designation): Promise<{ userRef: string; nPatternsDeleted: number }>
}

export function createAccountFlows(needs: Needs): AccountFlows {
  return {
    async create(who, { displayName, withCode }) {
      const { account, member, created } = await needs.accounts.create(who.organizationId, {
        id: needs.newId(),
        userRef: who.userRef,
        type: 'nominative',
        displayName,
        member: { id: needs.newId(), memberRef: who.userRef },
        createdAt: needs.now(),
      })
      refuseForeignMember(account, who.memberRef)
      const wanted = withCode && member !== null && !member.code.set
      const issued = wanted
        ? await needs.securityCodes.issueFirst({ organizationId: who.organizationId, account, member })
        : null
      const state = stateOf(account, issued?.member ?? member, needs.now())
      return { ...state, created, securityCode: issued?.code ?? null }
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
