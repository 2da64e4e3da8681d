import type { ProfileTargets } from '../../domain/biometric-status.js'
import { Refusal, userNotFound } from '../../domain/refusal.js'
import type { AccountStore } from '../../storage/account.js'
import type { ProfileStore } from '../../storage/profile.js'
import type { SessionStore } from '../../storage/session.js'
import { type AccountState, stateOf } from '../session/bootstrap.js'
import { endingSessions } from '../session/ending-sessions.js'
import { type Designation, findPerson } from '../session/person.js'

interface Needs {
  readonly accounts: AccountStore
  readonly profiles: ProfileStore
  readonly sessions: SessionStore
  readonly targets: ProfileTargets
  readonly now: () => number
}

export interface ProfileFlows {
  /** Removes every reference: a new generation begins, the biometric lock is cleared, the member's sessions end. */
  reset(who: Designation): Promise<AccountState & { nPatternsDeleted: number }>
  /** Removes one reference of any kind. */
  removeOne(who: Designation, patternId: string): Promise<AccountState>
}

export function createProfileFlows(needs: Needs): ProfileFlows {
  return {
    async reset(who) {
      const { account, member } = await findPerson(needs.accounts, who)
      const endSessions = () => needs.sessions.endAll(who.organizationId, who.userRef, member.memberRef)
      return endingSessions(endSessions, async () => {
        const reset = await needs.profiles.reset(who.organizationId, member.id, needs.now())
        if (reset === null) throw userNotFound()
        return { ...stateOf(needs, account, reset.member), nPatternsDeleted: reset.nPatternsDeleted }
      })
    },

    async removeOne(who, patternId) {
      const { account, member } = await findPerson(needs.accounts, who)
      const after = await needs.profiles.removeOne(who.organizationId, member.id, patternId)
      if (after === null) throw new Refusal('pattern-not-found', 'the profile holds no reference pattern of this id')
      return stateOf(needs, account, after)
    },
  }
}
