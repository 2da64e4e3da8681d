import type { Account, Member } from '../../../domain/account.js'
import { NO_ATTEMPTS } from '../../../domain/attempts.js'
import { exceeds } from '../../../domain/organization.js'
import { Refusal } from '../../../domain/refusal.js'
import type { AccountPlan, AccountStore, AccountWithMember, NewMember, Roster } from '../../account.js'
import { type Database, type Transaction, textArray } from '../connection/client.js'
import { shareStatement } from '../connection/shared-statement.js'
import { type AccountRow, accountColumns, type PersonRow, toAccount, toPerson } from './account-row.js'
import { type PrefixedSetRow, prefixedSetColumns, setOfPrefixed } from './comparison-set.js'
import { createTogether, sharedAccountsQuota } from './create-accounts.js'
import { eraseMember, eraseUser, noteErasure } from './erasure.js'
import { type MemberRow, memberColumns, toMember } from './member.js'

/** Time-out for the deletion of all rows of a person. The usual second is too short on a busy machine, and no sign-in waits for it. */
const REMOVE_MS = 5000

/** Accounts and their members in PostgreSQL. Every writer locks the account first, then members, then the headcount. */
export function postgresAccounts(database: Database): AccountStore {
  const findPerson = findTogether(database)
  return {
    create: createTogether(database),

    find: (organizationId, userRef, memberRef, { withComparisonSet = false } = {}) =>
      findPerson({ organizationId, userRef, memberRef, withComparisonSet }),

    roster: (organizationId, userRef) =>
      database.keyed(organizationId, async (sql) => {
        const found = await find(sql, organizationId, userRef, null)
        return found === null ? null : withMembers(sql, organizationId, found.account)
      }),

    change: (organizationId, userRef, plan) =>
      database.keyed(organizationId, async (sql) => {
        const roster = await lock(sql, organizationId, userRef)
        if (roster === null) return null
        return carryOut(sql, organizationId, roster, plan(roster))
      }),

    archiveMember: (organizationId, userRef, memberRef, at) =>
      database.keyed(organizationId, async (sql) => {
        const roster = await lock(sql, organizationId, userRef)
        const member = roster?.members.find((one) => one.memberRef === memberRef)
        if (roster?.account.type !== 'generic' || member === undefined) return null
        await noteErasure(sql, organizationId, 'member', member.id)
        return eraseMember(sql, organizationId, { userRef, memberId: member.id, at: new Date(at) })
      }),

    remove: (organizationId, userRef) =>
      database.keyed(
        organizationId,
        async (sql) => {
          const roster = await lock(sql, organizationId, userRef)
          if (roster === null) return null
          await noteErasure(sql, organizationId, 'account', roster.account.id)
          return eraseUser(sql, organizationId, roster.account.id, userRef)
        },
        { statementMs: REMOVE_MS },
      ),

    clearDisplayNames: (organizationId) =>
      database.scoped(organizationId, async (sql) => {
        const ofAccounts = await sql`
          update keystride.account set display_name = null
          where organization_id = ${organizationId} and display_name is not null`
        const ofMembers = await sql`
          update keystride.member set display_name = null
          where organization_id = ${organizationId} and display_name is not null`
        return ofAccounts.count + ofMembers.count
      }),
  }
}

interface Designated {
  readonly organizationId: string
  readonly userRef: string
  readonly memberRef: string | null
  readonly withComparisonSet: boolean
}

/** Largest number of people in one statement. */
const BATCH_MAX = 64
/** While one look-up is under way, another one begins with this many calls, because no look-up waits for a disk. */
const WORTH_ANOTHER = 8

/** Batches concurrent look-ups into one statement, because a statement costs more than its row. */
const findTogether = (database: Database) =>
  shareStatement<Designated, AccountWithMember | null>({
    run: (people) => findPeople(database, people),
    take: (queue) => queue.splice(0, BATCH_MAX),
    worthWaitingFor: BATCH_MAX,
    worthAnother: WORTH_ANOTHER,
  })

const findPeople = (database: Database, people: readonly Designated[]): Promise<(AccountWithMember | null)[]> =>
  database.call(async (sql) => {
    const rows = await sql<(PersonRow & PrefixedSetRow & { nth: number })[]>`
      select p.nth, ${accountColumns(sql)}, ${memberColumns(sql)}, ${prefixedSetColumns(sql)}
      from keystride.find_people_and_sets(${`{${people.map(({ organizationId }) => organizationId).join()}}`}::uuid[],
        ${textArray(people.map(({ userRef }) => userRef))}::text[],
        ${textArray(people.map(({ memberRef }) => memberRef))}::text[],
        ${`{${people.map(({ withComparisonSet }) => withComparisonSet).join()}}`}::boolean[]) p,
        lateral (select (p.found_account).*) a, lateral (select (p.found_member).*) m, lateral (select (p.found_set).*) s`
    const found = new Map(rows.map((row) => [row.nth, row]))
    const answers = people.map(({ withComparisonSet }, i) => {
      const row = found.get(i + 1)
      const person = toPerson(row)
      if (person === null || row === undefined || !withComparisonSet) return person
      return { ...person, comparisonSet: setOfPrefixed(row) }
    })
    // Otherwise the rows stay in memory after the look-up, for the reason given at `ask`.
    rows.length = 0
    return answers
  })

async function find(
  sql: Transaction,
  organizationId: string,
  userRef: string,
  memberRef: string | null,
): Promise<AccountWithMember | null> {
  const [row] = await sql<PersonRow[]>`
    select ${accountColumns(sql)}, ${memberColumns(sql)}
    from keystride.account a left join lateral (
      select * from keystride.member
      where organization_id = a.organization_id and account_id = a.id and archived_at is null
        and member_ref = coalesce(${memberRef}, case a.type when 'nominative' then a.user_ref end)
      offset 0) m on true
    where a.organization_id = ${organizationId} and a.user_ref = ${userRef}`
  return toPerson(row)
}

/** Locks the account until the transaction ends, and returns it with its members. */
async function lock(sql: Transaction, organizationId: string, userRef: string): Promise<Roster | null> {
  const [row] = await sql<AccountRow[]>`
    select ${accountColumns(sql)} from keystride.account a
    where a.organization_id = ${organizationId} and a.user_ref = ${userRef} for update`
  return row === undefined ? null : withMembers(sql, organizationId, toAccount(row))
}

async function withMembers(sql: Transaction, organizationId: string, account: Account): Promise<Roster> {
  const rows = await sql<MemberRow[]>`
    select ${memberColumns(sql)} from keystride.member m
    where m.organization_id = ${organizationId} and m.account_id = ${account.id} and m.archived_at is null
    order by m.created_at, m.id`
  return { account, members: rows.map(toMember) }
}

/** Carries out the plan and returns the roster afterwards. The account is locked, so known values are not read again. */
async function carryOut(
  sql: Transaction,
  organizationId: string,
  roster: Roster,
  { settings, move, newMember }: AccountPlan,
): Promise<Roster> {
  const account = { ...roster.account, ...(await changeSettings(sql, organizationId, roster.account, settings)) }
  if (move.kind === 'none') return { ...roster, account }
  if (move.kind === 'add') {
    const [, , after] = await Promise.all([
      insertMember(sql, organizationId, account.id, { ...newMember, memberRef: move.memberRef }),
      requireMembersQuota(sql, organizationId, roster.members.length + 1),
      withMembers(sql, organizationId, account),
    ])
    return after
  }
  const type = move.kind === 'to-generic' ? 'generic' : 'nominative'
  if (move.kind === 'to-generic') await rename(sql, organizationId, roster.members[0], move.memberRef)
  else await leaveOne(sql, organizationId, roster, newMember)
  // The type is written last, so that the event `type-change` of the ledger has the totals after all changes.
  await sql`
    update keystride.account set type = ${type} where organization_id = ${organizationId} and id = ${account.id}`
  if (type === 'generic') await requireSharedQuota(sql, organizationId)
  return withMembers(sql, organizationId, { ...account, type })
}

async function changeSettings(
  sql: Transaction,
  organizationId: string,
  account: Account,
  { memberSelection, groups, tag }: AccountPlan['settings'],
): Promise<Pick<Account, 'memberSelection' | 'groups' | 'tag'>> {
  const after = {
    memberSelection: memberSelection ?? account.memberSelection,
    groups: groups ?? account.groups,
    tag: tag ?? account.tag,
  }
  if (memberSelection === undefined && groups === undefined && tag === undefined) return after
  await sql`
    update keystride.account set member_selection = ${after.memberSelection},
      groups = ${JSON.stringify(after.groups)}::text::jsonb, tag = ${JSON.stringify(after.tag)}::text::jsonb
    where organization_id = ${organizationId} and id = ${account.id}`
  return after
}

/** The only member, or a new one, becomes the account's person. */
async function leaveOne(
  sql: Transaction,
  organizationId: string,
  { account, members: [only] }: Roster,
  newMember: AccountPlan['newMember'],
): Promise<void> {
  // An archived member may have the reference that the remaining one gets; its locks pass on with the reference.
  await sql`
    delete from keystride.member
    where organization_id = ${organizationId} and account_id = ${account.id} and archived_at is not null`
  if (only === undefined)
    await insertMember(sql, organizationId, account.id, { ...newMember, memberRef: account.userRef })
  else await rename(sql, organizationId, only, account.userRef)
}

/** Inserts the member, or restores the archived one with this reference; does nothing if there is no such account. */
async function insertMember(sql: Transaction, organizationId: string, accountId: string, member: NewMember) {
  await sql`
    insert into keystride.member as m (organization_id, id, account_id, member_ref, display_name, attempts, created_at)
    select a.organization_id, ${member.id}, a.id, ${member.memberRef}, ${member.displayName},
      ${JSON.stringify(NO_ATTEMPTS)}::text::jsonb, ${new Date(member.createdAt)}
    from keystride.account a where a.organization_id = ${organizationId} and a.id = ${accountId}
    on conflict (organization_id, account_id, member_ref) do update
      set archived_at = null, display_name = excluded.display_name, created_at = excluded.created_at
      where m.archived_at is not null`
}

async function rename(sql: Transaction, organizationId: string, member: Member | undefined, memberRef: string) {
  if (member === undefined) throw new Error('a nominative account without its person')
  await sql`
    update keystride.member set member_ref = ${memberRef}
    where organization_id = ${organizationId} and id = ${member.id}`
}

interface QuotaRow {
  strict: boolean
  shared: number
  members: number
  n_accounts_generic: number
}

const quotasOf = (sql: Transaction, organizationId: string) => sql<QuotaRow[]>`
  select o.quota_mode = 'strict' as strict, o.quota_shared_accounts as shared,
    o.quota_members as members, h.n_accounts_generic
  from keystride.organization o, keystride.headcount_now(o.organization_id) h
  where o.organization_id = ${organizationId}`

/** Exact after the change of type, because its event of the ledger has locked the row of the headcount. */
async function requireSharedQuota(sql: Transaction, organizationId: string): Promise<void> {
  const [quotas] = await quotasOf(sql, organizationId)
  if (quotas?.strict && exceeds(quotas.n_accounts_generic, quotas.shared)) throw sharedAccountsQuota(quotas.shared)
}

async function requireMembersQuota(sql: Transaction, organizationId: string, nMembers: number): Promise<void> {
  const [quotas] = await quotasOf(sql, organizationId)
  if (quotas?.strict && exceeds(nMembers, quotas.members)) {
    throw new Refusal(
      'members-quota',
      `SHARED_ACCOUNT_MEMBERS_EXCEEDED: the license is for ${quotas.members} members of a shared account, all in use`,
    )
  }
}
