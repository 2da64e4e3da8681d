import type { Transaction } from '../connection/client.js'

/** An attempt is recorded within this time after the id of its pattern was made: the deadline of the answer, and a margin. */
const RECORDED_WITHIN_S = 30

/**
 * Condition for the row of `authentication` that tested the pattern `wanted.id`. Needs no index on pattern_id, which would
 * cost every attempt: the id contains the time, which bounds the attempt's id.
 */
export const attemptOfPattern = (sql: Transaction, organizationId: string) => sql`
  organization_id = ${organizationId} and id >= wanted.id and pattern_id = wanted.id
  and id < keystride.uuid_from(keystride.time_of(wanted.id) + make_interval(secs => ${RECORDED_WITHIN_S}))`
