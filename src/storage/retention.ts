/** Creates future partitions and deletes expired rows, over all organizations. Every call is idempotent. */
export interface RetentionStore {
  /** Creates the partitions of this month and the next `ahead` months; returns the number created. */
  makeAhead(ahead: number, now: number): Promise<number>
  /** Drops the months of authentications that ended at least `days` ago; returns their number. Refuses with `degraded` during reads. */
  dropOld(days: number, now: number): Promise<number>
  /** Deletes some of the other expired rows of each kind; true if more are left. */
  forgetOld(days: number, now: number): Promise<boolean>
  /** Deletes some of the expired sessions; true if more are left. */
  sweepSessions(): Promise<boolean>
  /**
   * Removes the dead rows of erased people from the files of the tables, and their values from the planner's statistics. Does
   * nothing without an erasure since the last call. Stops between two tables after the signal. Rejects if the login may not vacuum a
   * table.
   */
  vacuumErased(signal: AbortSignal): Promise<void>
  /** Organizations with expired profile links; at most a hundred. */
  withEndedLinks(): Promise<string[]>
}
