import type { Member } from '../../domain/account.js'
import { LIMITED_REFUSALS } from '../../domain/invalid-patterns.js'
import { Refusal } from '../../domain/refusal.js'
import type { InvalidPatternStore } from '../../storage/invalid-patterns.js'

/**
 * Refuses with `rate-limited` while too many patterns of the member were refused lately; gives `refusingInvalid`. The good
 * path asks no store.
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

/** The refusal of a member whose patterns are not taken for a while; null where they are. */
export const patternsLimited = ({ patternsClosedForMs }: Member): Refusal | null =>
  patternsClosedForMs > 0 ? tooMany(patternsClosedForMs) : null

/**
 * Takes the error of a pattern's call, counts it where it is a refusal that costs no attempt, and throws it on, or
 * `rate-limited` where parallel calls have reached the limit first.
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
