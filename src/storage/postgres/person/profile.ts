import type { Member } from '../../../domain/account.js'
import { lockedByAdministrator, NO_ATTEMPTS } from '../../../domain/attempts.js'
import { livePending, pendingAfter } from '../../../domain/pending-action.js'
import { SAMPLE_FORMAT } from '../../../domain/sample-format.js'
import type { AddOutcome, CaptureMode, NewReference, ProfileStore, StoredReference } from '../../profile.js'
import type { Database, Transaction } from '../connection/client.js'
import { endLink, endLinks, isLive } from './link-row.js'
import {
  lockMember,
  lockMemberAndAccount,
  type MemberRow,
  memberColumns,
  noSuccessor,
  queuedAs,
  toMember,
} from './member.js'
import { adaptProfile, addReference } from './reference-calls.js'
import {
  claimMark,
  dateOf,
  deleteAdaptive,
  deleteSuccessor,
  insert,
  type Owner,
  owned,
  type ReferenceRow,
  tooSoon,
  toReference,
} from './reference-row.js'
import { forgetStrangers } from './stranger-row.js'

/** A member whose row a transaction has locked. */
interface LockedMember {
  readonly sql: Transaction
  readonly owner: Owner
  readonly member: Member
}

/** Reference patterns in PostgreSQL; the counts on the member's row change in the same transaction. */
export function postgresProfiles(database: Database): ProfileStore {
  /** Runs `work` in one transaction with the member locked; null if the member was deleted. */
  const locked = <T>(owner: Owner, work: (locked: LockedMember) => Promise<T>, lock = lockMember): Promise<T | null> =>
    database.keyed(owner.organizationId, async (sql) => {
      const member = await lock(sql, owner.organizationId, owner.memberId)
      return member === null ? null : work({ sql, owner, member })
    })
  const adding = async (
    organizationId: string,
    reference: NewReference,
    { linkId = null, lock = lockMember }: { readonly linkId?: string | null; readonly lock?: typeof lockMember },
    work: (locked: LockedMember) => Promise<AddOutcome>,
  ): Promise<AddOutcome> => {
    const linked = async (found: LockedMember): Promise<AddOutcome> => {
      const { sql, owner, member } = found
      if (lockedByAdministrator(member.attempts)) return { outcome: 'locked' }
      if (linkId !== null && !(await isLive(sql, owner, linkId))) return { outcome: 'link-ended' }
      const outcome = await work(found)
      if (linkId !== null && outcome.outcome === 'added' && outcome.completes) await endLink(sql, owner, linkId)
      return outcome
    }
    const owner = { organizationId, memberId: reference.memberId }
    return (await locked(owner, linked, lock)) ?? { outcome: 'absent' }
  }

  return {
    references: (organizationId, memberId) =>
      database.keyed(organizationId, async (sql) => {
        const rows = await sql<ReferenceRow[]>`
          select r.id, r.generation, r.mode, r.kind, r.sealed
          from keystride.reference_pattern r join keystride.member m
            on m.organization_id = r.organization_id and m.id = r.member_id and m.generation = r.generation
          where r.organization_id = ${organizationId} and r.member_id = ${memberId}
          order by r.kind = 'adaptive', r.created_at, r.id`
        return rows.map(toReference)
      }),

    add: addReference(database),
    replaceOldest: (organizationId, reference, rules) =>
      adding(organizationId, reference, rules, (found) => replaceOldest(found, reference, rules)),
    addToSuccessor: (organizationId, reference, rules) =>
      adding(organizationId, reference, { ...rules, lock: lockMemberAndAccount }, (found) =>
        addToSuccessor(found, reference, rules),
      ),

    adapt: adaptProfile(database),

    removeOne: (organizationId, memberId, patternId) =>
      locked({ organizationId, memberId }, (found) => removeOne(found, patternId), lockMemberAndAccount),

    reset: (organizationId, memberId, at, pendingId) =>
      locked({ organizationId, memberId }, (found) => reset(found, at, pendingId), lockMemberAndAccount),
  }
}

/** Resets the profile; with `pendingId`, only if that action is queued and no administrator has locked the member. */
async function reset({ sql, owner, member }: LockedMember, at: number, pendingId: string | undefined) {
  const { organizationId, memberId } = owner
  const isQueued = livePending(member.pending, at)?.id === pendingId && !lockedByAdministrator(member.attempts)
  if (pendingId !== undefined && !isQueued) return { member, nPatternsDeleted: 0 }
  const gone = await sql<{ kind: StoredReference['kind'] }[]>`
    delete from keystride.reference_pattern
    where organization_id = ${organizationId} and member_id = ${memberId} returning kind`
  const after = await updateMember(
    sql,
    owner,
    sql`generation = generation + 1, n_visible = 0, n_sensitive = 0, completed_at = null, ${noSuccessor(sql)},
      ${removal(sql)}, ${resetAt(sql, at)}, ${queuedAs(sql, pendingAfter(member.pending, { kind: 'emptied' }, at))}`,
  )
  await endLinks(sql, owner)
  await forgetStrangers(sql, organizationId, memberId)
  return { member: after, nPatternsDeleted: gone.filter(({ kind }) => kind === 'enrolled').length }
}

async function replaceOldest(
  { sql, owner, member }: LockedMember,
  reference: NewReference,
  rules: Parameters<ProfileStore['replaceOldest']>[2],
): Promise<AddOutcome> {
  const queued = livePending(member.pending, reference.createdAt)
  const isQueued = queued?.id === rules.pendingId && queued.action === 'UPDATE_BIOMETRIC_PROFILE'
  const fits = member.generation === reference.generation && member.sampleFormat === SAMPLE_FORMAT
  if (!isQueued || !fits || member.nPatternsRef < rules.target) return { outcome: 'closed', member }
  if (!(await claimMark(sql, reference, rules))) return { outcome: 'replay' }
  if (!(await insert(sql, owner, reference, 'enrolled'))) return { outcome: 'closed', member }
  const [oldest] = await sql<{ mode: CaptureMode }[]>`
    delete from keystride.reference_pattern r using (
      select id from keystride.reference_pattern
      where ${owned(sql, owner)} and generation = ${member.generation} and kind = 'enrolled' and id <> ${reference.id}
      order by created_at, id limit 1) o
    where r.organization_id = ${owner.organizationId} and r.member_id = ${owner.memberId} and r.id = o.id
    returning r.mode`
  if (oldest === undefined) throw new Error('the member counts references that are not there')
  await deleteAdaptive(sql, owner, 0)
  const [before, now] = [counted(oldest.mode), counted(reference.mode)]
  const pending = pendingAfter(member.pending, { kind: 'replaced', target: rules.target }, reference.createdAt)
  const after = await updateMember(
    sql,
    owner,
    sql`n_visible = n_visible + ${now.visible - before.visible},
      n_sensitive = n_sensitive + ${now.sensitive - before.sensitive}, ${removal(sql)}, ${queuedAs(sql, pending)}`,
  )
  return { outcome: 'added', member: after, completes: pending === null }
}

async function addToSuccessor(
  { sql, owner, member }: LockedMember,
  reference: NewReference,
  rules: Parameters<ProfileStore['addToSuccessor']>[2],
): Promise<AddOutcome> {
  if (reference.generation !== member.generation + 1) return { outcome: 'closed', member }
  const continues = member.successor?.owner === rules.owner && member.successor.sampleFormat === SAMPLE_FORMAT
  const early = continues ? await tooSoon(sql, owner, reference, rules) : null
  if (early !== null) return early
  if (!(await claimMark(sql, reference, rules))) return { outcome: 'replay' }
  const collected = continues ? member.successor : null
  if (!(await insert(sql, owner, reference, 'enrolled'))) return { outcome: 'closed', member }
  if (collected === null) await deleteSuccessor(sql, owner, member, reference.id)
  const one = counted(reference.mode)
  const visible = (collected?.nVisible ?? 0) + one.visible
  const sensitive = (collected?.nSensitive ?? 0) + one.sensitive
  if (visible + sensitive < rules.target) {
    const after = await updateMember(
      sql,
      owner,
      sql`successor_owner = ${rules.owner}, successor_format = ${SAMPLE_FORMAT}, successor_visible = ${visible},
        successor_sensitive = ${sensitive}`,
    )
    return { outcome: 'added', member: after, completes: false }
  }
  await sql`
    delete from keystride.reference_pattern where ${owned(sql, owner)} and generation <= ${member.generation}`
  const emptied = pendingAfter(member.pending, { kind: 'emptied' }, reference.createdAt)
  const after = await updateMember(
    sql,
    owner,
    sql`generation = generation + 1, n_visible = ${visible}, n_sensitive = ${sensitive}, sample_format = ${SAMPLE_FORMAT},
      completed_at = ${dateOf(reference.createdAt)}, ${noSuccessor(sql)}, ${removal(sql)}, ${queuedAs(sql, emptied)}
      ${rules.asReset ? sql`, ${resetAt(sql, reference.createdAt)}` : sql``}`,
  )
  if (rules.asReset) {
    await endLinks(sql, owner)
    await forgetStrangers(sql, owner.organizationId, owner.memberId)
  }
  return { outcome: 'added', member: after, completes: true }
}

async function removeOne({ sql, owner, member }: LockedMember, patternId: string): Promise<Member | null> {
  const [gone] = await sql<Pick<ReferenceRow, 'generation' | 'mode' | 'kind'>[]>`
    delete from keystride.reference_pattern where ${owned(sql, owner)} and id = ${patternId}
    returning generation, mode, kind`
  if (gone === undefined) return null
  const { visible, sensitive } = counted(gone.mode)
  if (gone.generation > member.generation) {
    const last = (member.successor?.nVisible ?? 0) + (member.successor?.nSensitive ?? 0) <= 1
    return updateMember(
      sql,
      owner,
      last
        ? noSuccessor(sql)
        : sql`successor_visible = successor_visible - ${visible}, successor_sensitive = successor_sensitive - ${sensitive}`,
    )
  }
  if (gone.kind === 'adaptive') return updateMember(sql, owner, removal(sql))
  await deleteAdaptive(sql, owner, 0)
  if (member.nPatternsRef === 1) await endLinks(sql, owner)
  return updateMember(
    sql,
    owner,
    sql`n_visible = n_visible - ${visible}, n_sensitive = n_sensitive - ${sensitive},
      ever_reset = ever_reset or n_visible + n_sensitive = 1, ${removal(sql)}`,
  )
}

/** Updates the member's row, which the transaction has locked, and returns the new state. */
async function updateMember(
  sql: Transaction,
  { organizationId, memberId }: Owner,
  assignments: ReturnType<typeof noSuccessor>,
): Promise<Member> {
  const [row] = await sql<MemberRow[]>`
    update keystride.member m set ${assignments}
    where m.organization_id = ${organizationId} and m.id = ${memberId} returning ${memberColumns(sql)}`
  if (row === undefined) throw new Error('a locked member has no row')
  return toMember(row)
}

/** Called after a removal of references. A concurrent verdict on them finds another version, and is decided again. */
const removal = (sql: Transaction) => sql`
  profile_version = profile_version + 1, attempts_version = attempts_version + 1`

const resetAt = (sql: Transaction, at: number) => sql`
  ever_reset = true, reset_at = ${dateOf(at)},
  attempts = attempts || ${JSON.stringify({ biometric: NO_ATTEMPTS.biometric })}::text::jsonb`

const counted = (mode: CaptureMode) => ({
  visible: mode === 'visible' ? 1 : 0,
  sensitive: mode === 'sensitive' ? 1 : 0,
})
