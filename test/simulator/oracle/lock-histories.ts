import type { AttemptKind } from '../../../src/domain/attempts.js'
import { type Entry, failuresOf, isClosed, isDead } from '../../domain/attempts-oracle.js'
import { keyOf, type MemberRow } from '../stores/tables.js'
import { DAY_MS } from './checks.js'

const KINDS = ['biometric', 'security_code'] as const

const personOf = ({ organizationId, of, member }: MemberRow, memberRef = member.memberRef) =>
  keyOf(organizationId, of.account.userRef, memberRef)

/** The attempts, locks and resets of each member, from which the locks follow. */
export function createLockHistories(now: () => number) {
  /**
   * By member, its own history and the histories of references that it took over. An attempt is open only if all of them allow
   * it.
   */
  const histories = new Map<string, Entry[][]>()
  /** Histories of erased and renamed members, by organization, userRef and memberRef. */
  const carried = new Map<string, { readonly of: string; readonly histories: Entry[][]; readonly until: number }>()

  const historiesOf = ({ member }: MemberRow): Entry[][] => {
    const there = histories.get(member.id) ?? [[]]
    histories.set(member.id, there)
    return there
  }
  return {
    note(row: MemberRow, entry: Entry): void {
      for (const history of historiesOf(row)) history.push(entry)
    },
    /** The history that closes the kind at that time, as text; null if it is open. */
    closedBy(row: MemberRow, kind: AttemptKind, at: number): string | null {
      const closing = historiesOf(row).find((history) => isClosed(history, kind, at))
      return closing === undefined ? null : historyText(closing)
    },
    /** The member takes its reference, with the history that an erased or renamed member left there. */
    takeOn(row: MemberRow): void {
      const kept = carried.get(personOf(row))
      carried.delete(personOf(row))
      if (kept !== undefined && kept.until > now() && kept.of !== row.member.id)
        historiesOf(row).push(...kept.histories)
    },
    /** The member leaves `memberRef`; its history stays there for a day if it has failures. */
    leave(row: MemberRow, memberRef: string): void {
      const left = structuredClone(historiesOf(row))
      const counts = left.some((one) => KINDS.some((kind) => failuresOf(one, kind).length > 0 || isDead(one, kind)))
      if (counts) carried.set(personOf(row, memberRef), { of: row.member.id, histories: left, until: now() + DAY_MS })
    },
    /** An archived member came back to its own reference. */
    returned(row: MemberRow): void {
      carried.delete(personOf(row))
    },
  }
}

const historyText = (history: readonly Entry[]) =>
  history.map((entry) => `${entry.at} ${entry.what} ${'kind' in entry ? entry.kind : ''}`).join(', ')
