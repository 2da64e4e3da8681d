/** Typing patterns that were refused, counted by member. The back end keeps the time. */
export interface InvalidPatternStore {
  /**
   * Counts one and returns 0. If the member already has `INVALID_PATTERNS_MAX` within the window, writes nothing and
   * returns the milliseconds until patterns are accepted again, as `Member.patternsClosedForMs` does.
   */
  count(organizationId: string, memberId: string): Promise<number>
}
