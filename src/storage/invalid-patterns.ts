/** Typing patterns that were refused, counted by member. The back end keeps the time. */
export interface InvalidPatternStore {
  /**
   * Counts one. 0 where it was counted; where the member has `INVALID_PATTERNS_MAX` within the window already, the
   * milliseconds until patterns are taken again, and nothing is written. `Member.patternsClosedForMs` tells the same
   * beforehand.
   */
  count(organizationId: string, memberId: string): Promise<number>
}
