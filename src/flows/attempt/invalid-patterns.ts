import type { Member } from '../../domain/account.js'
import { LIMITED_REFUSALS } from '../../domain/invalid-patterns.js'
import { Refusal } from '../../domain/refusal.js'
import type { InvalidPatternStore } from '../../storage/invalid-patterns.js'

/**
 * Throws `rate-limited` if too many patterns of the member were refused lately; else returns `refusingInvalid`. A valid
 * pattern costs no store access.
 */
export function limitInvalidPatterns(
  store: InvalidPatternStore,
  organizationId: string,
  member: Member,
): (error: unknown) => Promise<never> {
  const limited = patternsLimited(member)
  if (limited !== null) throw limited
  return refusingInvalid(store, organizationId, member)
}

/** The refusal for a member whose patterns are blocked; null if they are not. */
export const patternsLimited = ({ patternsClosedForMs }: Member): Refusal | null =>
  patternsClosedForMs > 0 ? tooMany(patternsClosedForMs) : null

/**
 * Handles the error of a call with a pattern: counts a refusal that uses no attempt, and rethrows the error. If concurrent
 * calls have reached the limit, throws `rate-limited` instead.
 */
export const refusingInvalid =
  (store: InvalidPatternStore, organizationId: string, member: Member) =>
  async (error: unknown): Promise<never> => {
    if (!(error instanceof Refusal) || !LIMITED_REFUSALS.includes(error.kind)) throw error
    const closedForMs = await store.count(organizationId, member.id)
    throw closedForMs === 0 ? error : tooMany(closedForMs)
  }

const tooMany = (closedForMs: number) =>
  new Refusal(
    'rate-limited',
    'too many typing patterns of this member could not be used: try again later',
    Math.ceil(closedForMs / 1000),
  )
