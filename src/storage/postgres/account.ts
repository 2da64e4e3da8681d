import type { Account, AccountType, Member, MemberSelection } from '../../domain/account.js'
import { NO_ATTEMPTS } from '../../domain/attempts.js'
import { exceeds } from '../../domain/organization.js'
import { Refusal } from '../../domain/refusal.js'
import type { AccountPlan, AccountStore, AccountWithMember, NewAccount, NewMember, Roster } from '../account.js'
import { type Database, type Statements, type Transaction, textArray } from './client.js'
import { eraseMember, eraseUser, noteErasure } from './erasure.js'
import { analyzeAsItGrows } from './grown-tables.js'
import { type MemberRow, memberColumns, toMember } from './member.js'
import { shareStatement } from './shared-statement.js'

export interface AccountRow {
  account_id: string
  user_ref: string
  type: AccountType
  account_display_name: string | null
  member_selection: MemberSelection
  groups: string[]
  tag: Record<string, string>
  account_created_at: Date
}

/** What the outer join gives where the account has no such member. */
type NoMemberRow = { [Column in keyof MemberRow]: null }
type PersonRow = AccountRow & (MemberRow | NoMemberRow)

/** All that a person left behind goes at once, and no sign-in waits for it: on a crowded machine the usual second is short. */
const REMOVE_MS = 5000

/** Accounts and their members in PostgreSQL. Locks go account, members, headcount: the order of every other writer. */
export function postgresAccounts(database: Database): AccountStore {
  const findPerson = findTogether(database)
  const oneMore = analyzeAsItGrows(database)
  return {
    create: async (organizationId, account) => {
      const person = await database.scoped(organizationId, (sql) => create(sql, organizationId, account))
      if (person.created) oneMore()
      return person
    },

    find: (organizationId, userRef, memberRef) => findPerson({ organizationId, userRef, memberRef }),

    roster: (organizationId, userRef) =>
      database.scoped(organizationId, async (sql) => {
        const found = await find(sql, organizationId, userRef, null)
        return found === null ? null : withMembers(sql, organizationId, found.account)
      }),

    change: (organizationId, userRef, plan) =>
      database.scoped(organizationId, async (sql) => {
        const roster = await lock(sql, organizationId, userRef)
        if (roster === null) return null
        return carryOut(sql, organizationId, roster, plan(roster))
      }),

    archiveMember: (organizationId, userRef, memberRef, at) =>
      database.scoped(organizationId, async (sql) => {
        const roster = await lock(sql, organizationId, userRef)
        const member = roster?.members.find((one) => one.memberRef === memberRef)
        if (roster?.account.type !== 'generic' || member === undefined) return null
        await noteErasure(sql, organizationId, 'member', member.id)
        return eraseMember(sql, organizationId, { userRef, memberId: member.id, at: new Date(at) })
      }),

    remove: (organizationId, userRef) =>
      database.scoped(
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

async function create(
  sql: Transaction,
  organizationId: string,
  account: NewAccount,
): Promise<AccountWithMember & { created: boolean }> {
  const there = await find(sql, organizationId, account.userRef, account.member?.memberRef ?? null)
  if (there !== null) return { ...there, created: false }
  // Before as well as after: where all is in use already, nobody has to wait in line to hear so.
  await holdToQuotas(sql, organizationId, account.type, 1)
  // One flight: every other creation of the organization waits from the first of it to the commit. The library sends a
  // statement when it is awaited, so each is awaited in a function of its own, or they would go in another order.
  const [created, , , found] = await Promise.all([
    insertAccount(sql, organizationId, account),
    account.member === null ? null : insertMember(sql, organizationId, account.id, account.member),
    holdToQuotas(sql, organizationId, account.type),
    find(sql, organizationId, account.userRef, account.member?.memberRef ?? null),
  ])
  if (found === null) throw new Error('the account was removed while its creation looked for it')
  return { ...found, created }
}

interface Designated {
  readonly organizationId: string
  readonly userRef: string
  readonly memberRef: string | null
}

/** People a statement at most. */
const BATCH_MAX = 64
/** While one look is under way another begins from so many who wait: none of them waits for a disk. */
const WORTH_ANOTHER = 8

/** Everybody who is asked for in the same moment, in one statement: a statement each costs more than its row. */
const findTogether = (database: Database) =>
  shareStatement<Designated, AccountWithMember | null>({
    run: (people) => findPeople(database, people),
    take: (queue) => queue.splice(0, BATCH_MAX),
    worthWaitingFor: BATCH_MAX,
    worthAnother: WORTH_ANOTHER,
  })

const findPeople = (database: Database, people: readonly Designated[]): Promise<(AccountWithMember | null)[]> =>
  database.call(async (sql) => {
    const rows = await sql<(PersonRow & { nth: number })[]>`
      select p.nth, ${accountColumns(sql)}, ${memberColumns(sql)}
      from keystride.find_people(${`{${people.map(({ organizationId }) => organizationId).join()}}`}::uuid[],
        ${textArray(people.map(({ userRef }) => userRef))}::text[],
        ${textArray(people.map(({ memberRef }) => memberRef))}::text[]) p,
        lateral (select (p.found_account).*) a, lateral (select (p.found_member).*) m`
    const found = new Map(rows.map((row) => [row.nth, row]))
    const answers = people.map((_, i) => toPerson(found.get(i + 1)))
    // Else they outlive the look, as `ask` has it of parameters.
    rows.length = 0
    return answers
  })

export const accountColumns = (sql: Statements) => sql`
  a.id as account_id, a.user_ref, a.type, a.display_name as account_display_name, a.member_selection, a.groups, a.tag,
  a.created_at as account_created_at`

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

function toPerson(row: PersonRow | undefined): AccountWithMember | null {
  if (row === undefined) return null
  return { account: toAccount(row), member: row.id === null ? null : toMember(row) }
}

/** The account and its people as they are, nobody else changing them until the transaction ends. */
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

/** Does what the plan says and gives the roster afterwards. Others wait for the lock, so what is known is not read again. */
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
      holdToMembersQuota(sql, organizationId, roster.members.length + 1),
      withMembers(sql, organizationId, account),
    ])
    return after
  }
  const type = move.kind === 'to-generic' ? 'generic' : 'nominative'
  if (move.kind === 'to-generic') await rename(sql, organizationId, roster.members[0], move.memberRef)
  else await leaveOne(sql, organizationId, roster, newMember)
  // The type last: the ledger's `type-change` then has the totals after all of it.
  await sql`
    update keystride.account set type = ${type} where organization_id = ${organizationId} and id = ${account.id}`
  if (type === 'generic') await holdToQuotas(sql, organizationId, type)
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

/** The one member, or a first one, becomes the account's person. */
async function leaveOne(
  sql: Transaction,
  organizationId: string,
  { account, members: [only] }: Roster,
  newMember: AccountPlan['newMember'],
): Promise<void> {
  // An archived member may hold the reference that the remaining one takes on; its lock passes over with it.
  await sql`
    delete from keystride.member
    where organization_id = ${organizationId} and account_id = ${account.id} and archived_at is not null`
  if (only === undefined)
    await insertMember(sql, organizationId, account.id, { ...newMember, memberRef: account.userRef })
  else await rename(sql, organizationId, only, account.userRef)
}

/** False where there is one of this reference. */
async function insertAccount(sql: Transaction, organizationId: string, account: NewAccount): Promise<boolean> {
  const { count } = await sql`
    insert into keystride.account (organization_id, id, user_ref, type, display_name, created_at)
    values (${organizationId}, ${account.id}, ${account.userRef}, ${account.type}, ${account.displayName},
      ${new Date(account.createdAt)})
    on conflict (organization_id, user_ref) do nothing`
  return count === 1
}

/** Inserts the member, or brings the archived one of this reference back; nothing where there is no such account. */
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
  accounts: number
  shared: number
  members: number
  n_accounts: number
  n_accounts_generic: number
}

const quotasOf = (sql: Transaction, organizationId: string) => sql<QuotaRow[]>`
  select o.quota_mode = 'strict' as strict, o.quota_accounts as accounts, o.quota_shared_accounts as shared,
    o.quota_members as members, h.n_accounts, h.n_accounts_generic
  from keystride.organization o join keystride.headcount h using (organization_id)
  where o.organization_id = ${organizationId}`

/**
 * Exact after the insert: the headcount's trigger has counted it by then, and holds the row that every other creation of
 * the organization has to wait for. With `coming` more it is a look ahead.
 */
async function holdToQuotas(sql: Transaction, organizationId: string, type: AccountType, coming = 0): Promise<void> {
  const [quotas] = await quotasOf(sql, organizationId)
  if (quotas === undefined || !quotas.strict) return
  if (exceeds(quotas.n_accounts + coming, quotas.accounts)) {
    throw new Refusal(
      'accounts-quota',
      `ACCOUNTS_QUOTA_EXCEEDED: the license is for ${quotas.accounts} accounts, all in use`,
    )
  }
  if (type === 'generic' && exceeds(quotas.n_accounts_generic + coming, quotas.shared)) {
    throw new Refusal(
      'shared-accounts-quota',
      `SHARED_ACCOUNTS_QUOTA_EXCEEDED: the license is for ${quotas.shared} shared accounts, all in use`,
    )
  }
}

async function holdToMembersQuota(sql: Transaction, organizationId: string, nMembers: number): Promise<void> {
  const [quotas] = await quotasOf(sql, organizationId)
  if (quotas?.strict && exceeds(nMembers, quotas.members)) {
    throw new Refusal(
      'members-quota',
      `SHARED_ACCOUNT_MEMBERS_EXCEEDED: the license is for ${quotas.members} members of a shared account, all in use`,
    )
  }
}

export function toAccount(row: AccountRow): Account {
  return {
    id: row.account_id,
    userRef: row.user_ref,
    type: row.type,
    displayName: row.account_display_name,
    memberSelection: row.member_selection,
    groups: row.groups,
    tag: row.tag,
    createdAt: row.account_created_at.getTime(),
  }
}
