import { UNTIL_UNLOCKED } from '../../../domain/attempts.js'
import { REPLAY_MEMORY_DAYS } from '../../../domain/replay.js'
import { SAMPLE_FORMAT } from '../../../domain/sample-format.js'
import type { AddOutcome, ProfileStore } from '../../profile.js'
import { bigintArray, byteaArray, type Database } from '../connection/client.js'
import { type MemberRow, memberColumns, toMember } from './member.js'

interface OutcomeRow extends MemberRow {
  outcome: AddOutcome['outcome']
  next_at: Date | null
}

/** Implements `add` as one statement, which is one transaction. */
export const addReference =
  (database: Database): ProfileStore['add'] =>
  (organizationId, reference, rules) =>
    database.call(async (sql) => {
      const { id, memberId, generation, mode, sealed, replayMark, createdAt } = reference
      const { target, limit, rejectReplay, intervalMs = 0, linkId = null } = rules
      const rows = await sql<OutcomeRow[]>`
        select p.outcome, p.next_at, ${memberColumns(sql)}
        from keystride.add_reference(${organizationId}, ${memberId}, ${id}, ${generation}, ${mode}, ${sealed},
          ${SAMPLE_FORMAT}, ${new Date(createdAt)}, ${replayMark?.exact ?? null},
          ${replayMark === null ? null : bigintArray(replayMark.bands)}::bigint[],
          ${byteaArray(replayMark?.cleared ?? [])}::bytea[], ${rejectReplay}, ${REPLAY_MEMORY_DAYS},
          ${target}, ${limit}, ${intervalMs}, ${linkId}, ${UNTIL_UNLOCKED}) p,
          lateral (select (p.found_member).*) m`
      const [row] = rows
      if (row === undefined) throw new Error('add_reference returned no outcome')
      const outcome = toOutcome(row, limit)
      // Otherwise the row stays in memory after the call, for the reason given at `ask`.
      rows.length = 0
      return outcome
    })

function toOutcome(row: OutcomeRow, limit: number): AddOutcome {
  const { outcome } = row
  switch (outcome) {
    case 'added': {
      const member = toMember(row)
      return { outcome, member, completes: member.nPatternsRef >= limit }
    }
    case 'closed':
      return { outcome, member: toMember(row) }
    case 'too-soon':
      if (row.next_at === null) throw new Error('add_reference returned no time of the next reference')
      return { outcome, at: row.next_at.getTime() }
    default:
      return { outcome }
  }
}

/** Implements `adapt` as one statement. */
export const adaptProfile =
  (database: Database): ProfileStore['adapt'] =>
  (organizationId, { id, memberId, generation, mode, sealed, createdAt }, { profileVersion, max, intervalMs }) =>
    database.call(async (sql) => {
      const [row] = await sql<{ kept: boolean }[]>`
        select keystride.adapt_profile(${organizationId}, ${memberId}, ${id}, ${generation}, ${mode}, ${sealed},
          ${new Date(createdAt)}, ${profileVersion}, ${max}, ${intervalMs}) as kept`
      return row?.kept === true
    })
