import { afterLock, afterNewCode, NO_ATTEMPTS } from '../../../src/domain/attempts.js'
import { INVALID_PATTERNS_MAX, INVALID_PATTERNS_WINDOW_MS } from '../../../src/domain/invalid-patterns.js'
import { pendingAfter } from '../../../src/domain/pending-action.js'
import { REFUSED_PER_DAY } from '../../../src/domain/refused-patterns.js'
import { REPLAY_MEMORY_DAYS } from '../../../src/domain/replay.js'
import type { AttemptLockStore } from '../../../src/storage/attempt-lock.js'
import type { ComparisonSetStore } from '../../../src/storage/comparison-set.js'
import type { InvalidPatternStore } from '../../../src/storage/invalid-patterns.js'
import type { PendingActionStore } from '../../../src/storage/pending-action.js'
import type { RefusedPatternStore } from '../../../src/storage/refused-patterns.js'
import type { SecurityCodeStore } from '../../../src/storage/security-code.js'
import { addToSet, enterMark, type Immediate, keyOf, live, type MemberRow, type Tables, update } from './tables.js'

export function memorySecurityCodes(tables: Tables): Immediate<SecurityCodeStore> {
  const rowOf = (organizationId: string, memberId: string) => live(tables, organizationId, memberId)
  const replace = (row: MemberRow, hash: string | null) =>
    Object.assign(row, { codePreviousHash: row.codeHash ?? row.codePreviousHash, codeHash: hash })
  return {
    find(organizationId, memberId) {
      const row = rowOf(organizationId, memberId)
      if (row === null) return null
      const { codeHash: hash, codePreviousHash: previousHash, codeIssued: issued, member } = row
      return { hash, previousHash, issued, version: member.code.version }
    },
    set(organizationId, memberId, version, { hash, expiresAt, issued }) {
      const row = rowOf(organizationId, memberId)
      if (row === null || row.member.code.version !== version) return { outcome: 'conflict' }
      replace(row, hash).codeIssued = issued
      const { attempts, attemptsVersion } = row.member
      const member = update(tables, row, {
        code: { set: true, temporary: expiresAt !== null, expiresAt, used: false, version: version + 1 },
        attempts: afterNewCode(attempts),
        attemptsVersion: attemptsVersion + 1,
      })
      tables.watch({ what: 'new code', row })
      return { outcome: 'changed', member }
    },
    clear(organizationId, memberId) {
      const row = rowOf(organizationId, memberId)
      if (row === null) return null
      replace(row, null)
      const { code, attemptsVersion } = row.member
      return update(tables, row, {
        code: { set: false, temporary: false, expiresAt: null, used: false, version: code.version + 1 },
        attemptsVersion: attemptsVersion + 1,
      })
    },
  }
}

export function memoryAttemptLocks(tables: Tables): Immediate<AttemptLockStore> {
  return {
    clear(organizationId, memberId) {
      const row = tables.members.get(keyOf(organizationId, memberId))
      if (row === undefined) return null
      const { attempts, attemptsVersion } = row.member
      update(tables, row, { attempts: NO_ATTEMPTS, attemptsVersion: attemptsVersion + 1 })
      tables.watch({ what: 'unlock', row })
      return attempts
    },
    close(organizationId, memberId) {
      const row = tables.members.get(keyOf(organizationId, memberId))
      if (row === undefined) return false
      const { attempts, attemptsVersion } = row.member
      update(tables, row, { attempts: afterLock(attempts), attemptsVersion: attemptsVersion + 1 })
      tables.watch({ what: 'lock', row })
      return true
    },
  }
}

export function memoryInvalidPatterns(tables: Tables): Immediate<InvalidPatternStore> {
  return {
    count(organizationId, memberId) {
      const row = tables.members.get(keyOf(organizationId, memberId))
      const now = tables.now()
      if (row === undefined) return 0
      if (row.patternsClosedUntil !== null && row.patternsClosedUntil > now) return row.patternsClosedUntil - now
      const latest = [...row.invalidPatterns, now].filter((at) => at > now - INVALID_PATTERNS_WINDOW_MS)
      row.invalidPatterns = latest
      row.patternsClosedUntil =
        latest.length >= INVALID_PATTERNS_MAX ? (latest[0] ?? now) + INVALID_PATTERNS_WINDOW_MS : null
      update(tables, row, {})
      return 0
    },
  }
}

const DAY_MS = 24 * 3_600_000

export function memoryRefusedPatterns(tables: Tables): Immediate<RefusedPatternStore> {
  return {
    remember(organizationId, pattern) {
      const { id: patternId, memberId, generation, replayMark, createdAt: seenAt } = pattern
      const row = live(tables, organizationId, memberId)
      if (row === null || row.refused.filter(({ createdAt }) => createdAt >= seenAt - DAY_MS).length >= REFUSED_PER_DAY)
        return
      const owner = { memberId, seenAt, patternId, generation }
      if (!enterMark(tables, organizationId, replayMark, owner, seenAt - REPLAY_MEMORY_DAYS * DAY_MS)) return
      row.refused = [...row.refused, pattern]
      addToSet(row, pattern.entry)
      update(tables, row, { attemptsVersion: row.member.attemptsVersion + 1 })
    },
  }
}

export function memoryComparisonSets(tables: Tables): Immediate<ComparisonSetStore> {
  return {
    find: (organizationId, memberId) => tables.members.get(keyOf(organizationId, memberId))?.comparisonSet ?? null,
    withoutSet: () => ({ members: [], last: null }),
    put(organizationId, { memberId, oldestAt: _, ...set }) {
      const row = tables.members.get(keyOf(organizationId, memberId))
      if (row === undefined) return false
      const { generation, profileVersion, attemptsVersion } = row.member
      const isCurrent =
        set.generation === generation &&
        set.profileVersion === profileVersion &&
        set.attemptsVersion === attemptsVersion
      if (isCurrent) row.comparisonSet = { ...set, tail: new Uint8Array() }
      return isCurrent
    },
  }
}

export function memoryPendingActions(tables: Tables): Immediate<PendingActionStore> {
  return {
    change(organizationId, memberId, event, at) {
      const row = live(tables, organizationId, memberId)
      return row === null ? null : update(tables, row, { pending: pendingAfter(row.member.pending, event, at) })
    },
  }
}
