import type pg from 'pg'
import type { AuthenticationStore, TestedPattern } from '../../src/storage/authentication.js'
import type { CaptureMode, ProfileStore, StoredReference } from '../../src/storage/profile.js'

interface ReferenceRow {
  readonly id: string
  readonly generation: number
  readonly mode: CaptureMode
  readonly kind: StoredReference['kind']
  readonly sealed: Buffer
}

interface TestedRow {
  readonly pattern_id: string
  readonly created_at: Date
  readonly authenticated: boolean
  readonly sealed: Buffer
  readonly generation: number | null
}

/** Reads the references of a member by a prepared statement. */
export const usualReferences =
  (pool: pg.Pool): ProfileStore['references'] =>
  async (organizationId, memberId) => {
    const values = [organizationId, memberId]
    const { rows } = await pool.query<ReferenceRow>({ name: 'references', text: REFERENCES, values })
    return rows
  }

/** Reads the patterns that a member has typed: one prepared statement a sign-in. */
export const usualTested =
  (pool: pg.Pool): AuthenticationStore['tested'] =>
  async (organizationId, { userRef, memberId, since, limits, known }) => {
    const values = [organizationId, userRef, memberId, new Date(since), limits.confirmed, limits.failed, known]
    const { rows } = await pool.query<TestedRow>({ name: 'tested', text: TESTED, values })
    return rows.map(
      ({ pattern_id, created_at, authenticated, sealed, generation }): TestedPattern => ({
        patternId: pattern_id,
        createdAt: created_at.getTime(),
        authenticated,
        sealed,
        refused: generation === null ? null : { generation },
      }),
    )
  }

const REFERENCES = `
  select r.id, r.generation, r.mode, r.kind, r.sealed
  from keystride.reference_pattern r join keystride.member m
    on m.organization_id = r.organization_id and m.id = r.member_id and m.generation = r.generation
  where r.organization_id = $1 and r.member_id = $2
  order by r.kind = 'adaptive', r.created_at, r.id`

const attempts = (which: string, limit: string) => `
  (select pattern_id, created_at, authenticated, sealed, null::int as generation from keystride.authentication
    where organization_id = $1 and user_ref = $2 and member_id = $3 and id >= keystride.uuid_from($4)
      and pattern_id is not null and sealed is not null and ${which} and pattern_id <> all ($7::uuid[])
    order by id desc limit ${limit})`
const TESTED = `${attempts('authenticated', '$5')} union all ${attempts('not authenticated', '$6')} union all
  (select id, seen_at, false, sealed, generation from keystride.refused_pattern
    where organization_id = $1 and member_id = $3 and seen_at >= $4 and id <> all ($7::uuid[])
    order by id desc limit $6)`
