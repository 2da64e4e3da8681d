import type { AttemptCounters } from '../domain/attempts.js'

export interface AttemptLockStore {
  /**
   * Ends every lock of the member, and clears the failures of both kinds and the tries of strangers at single sign-on. Concurrent
   * attempts that were judged on the old counters are decided again. Returns the old counters; null if the member is gone.
   */
  clear(organizationId: string, memberId: string): Promise<AttemptCounters | null>
  /** Locks typing and code until an unlock, as fifty failures of typing and ten of codes do. False if the member is gone. */
  close(organizationId: string, memberId: string): Promise<boolean>
}
