import { ENROLLMENT, PROFILE_LIFETIME_MS } from '../../../domain/biometric-status.js'
import { READABLE_SAMPLE_FORMATS } from '../../../domain/sample-format.js'
import type { Roster } from '../../account.js'
import type { BlockedMember, Directory, DirectoryOrder, UserFilter } from '../../directory.js'
import type { Database, Transaction } from '../connection/client.js'
import { likeText } from '../connection/like-text.js'
import { type AccountRow, accountColumns, toAccount } from './account-row.js'
import { type MemberRow, memberColumns, toMember } from './member.js'

interface BlockedRow {
  user_ref: string
  member_ref: string
  display_name: string | null
  until: Date | null
}

/** Reads of all members of a large organization take longer than the usual limit of a statement. */
const STATEMENT_MS = 10_000

/** Accounts and people in PostgreSQL. */
export function postgresDirectory(database: Database): Directory {
  return {
    page: (organizationId, filter, order) =>
      database.scoped(
        organizationId,
        async (sql) => {
          const accounts = await sql<AccountRow[]>`
            select ${accountColumns(sql)} from keystride.account a ${lastOf(sql, organizationId, order)}
            where ${having(sql, organizationId, filter)}
            order by ${ordered(sql, order)} offset ${order.skip} limit ${order.limit}`
          const ids = `{${accounts.map(({ account_id }) => account_id).join(',')}}`
          const members = await sql<(MemberRow & { account_id: string })[]>`
            select m.account_id, ${memberColumns(sql)} from keystride.member m
            where m.organization_id = ${organizationId} and m.account_id = any (${ids}::uuid[]) and m.archived_at is null
            order by m.created_at, m.id`
          const byAccount = new Map(accounts.map(({ account_id }) => [account_id, [] as MemberRow[]]))
          for (const member of members) byAccount.get(member.account_id)?.push(member)
          return accounts.map((row): Roster => {
            const own = byAccount.get(row.account_id) ?? []
            return { account: toAccount(row), members: own.map(toMember) }
          })
        },
        { statementMs: STATEMENT_MS, slow: true },
      ),

    count: (organizationId, filter) =>
      database.scoped(
        organizationId,
        async (sql) => {
          const all = filter.userRef === null && filter.group === null && filter.profile === null
          const [row] = all
            ? await sql<{ n: number }[]>`
                select n_accounts as n from keystride.headcount_now(${organizationId})`
            : await sql<{ n: number }[]>`
                select count(*)::int as n from keystride.account a where ${having(sql, organizationId, filter)}`
          return row?.n ?? 0
        },
        { statementMs: STATEMENT_MS, slow: true },
      ),

    search: (organizationId, text, limit) =>
      database.scoped(organizationId, async (sql) => {
        const rows = await sql<{ user_ref: string }[]>`
          select a.user_ref from keystride.account a
          where a.organization_id = ${organizationId} and a.user_ref like ${likeText(text)}
          order by not starts_with(a.user_ref, ${text}), a.user_ref limit ${limit}`
        return rows.map((row) => row.user_ref)
      }),

    growth: (organizationId, { from, to }, bucket) =>
      database.scoped(organizationId, async (sql) => {
        const created = await sql<{ at: Date; n: number }[]>`
          select date_trunc(${bucket}, created_at, 'UTC') as at, count(*)::int as n from keystride.account
          where organization_id = ${organizationId} and created_at >= ${new Date(from)} and created_at < ${new Date(to)}
          group by 1 order by 1`
        const [before] = await sql<{ n: number }[]>`
          select count(*)::int as n from keystride.account
          where organization_id = ${organizationId} and created_at < ${new Date(from)}`
        return { before: before?.n ?? 0, created: created.map(({ at, n }) => ({ at: at.getTime(), n })) }
      }),

    arrivals: (organizationId, { from, to }) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<{ n_accounts: number; n_patterns: number }[]>`
          select (select count(*)::int from keystride.account where organization_id = ${organizationId}
              and created_at >= ${new Date(from)} and created_at < ${new Date(to)}) as n_accounts,
            (select count(*)::int from keystride.reference_pattern where organization_id = ${organizationId}
              and created_at >= ${new Date(from)} and created_at < ${new Date(to)}) as n_patterns`
        return { nAccounts: row?.n_accounts ?? 0, nPatterns: row?.n_patterns ?? 0 }
      }),

    groups: (organizationId) =>
      database.scoped(organizationId, async (sql) => {
        const rows = await sql<{ name: string; n: number }[]>`
          select g.name, count(*)::int as n from keystride.account a, jsonb_array_elements_text(a.groups) g (name)
          where a.organization_id = ${organizationId} and a.groups <> '[]' group by 1 order by n desc, g.name`
        return rows.map(({ name, n }) => ({ group: name, n }))
      }),

    blocked: (organizationId, now, { skip, limit }) =>
      database.scoped(organizationId, async (sql) => {
        const rows = await sql<BlockedRow[]>`
          select a.user_ref, m.member_ref, m.display_name, nullif(m.blocked_until, 'infinity') as until
          from keystride.member m
            join keystride.account a on a.organization_id = m.organization_id and a.id = m.account_id
          where ${blocked(sql, organizationId, now)} order by m.blocked_until desc, m.id offset ${skip} limit ${limit}`
        return rows.map(toBlocked)
      }),

    countBlocked: (organizationId, now) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<{ n: number }[]>`
          select count(*)::int as n from keystride.member m where ${blocked(sql, organizationId, now)}`
        return row?.n ?? 0
      }),
  }
}

/** The condition on an account `a`. Only accounts with a group are in the index of groups. */
const having = (sql: Transaction, organizationId: string, { userRef, group, profile }: UserFilter) => sql`
  a.organization_id = ${organizationId}
  ${userRef === null ? sql`` : sql`and a.user_ref like ${likeText(userRef)}`}
  ${group === null ? sql`` : sql`and a.groups <> '[]' and a.groups @> ${JSON.stringify([group])}::text::jsonb`}
  ${profile === null ? sql`` : sql`and a.id in (${withProfile(sql, organizationId, profile)})`}`

/** Accounts with a member of this profile status: `biometricStatus` of src/domain/biometric-status.ts as SQL. */
const withProfile = (
  sql: Transaction,
  organizationId: string,
  { status, targets, now }: NonNullable<UserFilter['profile']>,
) => sql`
  select m.account_id
  from keystride.member m
    cross join lateral (select m.n_visible + m.n_sensitive as n, greatest(m.completed_at, m.typed_at) as used_at) p
  where m.organization_id = ${organizationId} and m.archived_at is null and ${status} = case
    when m.successor_owner = ${ENROLLMENT} then 'in-progress'
    when p.n = 0 then case when m.ever_reset then 'reset' else 'not-ready' end
    when m.sample_format <> all (${`{${READABLE_SAMPLE_FORMATS.join(',')}}`}::smallint[]) then 'expired'
    when p.n >= ${targets.targetRefPatterns} and p.used_at < ${new Date(now - PROFILE_LIFETIME_MS)} then 'expired'
    when p.n < ${targets.targetRefPatterns} then 'in-progress'
    when p.n >= ${targets.fullRefPatterns} then 'full'
    else 'ok' end`

/** The last success of each account, joined if the order needs it. */
const lastOf = (sql: Transaction, organizationId: string, { sort }: DirectoryOrder) =>
  sort !== 'last_authentication'
    ? sql``
    : sql`left join (
        select m.account_id, max(m.last_success_at) as at from keystride.member m
        where m.organization_id = ${organizationId} and m.archived_at is null and m.last_success_at is not null
        group by 1) last on last.account_id = a.id`

const ordered = (sql: Transaction, { sort, descending }: DirectoryOrder) => {
  const direction = descending ? sql`desc` : sql`asc`
  if (sort === 'user_ref') return sql`a.user_ref ${direction}`
  // Ids are UUIDv7, so they are in the order of creation.
  if (sort === 'created') return sql`a.id ${direction}`
  return sql`last.at ${direction} nulls last, a.id desc`
}

const blocked = (sql: Transaction, organizationId: string, now: number) => sql`
  m.organization_id = ${organizationId} and m.archived_at is null and m.blocked_until > ${new Date(now)}`

const toBlocked = (row: BlockedRow): BlockedMember => ({
  userRef: row.user_ref,
  memberRef: row.member_ref,
  displayName: row.display_name,
  until: row.until?.getTime() ?? null,
})
