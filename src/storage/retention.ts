/** What makes room ahead and forgets what is past its time, over all organizations. Each call bears being made twice. */
export interface RetentionStore {
  /** Partitions for this month and the `ahead` next; how many were new. */
  makeAhead(ahead: number, now: number): Promise<number>
  /** Drops the months of authentications that ended so many days ago; how many. Refuses `degraded` while somebody reads them. */
  dropOld(days: number, now: number): Promise<number>
  /** Everything else with a life, some of each kind; true where more is left. */
  forgetOld(days: number, now: number): Promise<boolean>
  /** Deletes sessions that have expired, some of them; true where more are left. */
  sweepSessions(): Promise<boolean>
  /** Organizations that have profile links past their time; a hundred at the most. */
  withEndedLinks(): Promise<string[]>
}
