import type { AttemptCounters } from '../domain/attempts.js'

export interface AttemptLockStore {
  /**
   * Ends every lock of the member and forgets the failures of both kinds, whatever attempts are under way: no verdict
   * reached on the counters before it will stand. Gives those counters; null where the member is gone.
   */
  clear(organizationId: string, memberId: string): Promise<AttemptCounters | null>
  /** Closes typing and code until somebody opens them, as fifty and ten failures do. False where the member is gone. */
  close(organizationId: string, memberId: string): Promise<boolean>
}
