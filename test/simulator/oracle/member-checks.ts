import { isDeepStrictEqual } from 'node:util'
import type { Account, Member } from '../../../src/domain/account.js'
import type { BiometricStatus } from '../../../src/domain/biometric-status.js'
import type { Request } from '../request.js'
import { TARGETS } from '../service.js'
import type { MemberRow } from '../stores/tables.js'
import { DAY_MS, type Hold, type OracleNeeds } from './checks.js'

/** A member's row at one version. */
interface Snapshot {
  readonly member: Member
  /** Enrolled references of the current generation, and of the next. */
  readonly n: number
  readonly nNext: number
}

const YEAR_MS = 365 * DAY_MS

/** The fields of an answer that the oracle reads; answers of the flows have more. */
export interface AnswerPart {
  readonly account?: Account
  readonly member?: Member | null
  readonly biometricStatus?: BiometricStatus
  readonly nPatternsRef?: number
  /** Time of the decision, ms, if another await followed it; absent otherwise. */
  readonly at?: number
}

/** Checks of members' rows at each commit, and of the members in answers. */
export function createMemberChecks({ tables, now, codeOf, saw }: OracleNeeds, hold: Hold) {
  const snapshots = new Map<string, Map<number, Snapshot>>()
  const organizationOf = new Map<string, string>()
  const erased = new Set<string>()

  return {
    created({ organizationId, member, of }: MemberRow): void {
      organizationOf.set(member.id, organizationId)
      organizationOf.set(of.account.id, organizationId)
    },
    erased: ({ member }: MemberRow) => void erased.add(member.id),
    /** Checks a member's row after a commit. */
    holdRow(row: MemberRow): void {
      const { member, references, archivedAt } = row
      const { id, nVisible, nSensitive, successor } = member
      hold('I4', !erased.has(id), () => `${id} was erased and is written`)
      const { n, nNext, found } = referencesOf(row)
      const counted = [nVisible, nSensitive, successor?.nVisible ?? 0, successor?.nSensitive ?? 0, 0].join()
      const agree = found === counted && member.nPatternsRef === n
      hold('I5', agree, () => `${id} counts ${counted} references and has ${found}`)
      const hashed = row.codeHash === null || codeOf(row.codeHash) !== null
      hold('I11', hashed, () => `a code of ${id} is stored in plain text`)
      const bare = references.length === 0 && row.codeHash === null && row.codePreviousHash === null
      hold('I4', archivedAt === null || bare, () => `${id} was removed from the account and still has typing or a code`)
      const versions = snapshots.get(id) ?? new Map<number, Snapshot>()
      snapshots.set(id, versions)
      versions.set(member.rowVersion, { member, n, nNext })
    },
    /** Checks the account and the member of an answer. */
    holdAnswer({ who: { organizationId }, beganAt }: Pick<Request, 'who' | 'beganAt'>, answer: AnswerPart): void {
      const { account, member } = answer
      for (const id of [account?.id, member?.id]) {
        if (id === undefined) continue
        const owner = organizationOf.get(id) ?? organizationId
        hold('I9', owner === organizationId, () => `${id} of ${owner} in an answer to ${organizationId}`)
      }
      if (member === undefined || member === null) return
      const { id, rowVersion } = member
      const snapshot = snapshots.get(id)?.get(rowVersion)
      hold('I4', snapshot !== undefined, () => `${id} was never at version ${rowVersion}`)
      if (snapshot === undefined) return
      if (member !== snapshot.member) {
        const { patternsClosedForMs: _, ...believed } = member
        const { patternsClosedForMs: __, ...real } = snapshot.member
        const texts = () => `the answer has ${JSON.stringify(believed)}, stored is ${JSON.stringify(real)}`
        hold('belief', isDeepStrictEqual(believed, real), texts)
      }
      const { biometricStatus, nPatternsRef } = answer
      if (biometricStatus === undefined) return
      saw(biometricStatus)
      const { status, n } = byTheTable(snapshot, answer.at ?? now())
      // A profile may expire after the flow has read the clock, while a last call of a store is under way.
      const isTrue = biometricStatus === status || biometricStatus === byTheTable(snapshot, beganAt).status
      hold('I6', isTrue, () => `the answer says ${id} is ${biometricStatus}; it is ${status}`)
      hold('I5', nPatternsRef === n, () => `the answer says ${id} has ${nPatternsRef} references; it has ${n}`)
    },
    /** Checks that no row is of an erased member or account. */
    audit(): void {
      for (const { memberId } of tables.marks.values())
        hold('I4', !erased.has(memberId), () => `a replay mark of ${memberId}, who was erased`)
      for (const { of } of tables.links.values()) {
        const present = !erased.has(of.member.id) && of.archivedAt === null
        hold('I4', present, () => `a link of ${of.member.id}, who was removed`)
      }
      for (const [place, list] of tables.authentications)
        for (const { id, accountId } of list)
          hold('I4', tables.accounts.get(place)?.account.id === accountId, () => `attempt ${id} of an erased account`)
    },
  }
}

/** Enrolled references of the current generation and the next; `found`: visible and other ones of both, and misplaced ones. */
function referencesOf({ member: { generation }, references }: MemberRow): { n: number; nNext: number; found: string } {
  let [n, nNext, odd] = [0, 0, 0]
  let [visible, visibleNext] = [0, 0]
  for (const one of references) {
    const isVisible = one.mode === 'visible' ? 1 : 0
    if (one.kind === 'adaptive') odd += one.generation === generation ? 0 : 1
    else if (one.generation === generation) [n, visible] = [n + 1, visible + isVisible]
    else if (one.generation === generation + 1) [nNext, visibleNext] = [nNext + 1, visibleNext + isVisible]
    else odd++
  }
  return { n, nNext, found: [visible, n - visible, visibleNext, nNext - visibleNext, odd].join() }
}

/** The status and the number of references by the table of biometric states. */
function byTheTable({ member, n, nNext }: Snapshot, now: number): { status: BiometricStatus; n: number } {
  const { targetRefPatterns, fullRefPatterns } = TARGETS
  if (nNext > 0 && member.successor?.owner === 'enrollment') return { status: 'in-progress', n: nNext }
  if (n === 0) return { status: member.everReset ? 'reset' : 'not-ready', n }
  if (n < targetRefPatterns) return { status: 'in-progress', n }
  const goodAt = Math.max(member.completedAt ?? 0, member.lastTypedAt ?? 0)
  if (goodAt > 0 && now - goodAt > YEAR_MS) return { status: 'expired', n }
  return { status: n >= fullRefPatterns ? 'full' : 'ok', n }
}
