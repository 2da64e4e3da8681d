import type { AuthenticationStore, TestedBy, TestedPattern } from '../../authentication.js'
import { bigintArray, type Database, textArray } from '../connection/client.js'
import { shareStatement } from '../connection/shared-statement.js'

interface PatternToFind extends TestedBy {
  readonly organizationId: string
}

interface TestedRow {
  nth: number
  pattern_id: string
  tested_at: Date
  succeeded: boolean
  sample: Uint8Array
  refused_generation: number | null
}

/** Largest number of look-ups of one statement. */
const BATCH_MAX = 32
/** While one statement is under way, another one begins with this many look-ups. */
const WORTH_ANOTHER = 8

/** Implements `tested`: concurrent look-ups share a statement. */
export function testedPatterns(database: Database): AuthenticationStore['tested'] {
  const ask = shareStatement<PatternToFind, TestedPattern[]>({
    run: (batch) => find(database, batch),
    take: (queue) => queue.splice(0, BATCH_MAX),
    worthWaitingFor: BATCH_MAX,
    worthAnother: WORTH_ANOTHER,
  })
  return (organizationId, by) => ask({ organizationId, ...by })
}

const find = (database: Database, batch: readonly PatternToFind[]): Promise<TestedPattern[][]> =>
  database.call(async (sql) => {
    const rows = await sql<TestedRow[]>`
      select nth, pattern_id, tested_at, succeeded, sample, refused_generation from keystride.tested_patterns(
        ${listOf(batch.map(({ organizationId }) => organizationId))}::uuid[],
        ${textArray(batch.map(({ userRef }) => userRef))}::text[],
        ${listOf(batch.map(({ memberId }) => memberId))}::uuid[],
        ${bigintArray(batch.map(({ since }) => BigInt(Math.floor(since))))}::bigint[],
        ${listOf(batch.map(({ limits }) => limits.confirmed))}::int[],
        ${textArray(batch.map(({ known }) => known.join()))}::text[],
        ${listOf(batch.map(({ limits }) => limits.failed))}::int[])`
    const found: TestedPattern[][] = batch.map(() => [])
    for (const { nth, pattern_id, tested_at, succeeded, sample, refused_generation } of rows)
      found[nth - 1]?.push({
        patternId: pattern_id,
        createdAt: tested_at.getTime(),
        authenticated: succeeded,
        sealed: sample,
        refused: refused_generation === null ? null : { generation: refused_generation },
      })
    // Otherwise the rows stay in memory after the look-up, for the reason given at `ask`.
    rows.length = 0
    return found
  })

const listOf = (values: readonly (string | number)[]): string => `{${values.join()}}`
