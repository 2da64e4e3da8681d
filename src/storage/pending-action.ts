import type { Member } from '../domain/account.js'
import type { PendingEvent } from '../domain/pending-action.js'

/** The action that an administrator queues for a member's next sign-in. The profile store carries it out. */
export interface PendingActionStore {
  /** Queues or clears, by the rules of the domain. Null if the member is gone. */
  change(
    organizationId: string,
    memberId: string,
    event: Extract<PendingEvent, { kind: 'queue' | 'clear' }>,
    at: number,
  ): Promise<Member | null>
}
