import type { Member } from '../../../src/domain/account.js'
import { lockedByAdministrator, NO_ATTEMPTS } from '../../../src/domain/attempts.js'
import { livePending, pendingAfter } from '../../../src/domain/pending-action.js'
import { REPLAY_MEMORY_DAYS } from '../../../src/domain/replay.js'
import { SAMPLE_FORMAT } from '../../../src/domain/sample-format.js'
import type { AdaptiveReference, AddOutcome, NewReference, ProfileStore } from '../../../src/storage/profile.js'
import {
  endLink,
  endWithCollected,
  enterMark,
  type Immediate,
  keyOf,
  linksOf,
  live,
  type MemberRow,
  type ReferenceRow,
  read,
  resembles,
  type Tables,
  update,
} from './tables.js'

const DAY_MS = 24 * 3_600_000

export function memoryProfiles(tables: Tables): Immediate<ProfileStore> {
  const adding = (
    organizationId: string,
    reference: NewReference,
    linkId: string | null,
    work: (row: MemberRow) => AddOutcome,
  ): AddOutcome => {
    const row = live(tables, organizationId, reference.memberId)
    if (row === null) return { outcome: 'absent' }
    if (lockedByAdministrator(row.member.attempts)) return { outcome: 'locked' }
    const link = linkId === null ? null : tables.links.get(keyOf(organizationId, linkId))
    if (link === undefined || (link !== null && (link.of !== row || link.expiresAt <= tables.now())))
      return { outcome: 'link-ended' }
    const outcome = work(row)
    if (link !== null && outcome.outcome === 'added' && outcome.completes) endLink(tables, link, 'completed')
    return outcome
  }
  return {
    references(organizationId, memberId) {
      const row = tables.members.get(keyOf(organizationId, memberId))
      const current = row?.references.filter(({ generation }) => generation === row.member.generation) ?? []
      return [...enrolled(current), ...adaptive(current)].map(({ createdAt: _, ...stored }) => stored)
    },
    add: (organizationId, reference, rules) =>
      adding(organizationId, reference, rules.linkId ?? null, (row) => add(tables, row, reference, rules)),
    replaceOldest: (organizationId, reference, rules) =>
      adding(organizationId, reference, rules.linkId ?? null, (row) => replaceOldest(tables, row, reference, rules)),
    addToSuccessor: (organizationId, reference, rules) =>
      adding(organizationId, reference, rules.linkId ?? null, (row) => addToSuccessor(tables, row, reference, rules)),
    adapt(organizationId, reference, { profileVersion, max, intervalMs }) {
      const row = live(tables, organizationId, reference.memberId)
      if (row === null) return false
      const { member } = row
      const due = member.adaptedAt === null || reference.createdAt - member.adaptedAt >= intervalMs
      if (!due || member.profileVersion !== profileVersion || member.generation !== reference.generation) return false
      if (!insert(tables, row, reference, 'adaptive')) return false
      const keep = new Set(adaptive(row.references).slice(-max))
      row.references = row.references.filter((one) => one.kind === 'enrolled' || keep.has(one))
      const set = row.comparisonSet
      if (set?.profileVersion === profileVersion && set.generation === member.generation)
        row.comparisonSet = { ...set, profileVersion: profileVersion + 1, hasAdaptive: true }
      update(tables, row, { adaptedAt: reference.createdAt, profileVersion: profileVersion + 1 })
      return true
    },
    removeOne(organizationId, memberId, patternId) {
      const row = live(tables, organizationId, memberId)
      return row === null ? null : removeOne(tables, row, patternId)
    },
    reset(organizationId, memberId, at, pendingId) {
      const row = live(tables, organizationId, memberId)
      if (row === null) return null
      const { member } = row
      const isQueued = livePending(member.pending, at)?.id === pendingId && !lockedByAdministrator(member.attempts)
      if (pendingId !== undefined && !isQueued) return { member: read(tables, row), nPatternsDeleted: 0 }
      const nPatternsDeleted = enrolled(row.references).length
      row.references = []
      const after = update(tables, row, {
        ...removal(member),
        ...asReset(member),
        generation: member.generation + 1,
        nVisible: 0,
        nSensitive: 0,
        completedAt: null,
        successor: null,
        pending: pendingAfter(member.pending, { kind: 'emptied' }, at),
      })
      for (const link of linksOf(tables, row)) endLink(tables, link, 'reset')
      tables.watch({ what: 'reset', row })
      return { member: after, nPatternsDeleted }
    },
  }
}

const enrolled = (references: readonly ReferenceRow[]) => references.filter(({ kind }) => kind === 'enrolled')
const adaptive = (references: readonly ReferenceRow[]) => references.filter(({ kind }) => kind === 'adaptive')

const counted = (mode: ReferenceRow['mode']) => ({
  visible: mode === 'visible' ? 1 : 0,
  sensitive: mode === 'sensitive' ? 1 : 0,
})

/** The changes of a member whose references are deleted. */
const removal = ({ profileVersion, attemptsVersion }: Member) => ({
  profileVersion: profileVersion + 1,
  attemptsVersion: attemptsVersion + 1,
})

const asReset = ({ attempts }: Member) => ({
  everReset: true,
  attempts: { ...attempts, biometric: NO_ATTEMPTS.biometric },
})

function add(
  tables: Tables,
  row: MemberRow,
  reference: NewReference,
  rules: Parameters<ProfileStore['add']>[2],
): AddOutcome {
  const { member } = row
  const n = member.nPatternsRef
  const fits = n === 0 || member.sampleFormat === SAMPLE_FORMAT
  if (member.generation !== reference.generation || n >= rules.limit || !fits) return closed(tables, row)
  if (!claimMark(tables, row, reference, rules.rejectReplay)) return { outcome: 'replay' }
  if (!insert(tables, row, reference, 'enrolled')) return closed(tables, row)
  const { visible, sensitive } = counted(reference.mode)
  const after = update(tables, row, {
    nVisible: member.nVisible + visible,
    nSensitive: member.nSensitive + sensitive,
    sampleFormat: SAMPLE_FORMAT,
    profileVersion: member.profileVersion + 1,
    ...(n + 1 === rules.target ? { completedAt: reference.createdAt } : {}),
  })
  return { outcome: 'added', member: after, completes: n + 1 >= rules.limit }
}

function replaceOldest(
  tables: Tables,
  row: MemberRow,
  reference: NewReference,
  rules: Parameters<ProfileStore['replaceOldest']>[2],
): AddOutcome {
  const { member } = row
  const queued = livePending(member.pending, reference.createdAt)
  const honors = queued?.id === rules.pendingId && queued.action === 'UPDATE_BIOMETRIC_PROFILE'
  const fits = member.generation === reference.generation && member.sampleFormat === SAMPLE_FORMAT
  if (!honors || !fits || member.nPatternsRef < rules.target) return closed(tables, row)
  if (!claimMark(tables, row, reference, rules.rejectReplay)) return { outcome: 'replay' }
  if (!insert(tables, row, reference, 'enrolled')) return closed(tables, row)
  const oldest = enrolled(row.references).find(
    ({ id, generation }) => id !== reference.id && generation === member.generation,
  )
  if (oldest === undefined) throw new Error('the member counts references that are not stored')
  row.references = enrolled(row.references).filter((one) => one !== oldest)
  const [before, now] = [counted(oldest.mode), counted(reference.mode)]
  const pending = pendingAfter(member.pending, { kind: 'replaced', target: rules.target }, reference.createdAt)
  const after = update(tables, row, {
    ...removal(member),
    nVisible: member.nVisible + now.visible - before.visible,
    nSensitive: member.nSensitive + now.sensitive - before.sensitive,
    pending,
  })
  return { outcome: 'added', member: after, completes: pending === null }
}

function addToSuccessor(
  tables: Tables,
  row: MemberRow,
  reference: NewReference,
  rules: Parameters<ProfileStore['addToSuccessor']>[2],
): AddOutcome {
  const { member } = row
  if (reference.generation !== member.generation + 1) return closed(tables, row)
  if (!claimMark(tables, row, reference, rules.rejectReplay)) return { outcome: 'replay' }
  const { successor } = member
  const collected = successor?.owner === rules.owner && successor.sampleFormat === SAMPLE_FORMAT ? successor : null
  if (!insert(tables, row, reference, 'enrolled')) return closed(tables, row)
  if (collected === null)
    row.references = row.references.filter(
      ({ id, generation }) => generation <= member.generation || id === reference.id,
    )
  const one = counted(reference.mode)
  const nVisible = (collected?.nVisible ?? 0) + one.visible
  const nSensitive = (collected?.nSensitive ?? 0) + one.sensitive
  if (nVisible + nSensitive < rules.target) {
    const next = { owner: rules.owner, sampleFormat: SAMPLE_FORMAT, nVisible, nSensitive }
    return { outcome: 'added', member: update(tables, row, { successor: next }), completes: false }
  }
  row.references = row.references.filter(({ generation }) => generation > member.generation)
  const after = update(tables, row, {
    ...removal(member),
    ...(rules.asReset ? asReset(member) : {}),
    generation: member.generation + 1,
    nVisible,
    nSensitive,
    sampleFormat: SAMPLE_FORMAT,
    completedAt: reference.createdAt,
    successor: null,
    pending: pendingAfter(member.pending, { kind: 'emptied' }, reference.createdAt),
  })
  if (rules.asReset) {
    for (const link of linksOf(tables, row)) if (link.id !== rules.linkId) endLink(tables, link, 'reset')
    tables.watch({ what: 'reset', row })
  }
  return { outcome: 'added', member: after, completes: true }
}

function removeOne(tables: Tables, row: MemberRow, patternId: string): Member | null {
  const { member } = row
  const gone = row.references.find(({ id }) => id === patternId)
  if (gone === undefined) return null
  row.references = row.references.filter((one) => one !== gone)
  const { visible, sensitive } = counted(gone.mode)
  if (gone.generation > member.generation) {
    const nVisible = (member.successor?.nVisible ?? 0) - visible
    const nSensitive = (member.successor?.nSensitive ?? 0) - sensitive
    const left = member.successor === null || nVisible + nSensitive <= 0
    return update(tables, row, { successor: left ? null : { ...member.successor, nVisible, nSensitive } })
  }
  if (gone.kind === 'adaptive') return update(tables, row, removal(member))
  row.references = enrolled(row.references)
  const after = update(tables, row, {
    ...removal(member),
    nVisible: member.nVisible - visible,
    nSensitive: member.nSensitive - sensitive,
    everReset: member.everReset || member.nPatternsRef === 1,
  })
  if (member.nPatternsRef > 1) return after
  for (const link of linksOf(tables, row)) endWithCollected(tables, link, 'reset')
  return read(tables, row)
}

const closed = (tables: Tables, row: MemberRow): AddOutcome => ({ outcome: 'closed', member: read(tables, row) })

/** A refused insert keeps its mark: the transaction is rolled back only if it throws. */
function claimMark(
  tables: Tables,
  { organizationId, member }: MemberRow,
  { id: patternId, generation, replayMark, createdAt }: NewReference,
  reject: boolean,
): boolean {
  if (replayMark === null) return true
  const oldest = createdAt - REPLAY_MEMORY_DAYS * DAY_MS
  if (reject && resembles(tables, organizationId, member.id, replayMark, oldest)) return false
  const owner = { memberId: member.id, seenAt: createdAt, patternId, generation }
  return enterMark(tables, organizationId, replayMark, owner, oldest) || !reject
}

/** False if the profile already has this pattern. An adaptive reference may become an enrolled one. */
function insert(
  tables: Tables,
  row: MemberRow,
  { id, generation, mode, sealed, createdAt }: AdaptiveReference,
  kind: ReferenceRow['kind'],
): boolean {
  const there = row.references.find((one) => one.id === id)
  if (there !== undefined) {
    if (there.kind !== 'adaptive' || kind !== 'enrolled' || there.generation !== generation) return false
    row.references = row.references.map((one) => (one === there ? { ...one, kind } : one))
    return true
  }
  const reference = { id, generation, mode, kind, sealed, createdAt }
  row.references = [...row.references, reference].sort(
    (a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  )
  tables.watch({ what: 'stored', row, reference })
  return true
}
