import type { PendingAction } from '../../domain/pending-action.js'
import { userNotFound } from '../../domain/refusal.js'
import type { AccountStore } from '../../storage/account.js'
import type { PendingActionStore } from '../../storage/pending-action.js'
import { type Designation, findPerson, type Person } from '../session/person.js'

interface Needs {
  readonly accounts: AccountStore
  readonly pendingActions: PendingActionStore
  readonly newId: () => string
  readonly now: () => number
}

export interface PendingActionFlows {
  /** Queues an action for the member's next sign-in; replaces a queued one. Enrollment carries it out. */
  queue(who: Designation, action: PendingAction): Promise<Person>
  clear(who: Designation): Promise<Person>
}

export function createPendingActionFlows(needs: Needs): PendingActionFlows {
  const change = async (who: Designation, event: Parameters<PendingActionStore['change']>[2]) => {
    const { account, member } = await findPerson(needs.accounts, who)
    const after = await needs.pendingActions.change(who.organizationId, member.id, event, needs.now())
    if (after === null) throw userNotFound()
    return { account, member: after }
  }
  return {
    queue: (who, action) => change(who, { kind: 'queue', id: needs.newId(), action }),
    clear: (who) => change(who, { kind: 'clear' }),
  }
}
