/** Creates future partitions and deletes expired rows, over all organizations. Every call is idempotent. */
export interface RetentionStore {
  /** Creates the partitions of this month and the next `ahead` months; returns the number created. */
  makeAhead(ahead: number, now: number): Promise<number>
  /** Drops the months of authentications that ended `days` ago; returns their number. Refuses with `degraded` during reads. */
  dropOld(days: number, now: number): Promise<number>
  /** Deletes some of the other expired rows of each kind; true if more are left. */
  forgetOld(days: number, now: number): Promise<boolean>
  /** Deletes some of the expired sessions; true if more are left. */
  sweepSessions(): Promise<boolean>
  /**
   * Removes the rows of erased people from the files of the tables, and what the planner's statistics have of them; until then the
   * database keeps them as dead rows. Does nothing without an erasure since the last time. Stops between two tables at the signal.
   * Rejects if the login may not vacuum a table.
   */
  vacuumErased(signal: AbortSignal): Promise<void>
  /** Organizations with expired profile links; at most a hundred. */
  withEndedLinks(): Promise<string[]>
}
