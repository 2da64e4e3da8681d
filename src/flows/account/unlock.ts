import type { Account, Member } from '../../domain/account.js'
import type { AttemptCounters } from '../../domain/attempts.js'
import { userNotFound } from '../../domain/refusal.js'
import type { AccountStore } from '../../storage/account.js'
import type { AttemptLockStore } from '../../storage/attempt-lock.js'
import { type Designation, findPerson } from '../session/person.js'

interface Needs {
  readonly accounts: AccountStore
  readonly attemptLocks: AttemptLockStore
}

interface UnlockFlows {
  show(who: Designation): Promise<{ account: Account; member: Member }>
  /** Opens typing and code again and forgets the failures, a dead code's included; gives what was forgotten. */
  unlock(who: Designation): Promise<AttemptCounters>
}

/** What an operator may do for a member who is locked out. A session's own used up attempts end with the session. */
export function createUnlock(needs: Needs): UnlockFlows {
  return {
    show: (who) => findPerson(needs.accounts, who),

    async unlock(who) {
      const { member } = await findPerson(needs.accounts, who)
      const before = await needs.attemptLocks.clear(who.organizationId, member.id)
      if (before === null) throw userNotFound()
      return before
    },
  }
}
