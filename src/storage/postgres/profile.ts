import type { Member } from '../../domain/account.js'
import { NO_ATTEMPTS } from '../../domain/attempts.js'
import { REPLAY_BANDS_SHARED, REPLAY_MEMORY_DAYS } from '../../domain/replay.js'
import type { AddOutcome, CaptureMode, NewReference, ProfileStore, StoredReference } from '../profile.js'
import { bigintArray, type Database, type Transaction } from './client.js'
import { type MemberRow, memberColumns, toMember } from './member.js'

interface ReferenceRow {
  id: string
  generation: number
  mode: CaptureMode
  sealed: Uint8Array
}

/** Reference patterns in PostgreSQL; the counts on the member's row change in the same transaction as the rows. */
export function postgresProfiles(database: Database): ProfileStore {
  return {
    references: (organizationId, memberId) =>
      database.scoped(organizationId, async (sql) => {
        const rows = await sql<ReferenceRow[]>`
          select r.id, r.generation, r.mode, r.sealed
          from keystride.reference_pattern r join keystride.member m
            on m.organization_id = r.organization_id and m.id = r.member_id and m.generation = r.generation
          where r.organization_id = ${organizationId} and r.member_id = ${memberId}
          order by r.created_at, r.id`
        return rows.map(toReference)
      }),

    add: (organizationId, reference, rules) =>
      database.scoped(organizationId, (sql) => add(sql, organizationId, reference, rules)),

    removeOne: (organizationId, memberId, patternId) =>
      database.scoped(organizationId, async (sql) => {
        if ((await lock(sql, organizationId, memberId)) === null) return null
        const [gone] = await sql<{ mode: CaptureMode }[]>`
          delete from keystride.reference_pattern
          where organization_id = ${organizationId} and member_id = ${memberId} and id = ${patternId}
          returning mode`
        if (gone === undefined) return null
        const visible = gone.mode === 'visible' ? 1 : 0
        const [row] = await sql<MemberRow[]>`
          update keystride.member m set n_visible = n_visible - ${visible}, n_sensitive = n_sensitive - ${1 - visible},
            ever_reset = ever_reset or n_visible + n_sensitive = 1
          where m.organization_id = ${organizationId} and m.id = ${memberId} returning ${memberColumns(sql)}`
        return row === undefined ? null : toMember(row)
      }),

    reset: (organizationId, memberId, at) =>
      database.scoped(organizationId, async (sql) => {
        if ((await lock(sql, organizationId, memberId)) === null) return null
        const { count } = await sql`
          delete from keystride.reference_pattern where organization_id = ${organizationId} and member_id = ${memberId}`
        const cleared = JSON.stringify({ biometric: NO_ATTEMPTS.biometric })
        const [row] = await sql<MemberRow[]>`
          update keystride.member m set generation = generation + 1, n_visible = 0, n_sensitive = 0, ever_reset = true,
            reset_at = ${new Date(at)}, completed_at = null, attempts = attempts || ${cleared}::text::jsonb,
            attempts_version = attempts_version + 1
          where m.organization_id = ${organizationId} and m.id = ${memberId} returning ${memberColumns(sql)}`
        return row === undefined ? null : { member: toMember(row), nPatternsDeleted: count }
      }),
  }
}

async function add(
  sql: Transaction,
  organizationId: string,
  reference: NewReference,
  rules: Parameters<ProfileStore['add']>[2],
): Promise<AddOutcome> {
  const { memberId, generation, mode, replayMark } = reference
  const createdAt = new Date(reference.createdAt)
  const member = await lock(sql, organizationId, memberId)
  if (member === null) return { outcome: 'absent' }
  if (member.generation !== generation || member.nPatternsRef >= rules.limit) return { outcome: 'closed', member }
  if (replayMark !== null) {
    const [claim] = await sql<{ fresh: boolean }[]>`
      select keystride.claim_own_mark(${replayMark.exact}, ${bigintArray(replayMark.bands)}, ${memberId}, ${createdAt},
        ${rules.rejectReplay}, ${REPLAY_BANDS_SHARED}, ${REPLAY_MEMORY_DAYS}) as fresh`
    if (claim?.fresh !== true) return { outcome: 'replay' }
  }
  const { count } = await sql`
    insert into keystride.reference_pattern (organization_id, member_id, id, generation, mode, sealed, created_at)
    values (${organizationId}, ${memberId}, ${reference.id}, ${generation}, ${mode}, ${reference.sealed}, ${createdAt})
    on conflict (organization_id, member_id, id) do nothing`
  if (count === 0) return { outcome: 'closed', member }
  const completes = member.nPatternsRef + 1 === rules.target
  const [row] = await sql<MemberRow[]>`
    update keystride.member m set
      n_visible = n_visible + ${mode === 'visible' ? 1 : 0}, n_sensitive = n_sensitive + ${mode === 'sensitive' ? 1 : 0},
      completed_at = case when ${completes} then ${createdAt}::timestamptz else completed_at end
    where m.organization_id = ${organizationId} and m.id = ${memberId} returning ${memberColumns(sql)}`
  return row === undefined ? { outcome: 'absent' } : { outcome: 'added', member: toMember(row) }
}

/** The member under its row lock until the transaction ends; null where it is gone. */
async function lock(sql: Transaction, organizationId: string, memberId: string): Promise<Member | null> {
  const [row] = await sql<MemberRow[]>`
    select ${memberColumns(sql)} from keystride.member m
    where m.organization_id = ${organizationId} and m.id = ${memberId} for update`
  return row === undefined ? null : toMember(row)
}

function toReference(row: ReferenceRow): StoredReference {
  return { id: row.id, generation: row.generation, mode: row.mode, sealed: row.sealed }
}
