import type { Account, AccountType, MemberSelection } from '../../domain/account.js'
import { NO_ATTEMPTS } from '../../domain/attempts.js'
import type { AccountStore, AccountWithMember } from '../account.js'
import type { Database, Transaction } from './client.js'
import { type MemberRow, memberColumns, toMember } from './member.js'

interface AccountRow {
  account_id: string
  user_ref: string
  type: AccountType
  display_name: string | null
  member_selection: MemberSelection
  account_created_at: Date
}

/** What the outer join gives where the account has no such member. */
type NoMemberRow = { [Column in keyof MemberRow]: null }

/** Accounts and their members in PostgreSQL. */
export function postgresAccounts(database: Database): AccountStore {
  return {
    create: (organizationId, account) =>
      database.scoped(organizationId, async (sql) => {
        const createdAt = new Date(account.createdAt)
        const { count } = await sql`
          insert into keystride.account (organization_id, id, user_ref, type, display_name, created_at)
          values (${organizationId}, ${account.id}, ${account.userRef}, ${account.type}, ${account.displayName},
            ${createdAt})
          on conflict (organization_id, user_ref) do nothing`
        if (count === 1 && account.member !== null)
          await sql`
            insert into keystride.member (organization_id, id, account_id, member_ref, attempts, created_at)
            values (${organizationId}, ${account.member.id}, ${account.id}, ${account.member.memberRef},
              ${JSON.stringify(NO_ATTEMPTS)}::text::jsonb, ${createdAt})`
        const found = await find(sql, organizationId, account.userRef, account.member?.memberRef ?? null)
        if (found === null) throw new Error('the account was removed while its creation looked for it')
        return { ...found, created: count === 1 }
      }),

    find: (organizationId, userRef, memberRef) =>
      database.scoped(organizationId, (sql) => find(sql, organizationId, userRef, memberRef)),

    remove: (organizationId, userRef) => database.scoped(organizationId, (sql) => remove(sql, organizationId, userRef)),
  }
}

async function find(
  sql: Transaction,
  organizationId: string,
  userRef: string,
  memberRef: string | null,
): Promise<AccountWithMember | null> {
  const [row] = await sql<(AccountRow & (MemberRow | NoMemberRow))[]>`
    select a.id as account_id, a.user_ref, a.type, a.display_name, a.member_selection,
      a.created_at as account_created_at, ${memberColumns(sql)}
    from keystride.account a left join keystride.member m
      on m.organization_id = a.organization_id and m.account_id = a.id
      and m.member_ref = coalesce(${memberRef}, case a.type when 'nominative' then a.user_ref end)
    where a.organization_id = ${organizationId} and a.user_ref = ${userRef}`
  if (row === undefined) return null
  return { account: toAccount(row), member: row.id === null ? null : toMember(row) }
}

/** Locks go account, members, then the rest: the order of every other writer, so that none of them deadlocks with this. */
async function remove(sql: Transaction, organizationId: string, userRef: string) {
  const [account] = await sql<{ id: string }[]>`
    select id from keystride.account where organization_id = ${organizationId} and user_ref = ${userRef} for update`
  if (account === undefined) return null
  const members = await sql<{ id: string }[]>`
    select id from keystride.member where organization_id = ${organizationId} and account_id = ${account.id}
    order by id for update`
  const ids = `{${members.map(({ id }) => id).join(',')}}`
  const { count } = await sql`
    delete from keystride.reference_pattern
    where organization_id = ${organizationId} and member_id = any (${ids}::uuid[])`
  await sql`
    delete from keystride.replay_mark where organization_id = ${organizationId} and member_id = any (${ids}::uuid[])`
  await sql`delete from keystride.authentication where organization_id = ${organizationId} and user_ref = ${userRef}`
  await sql`delete from keystride.session where organization_id = ${organizationId} and user_ref = ${userRef}`
  await sql`delete from keystride.member where organization_id = ${organizationId} and account_id = ${account.id}`
  await sql`delete from keystride.account where organization_id = ${organizationId} and id = ${account.id}`
  return { nPatternsDeleted: count }
}

function toAccount(row: AccountRow): Account {
  return {
    id: row.account_id,
    userRef: row.user_ref,
    type: row.type,
    displayName: row.display_name,
    memberSelection: row.member_selection,
    createdAt: row.account_created_at.getTime(),
  }
}
