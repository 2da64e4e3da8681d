import type { Member } from '../../../domain/account.js'
import { REPLAY_MEMORY_DAYS } from '../../../domain/replay.js'
import type { AdaptiveReference, AddOutcome, CaptureMode, NewReference, StoredReference } from '../../profile.js'
import { bigintArray, byteaArray, type Transaction } from '../connection/client.js'

export interface ReferenceRow {
  id: string
  generation: number
  mode: CaptureMode
  kind: StoredReference['kind']
  sealed: Uint8Array
}

/** The owner of references. */
export interface Owner {
  readonly organizationId: string
  readonly memberId: string
}

/** The outcome if the newest enrolled reference of the generation is more recent than the rules allow, otherwise null. */
export async function tooSoon(
  sql: Transaction,
  owner: Owner,
  { generation, createdAt }: NewReference,
  { intervalMs = 0 }: { readonly intervalMs?: number },
): Promise<AddOutcome | null> {
  if (intervalMs === 0) return null
  const [newest] = await sql<{ at: Date | null }[]>`
    select max(created_at) as at from keystride.reference_pattern
    where ${owned(sql, owner)} and generation = ${generation} and kind = 'enrolled'`
  const at = newest?.at == null ? 0 : newest.at.getTime() + intervalMs
  return createdAt < at ? { outcome: 'too-soon', at } : null
}

/** Stores the mark. True if the typing is new, or if replays are accepted. */
export async function claimMark(
  sql: Transaction,
  { id, generation, memberId, replayMark, createdAt }: NewReference,
  { rejectReplay }: { readonly rejectReplay: boolean },
): Promise<boolean> {
  if (replayMark === null) return true
  const [claim] = await sql<{ fresh: boolean }[]>`
    select keystride.claim_own_mark(${replayMark.exact}, ${bigintArray(replayMark.bands)}, ${memberId},
      ${dateOf(createdAt)}, ${rejectReplay}, ${REPLAY_MEMORY_DAYS}, ${id}, ${generation},
      ${byteaArray(replayMark.cleared ?? [])}) as fresh`
  return claim?.fresh === true
}

/** Inserts a reference. False if the profile already has the pattern. An adaptive pattern may become an enrolled one. */
export async function insert(
  sql: Transaction,
  { organizationId, memberId }: Owner,
  { id, generation, mode, sealed, createdAt }: AdaptiveReference,
  kind: StoredReference['kind'],
): Promise<boolean> {
  const { count } = await sql`
    insert into keystride.reference_pattern as r
      (organization_id, member_id, id, generation, mode, kind, sealed, created_at)
    values (${organizationId}, ${memberId}, ${id}, ${generation}, ${mode}, ${kind}, ${sealed}, ${dateOf(createdAt)})
    on conflict (organization_id, member_id, id) do update set kind = excluded.kind
      where r.kind = 'adaptive' and excluded.kind = 'enrolled' and r.generation = excluded.generation`
  return count === 1
}

/** Deletes the adaptive references except the newest `keep`. */
export async function deleteAdaptive(sql: Transaction, owner: Owner, keep: number): Promise<void> {
  await sql`
    delete from keystride.reference_pattern where ${owned(sql, owner)} and id in (
      select id from keystride.reference_pattern where ${owned(sql, owner)} and kind = 'adaptive'
      order by created_at desc, id desc offset ${keep})`
}

/** Deletes the collected references except the first one of a new collection. */
export async function deleteSuccessor(
  sql: Transaction,
  owner: Owner,
  { generation }: Member,
  except: string | null = null,
): Promise<void> {
  await sql`
    delete from keystride.reference_pattern
    where ${owned(sql, owner)} and generation > ${generation} and id is distinct from ${except}::uuid`
}

export const owned = (sql: Transaction, { organizationId, memberId }: Owner) => sql`
  organization_id = ${organizationId} and member_id = ${memberId}`

export const dateOf = (at: number | null) => (at === null ? null : new Date(at))

export function toReference(row: ReferenceRow): StoredReference {
  return { id: row.id, generation: row.generation, mode: row.mode, kind: row.kind, sealed: row.sealed }
}
