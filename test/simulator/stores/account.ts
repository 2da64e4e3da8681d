import { NO_HABITS } from '../../../src/domain/context/circumstances.js'
import type { AccountPlan, AccountStore, AccountWithMember, FindOptions, Roster } from '../../../src/storage/account.js'
import {
  type AccountRow,
  dropMember,
  dropTyping,
  type Immediate,
  keyOf,
  livePeople,
  putMember,
  read,
  renameMember,
  type Tables,
  update,
  updateAccount,
} from './tables.js'

/** Accounts without quotas. */
export function memoryAccounts(tables: Tables): Immediate<AccountStore> {
  const rowOf = (organizationId: string, userRef: string) => tables.accounts.get(keyOf(organizationId, userRef)) ?? null
  const find = (
    organizationId: string,
    userRef: string,
    memberRef: string | null,
    { withComparisonSet = false }: FindOptions = {},
  ): AccountWithMember | null => {
    const row = rowOf(organizationId, userRef)
    if (row === null) return null
    const { account, members } = row
    const wanted = memberRef ?? (account.type === 'nominative' ? userRef : null)
    const member = members.find((one) => one.archivedAt === null && one.member.memberRef === wanted)
    const found = { account, member: member === undefined ? null : read(tables, member) }
    return withComparisonSet ? { ...found, comparisonSet: member?.comparisonSet ?? null } : found
  }
  return {
    create(organizationId, { member, ...given }) {
      const there = find(organizationId, given.userRef, member?.memberRef ?? null)
      if (there !== null) return { ...there, created: false }
      const { id, userRef, type, displayName, createdAt } = given
      const settings = { memberSelection: 'ask', groups: [], tag: {} } as const
      const account = { id, userRef, type, displayName, ...settings, createdAt }
      const row: AccountRow = { organizationId, account, members: [] }
      tables.accounts.set(keyOf(organizationId, userRef), row)
      if (member !== null) putMember(tables, row, member)
      return { account, member: row.members[0]?.member ?? null, created: true }
    },
    find,
    roster(organizationId, userRef) {
      const row = rowOf(organizationId, userRef)
      return row === null ? null : rosterOf(tables, row)
    },
    change(organizationId, userRef, plan) {
      const row = rowOf(organizationId, userRef)
      if (row === null) return null
      const before = rosterOf(tables, row)
      return carryOut(tables, row, before, plan(before))
    },
    archiveMember(organizationId, userRef, memberRef, at) {
      const row = rowOf(organizationId, userRef)
      const member = row === null ? undefined : livePeople(row).find((one) => one.member.memberRef === memberRef)
      if (row?.account.type !== 'generic' || member === undefined) return null
      const nPatternsDeleted = dropTyping(tables, member)
      const { generation, code, attemptsVersion, profileVersion } = member.member
      Object.assign(member, { archivedAt: at, codeHash: null, codePreviousHash: null })
      update(tables, member, {
        ...ERASED,
        generation: generation + 1,
        code: { set: false, temporary: false, expiresAt: null, used: false, version: code.version + 1 },
        attemptsVersion: attemptsVersion + 1,
        profileVersion: profileVersion + 1,
      })
      const place = keyOf(organizationId, userRef)
      const { id } = member.member
      const redacted = tables.authentications
        .get(place)
        ?.map((one) => (one.memberId === id ? { ...one, patternId: null, sealed: null, facts: null } : one))
      if (redacted !== undefined) tables.authentications.set(place, redacted)
      return { nPatternsDeleted }
    },
    remove(organizationId, userRef) {
      const row = rowOf(organizationId, userRef)
      if (row === null) return null
      let nPatternsDeleted = 0
      for (const member of [...row.members]) {
        nPatternsDeleted += dropTyping(tables, member)
        dropMember(tables, member)
      }
      tables.authentications.delete(keyOf(organizationId, userRef))
      tables.endSessionsOf?.(organizationId, userRef)
      tables.accounts.delete(keyOf(organizationId, userRef))
      return { nPatternsDeleted }
    },
    clearDisplayNames() {
      throw new Error('not part of the simulation')
    },
  }
}

const ERASED = {
  ...{ nVisible: 0, nSensitive: 0, everReset: false, completedAt: null, lastSuccessAt: null, successor: null },
  ...{
    preferredLanguage: null,
    displayName: null,
    lastTypedAt: null,
    adaptedAt: null,
    habits: NO_HABITS,
    pending: null,
  },
}

const rosterOf = (tables: Tables, row: AccountRow): Roster => ({
  account: row.account,
  members: livePeople(row).map((member) => read(tables, member)),
})

function carryOut(tables: Tables, row: AccountRow, before: Roster, { settings, move, newMember }: AccountPlan): Roster {
  const { memberSelection, groups, tag } = settings
  if (memberSelection !== undefined || groups !== undefined || tag !== undefined)
    updateAccount(tables, row, {
      ...(memberSelection === undefined ? {} : { memberSelection }),
      ...(groups === undefined ? {} : { groups }),
      ...(tag === undefined ? {} : { tag }),
    })
  if (move.kind === 'none') return { ...before, account: row.account }
  if (move.kind === 'add') {
    putMember(tables, row, { ...newMember, memberRef: move.memberRef })
    return rosterOf(tables, row)
  }
  const [only] = livePeople(row)
  if (move.kind === 'to-generic') {
    if (only === undefined) throw new Error('a nominative account without its person')
    renameMember(tables, only, move.memberRef)
  } else {
    for (const archived of row.members.filter(({ archivedAt }) => archivedAt !== null)) dropMember(tables, archived)
    if (only === undefined) putMember(tables, row, { ...newMember, memberRef: row.account.userRef })
    else renameMember(tables, only, row.account.userRef)
  }
  updateAccount(tables, row, { type: move.kind === 'to-generic' ? 'generic' : 'nominative' })
  tables.watch({ what: 'moved', row })
  return rosterOf(tables, row)
}
