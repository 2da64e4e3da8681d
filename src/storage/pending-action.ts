import type { Member } from '../domain/account.js'
import type { PendingEvent } from '../domain/pending-action.js'

/** What an administrator queues for a member's next sign-in. What honors it belongs to the profile. */
export interface PendingActionStore {
  /** Queues or clears, by the rules of the domain. Null where the member is gone. */
  change(
    organizationId: string,
    memberId: string,
    event: Extract<PendingEvent, { kind: 'queue' | 'clear' }>,
    at: number,
  ): Promise<Member | null>
}
