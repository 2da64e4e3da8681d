import { REPLAY_MEMORY_DAYS, type ReplayMark } from '../../../domain/replay.js'
import type { AuthenticationStore, KnownPattern } from '../../authentication.js'
import { bigintArray, type Database, type Transaction } from '../connection/client.js'
import { attemptOfPattern } from './pattern-attempt.js'

interface MarkRow {
  exact: Uint8Array
  pattern_id: string
  generation: number
  member_id: string
  bands_shared: number
}

interface SampleRow {
  id: string
  account_id: string
  /** Null for an attempt, because its mark has the generation. */
  generation: number | null
  sealed: Uint8Array
}

const DAY_MS = 86_400_000

/** Implements `resembling`: finds marks by their index, and their patterns in references, attempts or refused patterns. */
export const resembling =
  (database: Database): AuthenticationStore['resembling'] =>
  (organizationId, memberId, mark, { now, most }) =>
    database.keyed(organizationId, async (sql) => {
      const marks = await marksLike(sql, memberId, mark, { since: new Date(now - REPLAY_MEMORY_DAYS * DAY_MS), most })
      // A mark that equals a known one needs no comparison.
      const isKnown = marks.some(({ exact }) => Buffer.compare(exact, mark.exact) === 0)
      const samples = new Map((await samplesOf(sql, organizationId, isKnown ? [] : marks)).map((row) => [row.id, row]))
      return marks.map(
        ({ exact, pattern_id, generation: marked, member_id, bands_shared: nBandsShared }): KnownPattern => {
          const sample = samples.get(pattern_id)
          if (sample === undefined) return { exact, nBandsShared, pattern: null }
          const generation = sample.generation ?? marked
          const binding = { accountId: sample.account_id, memberId: member_id, patternId: sample.id, generation }
          return { exact, nBandsShared, pattern: { binding, sealed: sample.sealed } }
        },
      )
    })

const marksLike = (
  sql: Transaction,
  ownerId: string,
  { exact, bands }: ReplayMark,
  { since, most }: { readonly since: Date; readonly most: number },
) => sql<MarkRow[]>`
  select exact, pattern_id, generation, member_id, bands_shared from keystride.own_marks_like(
    ${exact}, ${bigintArray(bands)}, ${ownerId}, ${since}, ${most})`

/** A tested pattern may have become a reference of a later generation; the reference is sealed for that generation. */
async function samplesOf(sql: Transaction, organizationId: string, marks: readonly MarkRow[]): Promise<SampleRow[]> {
  if (marks.length === 0) return []
  const wanted = `{${marks.map(({ pattern_id }) => pattern_id).join()}}`
  const owners = `{${marks.map(({ member_id }) => member_id).join()}}`
  const references = await sql<SampleRow[]>`
    select r.id, m.account_id, r.generation, r.sealed from keystride.reference_pattern r
      join keystride.member m on m.organization_id = r.organization_id and m.id = r.member_id
    where r.organization_id = ${organizationId} and r.id = any (${wanted}::uuid[])
    union all
    select r.id, m.account_id, r.generation, r.sealed from unnest(${wanted}::uuid[], ${owners}::uuid[]) mark (id, member_id)
      join keystride.refused_pattern r
        on r.organization_id = ${organizationId} and r.member_id = mark.member_id and r.id = mark.id
      join keystride.member m on m.organization_id = r.organization_id and m.id = r.member_id`
  const tested = await sql<SampleRow[]>`
    select t.* from unnest(${wanted}::uuid[]) wanted (id), lateral (
      select pattern_id as id, account_id, null::int as generation, sealed from keystride.authentication
      where ${attemptOfPattern(sql, organizationId)} and sealed is not null
      limit 1) t`
  return [...references, ...tested]
}
