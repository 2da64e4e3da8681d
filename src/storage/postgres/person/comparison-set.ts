import type { ComparisonSetStore, StoredComparisonSet } from '../../comparison-set.js'
import { type Database, NIL, type Statements } from '../connection/client.js'

/** The columns of `keystride.comparison_set`, each with the prefix `set_`, because a member has columns of the same names. */
export interface PrefixedSetRow {
  /** Null without a row. */
  set_generation: number | null
  set_profile_version: string
  set_attempts_version: string
  set_has_adaptive: boolean
  set_base: Uint8Array
  set_tail: Uint8Array
}

/** The column list of a `PrefixedSetRow`, for a statement that names the table `s`. */
export const prefixedSetColumns = (sql: Statements) => sql`
  s.generation as set_generation, s.profile_version as set_profile_version, s.attempts_version as set_attempts_version,
  s.has_adaptive as set_has_adaptive, s.base as set_base, s.tail as set_tail`

export function setOfPrefixed(row: PrefixedSetRow): StoredComparisonSet | null {
  if (row.set_generation === null) return null
  return {
    generation: row.set_generation,
    profileVersion: Number(row.set_profile_version),
    attemptsVersion: Number(row.set_attempts_version),
    hasAdaptive: row.set_has_adaptive,
    base: row.set_base,
    tail: row.set_tail,
  }
}

interface MemberKeyRow {
  organization_id: string
  id: string
  user_ref: string
  member_ref: string
  without: boolean
}

const keyOf = ({ organization_id: organizationId, id: memberId }: MemberKeyRow) => ({ organizationId, memberId })

/** Members of one statement, which takes some 20 ms. */
const EXAMINED_AT_ONCE = 2000

/** Comparison sets in PostgreSQL. Recorded attempts and refused patterns change them in the functions that record these. */
export function postgresComparisonSets(database: Database): ComparisonSetStore {
  return {
    find: (organizationId, memberId) =>
      database.keyed(organizationId, async (sql) => {
        const [row] = await sql<PrefixedSetRow[]>`
          select ${prefixedSetColumns(sql)} from keystride.comparison_set s
          where s.organization_id = ${organizationId} and s.member_id = ${memberId}`
        return row === undefined ? null : setOfPrefixed(row)
      }),

    withoutSet: (after) =>
      database.asSystem(async (sql) => {
        const rows = await sql<MemberKeyRow[]>`
          select m.organization_id, m.id, a.user_ref, m.member_ref, m.completed_at is not null and s.member_id is null as without
          from keystride.member m
            join keystride.account a on a.organization_id = m.organization_id and a.id = m.account_id
            left join keystride.comparison_set s on s.organization_id = m.organization_id and s.member_id = m.id
              and s.generation = m.generation and s.profile_version = m.profile_version
          where m.archived_at is null
            and (m.organization_id, m.id) > (${after?.organizationId ?? NIL}::uuid, ${after?.memberId ?? NIL}::uuid)
          order by m.organization_id, m.id limit ${EXAMINED_AT_ONCE}`
        const members = rows
          .filter(({ without }) => without)
          .map((row) => ({ ...keyOf(row), userRef: row.user_ref, memberRef: row.member_ref }))
        const last = rows.length < EXAMINED_AT_ONCE ? undefined : rows.at(-1)
        return { members, last: last === undefined ? null : keyOf(last) }
      }),

    put: (organizationId, set) =>
      database.keyed(organizationId, async (sql) => {
        const { count } = await sql`
          insert into keystride.comparison_set as s
            (organization_id, member_id, generation, profile_version, attempts_version, has_adaptive, oldest_at, base)
          select m.organization_id, m.id, m.generation, m.profile_version, m.attempts_version, ${set.hasAdaptive},
            ${new Date(set.oldestAt)}, ${set.base}
          from keystride.member m
          where m.organization_id = ${organizationId} and m.id = ${set.memberId} and m.generation = ${set.generation}
            and m.profile_version = ${set.profileVersion} and m.attempts_version = ${set.attemptsVersion}
          for no key update of m
          on conflict (organization_id, member_id) do update set generation = excluded.generation,
            profile_version = excluded.profile_version, attempts_version = excluded.attempts_version,
            has_adaptive = excluded.has_adaptive, oldest_at = excluded.oldest_at, base = excluded.base, tail = ''`
        return count === 1
      }),
  }
}
