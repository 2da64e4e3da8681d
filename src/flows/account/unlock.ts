import type { AttemptCounters } from '../../domain/attempts.js'
import { userNotFound } from '../../domain/refusal.js'
import type { AccountStore } from '../../storage/account.js'
import type { AttemptLockStore } from '../../storage/attempt-lock.js'
import { type Designation, findPerson, type Person } from '../session/person.js'

interface Needs {
  readonly accounts: AccountStore
  readonly attemptLocks: AttemptLockStore
}

interface UnlockFlows {
  show(who: Designation): Promise<Person>
  /** Removes the locks of typing and code and clears all failures, also of a disabled code. Returns the cleared counters. */
  unlock(who: Designation): Promise<AttemptCounters>
}

/** Shows and unlocks a locked member. A used-up budget of a session is not restored: it ends with the session. */
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
