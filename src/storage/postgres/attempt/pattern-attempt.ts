import type { Transaction } from '../connection/client.js'

/** An attempt is recorded within so long of its pattern's id being made: the answer's deadline, and room. */
const RECORDED_WITHIN_S = 30

/**
 * Which row of `authentication` tested the pattern `wanted.id`. No index on pattern_id, which every attempt would pay for:
 * the id tells the time, and that leads to the attempt.
 */
export const attemptOfPattern = (sql: Transaction, organizationId: string) => sql`
  organization_id = ${organizationId} and id >= wanted.id and pattern_id = wanted.id
  and id < keystride.uuid_from(keystride.time_of(wanted.id) + make_interval(secs => ${RECORDED_WITHIN_S}))`
