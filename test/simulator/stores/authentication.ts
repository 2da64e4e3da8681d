import { memberAfter } from '../../../src/domain/member-after.js'
import { REPLAY_MEMORY_DAYS } from '../../../src/domain/replay.js'
import type {
  Authentication,
  AuthenticationStore,
  KnownPattern,
  TestedPattern,
} from '../../../src/storage/authentication.js'
import { authenticationOf } from '../../harness/fixtures.js'
import {
  addToSet,
  enterMark,
  type Immediate,
  keyOf,
  type MarkRow,
  marksLike,
  resembles,
  sharedBands,
  type Tables,
  update,
} from './tables.js'

const DAY_MS = 24 * 3_600_000

export function memoryAuthentications(tables: Tables): Immediate<AuthenticationStore> {
  const of = (organizationId: string, userRef: string): readonly Authentication[] =>
    tables.authentications.get(keyOf(organizationId, userRef)) ?? []
  /** The sealed pattern of a mark, from the reference, attempt or refused pattern that stores it; null if none does. */
  function patternOf(organizationId: string, mark: MarkRow | undefined): KnownPattern['pattern'] {
    const row = mark === undefined ? undefined : tables.members.get(keyOf(organizationId, mark.memberId))
    if (mark?.patternId == null || row === undefined) return null
    const { memberId, patternId } = mark
    const tested = [...tables.authentications.values()].flat().find((one) => one.patternId === patternId)
    const reference = [...row.references, ...row.refused].find(({ id }) => id === patternId)
    const sealed = tested?.sealed ?? reference?.sealed
    const generation = tested === undefined ? (reference?.generation ?? mark.generation) : mark.generation
    const binding = { accountId: row.of.account.id, memberId, patternId, generation }
    return sealed === undefined ? null : { binding, sealed }
  }
  /** The newest first. Ids grow with time, also within one millisecond. */
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? 1 : -1)
  return {
    record(organizationId, attempt, change = null) {
      const { replayMark, patternId, memberId, createdAt, userRef } = attempt
      const row = tables.members.get(keyOf(organizationId, memberId))
      if (row === undefined) return 'absent'
      const { member: before, codeHash } = row
      const { attemptsVersion, generation, rowVersion } = before
      if (attemptsVersion !== attempt.attemptsVersion || generation !== attempt.generation) return 'conflict'
      if (attempt.rowVersion !== undefined && attempt.rowVersion !== rowVersion) return 'conflict'
      if (replayMark !== null) {
        const oldest = createdAt - REPLAY_MEMORY_DAYS * DAY_MS
        if (resembles(tables, organizationId, memberId, replayMark, oldest)) return 'replay'
        const owner = { memberId, seenAt: createdAt, patternId, generation }
        if (!enterMark(tables, organizationId, replayMark, owner, oldest)) return 'replay'
      }
      if (change?.kind === 'replace') {
        const { base, hasAdaptive } = change
        const { profileVersion } = before
        const tail = new Uint8Array()
        row.comparisonSet = {
          ...{ generation, profileVersion, attemptsVersion: attemptsVersion + 1, hasAdaptive, base, tail },
        }
      } else if (change !== null || patternId === null) addToSet(row, change?.entry ?? new Uint8Array())
      update(tables, row, memberAfter(before, attempt))
      const place = keyOf(organizationId, userRef)
      const list = tables.authentications.get(place)
      const recorded = authenticationOf(attempt)
      if (list === undefined) tables.authentications.set(place, [recorded])
      else list.push(recorded)
      tables.watch({ what: 'attempt', row, before, codeHash, attempt })
      return 'recorded'
    },
    resembling(organizationId, memberId, mark, { now, most }) {
      const oldest = now - REPLAY_MEMORY_DAYS * DAY_MS
      const same = keyOf(organizationId, Buffer.from(mark.exact).toString('hex'))
      const keys = new Set(marksLike(tables, organizationId, memberId, mark, oldest))
      if ((tables.marks.get(same)?.seenAt ?? 0) > oldest) keys.add(same)
      return [...keys].slice(0, most).map((key) => ({
        exact: Buffer.from(key.slice(organizationId.length + 1), 'hex'),
        nBandsShared: sharedBands(mark, tables.marks.get(key)),
        pattern: patternOf(organizationId, tables.marks.get(key)),
      }))
    },
    tested(organizationId, { userRef, memberId, since, limits, known }) {
      const latest = (patterns: TestedPattern[], most: number) =>
        patterns.filter(({ createdAt, patternId }) => createdAt >= since && !known.includes(patternId)).slice(0, most)
      const tested = [...of(organizationId, userRef)]
        .sort(byId)
        .flatMap(({ patternId, createdAt, authenticated, sealed, memberId: by }) =>
          by === memberId && patternId !== null && sealed !== null
            ? [{ patternId, createdAt, authenticated, sealed, refused: null }]
            : [],
        )
      const kept = tables.members.get(keyOf(organizationId, memberId))?.refused ?? []
      const refused = [...kept].sort(byId).map(({ id: patternId, createdAt, sealed, generation }) => ({
        ...{ patternId, createdAt, sealed, authenticated: false },
        refused: { generation },
      }))
      return [
        ...latest(
          tested.filter((one) => one.authenticated),
          limits.confirmed,
        ),
        ...latest(
          tested.filter((one) => !one.authenticated),
          limits.failed,
        ),
        ...latest(refused, limits.failed),
      ]
    },
    find(organizationId, id) {
      for (const [place, list] of tables.authentications) {
        const found = place.startsWith(`${organizationId} `) ? list.find((one) => one.id === id) : undefined
        if (found !== undefined) return found
      }
      return null
    },
    typedInSession(organizationId, { userRef, memberId, sessionId, since }) {
      const typed = of(organizationId, userRef).filter(
        (one) =>
          one.createdAt >= since &&
          one.sessionId === sessionId &&
          one.memberId === memberId &&
          one.method === 'biometric' &&
          one.authenticated,
      )
      return typed.sort(byId)[0]?.createdAt ?? null
    },
    findByPattern: (organizationId, userRef, patternId) =>
      of(organizationId, userRef).find((one) => one.patternId === patternId) ?? null,
    list: (organizationId, userRef, limit) => [...of(organizationId, userRef)].sort(byId).slice(0, limit),
  }
}
