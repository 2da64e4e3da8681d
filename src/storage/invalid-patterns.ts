/** Typing patterns that were refused, counted by member. The back end keeps the time. */
export interface InvalidPatternStore {
  /**
   * Counts a refused pattern and returns 0. If the member already has `INVALID_PATTERNS_MAX` within the window, writes nothing
   * and returns the milliseconds until patterns are accepted again, like `Member.patternsClosedForMs`.
   */
  count(organizationId: string, memberId: string): Promise<number>
}
