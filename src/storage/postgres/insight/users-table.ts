import type { TimeWindow } from '../../../domain/time-window.js'
import type { UserOrder, UserSort, UserStatistics } from '../../statistics.js'
import type { Database, Transaction } from '../connection/client.js'
import { likeText } from '../connection/like-text.js'

type Fragment = ReturnType<typeof moments>

interface UserRow {
  user_ref: string
  type: UserStatistics['type']
  n: number
  n_authenticated: number
  n_challenged: number
  n_blocked: number
  confidence: number | null
  confidence_biometrics: number | null
  last_at: Date | null
}

/** A sliding window, whose totals are those of `days` up to the last closed hour. */
interface Span {
  days: number
  start: Date
  until: Date
}

/** Largest number of names that are looked up one by one. No measurement behind it. */
const FEW = 2000
/** Time-out for a window without totals, such as a year of a large organization, which is read attempt by attempt. */
const STATEMENT_MS = 10_000

/** Memory for the users in the edges of a window, which the planner estimates at 1 % of up to 150 million attempts. */
const WORK_MEMORY = '32MB'

/** Implements `StatisticsStore.users`. */
export function usersTable(database: Database, organizationId: string, window: TimeWindow, order: UserOrder) {
  return database.scoped(
    organizationId,
    async (sql) => {
      // The generic plan, which a connection makes at its sixth call, sorts all users in 1.9 s instead of 30 ms. A set of users
      // whose estimate exceeds its memory is scanned completely for every row.
      await sql`
        select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('work_mem', ${WORK_MEMORY}, true)`
      if (order.sort === 'user_ref') return (await byName(sql, organizationId, window, order)).map(toUser)
      for (;;) {
        const span = await spanOf(sql, window)
        const rows = await anyOrder(sql, organizationId, { window, span }, order)
        // The edges do not match totals that have changed since.
        const after = span && (await spanOf(sql, window))
        if (after?.until.getTime() === span?.until.getTime()) return rows.map(toUser)
      }
    },
    { statementMs: STATEMENT_MS, slow: true },
  )
}

async function anyOrder(
  sql: Transaction,
  organizationId: string,
  { window, span }: { readonly window: TimeWindow; readonly span: Span | undefined },
  order: UserOrder,
): Promise<UserRow[]> {
  const edges = span === undefined ? { since: [window.from], before: [window.to], signs: [1] } : edgesOf(span, window)
  if (span === undefined || (await fewNamed(sql, organizationId, order)))
    return everybody(sql, organizationId, { ...edges, days: span?.days ?? 0 }, order)
  // For a deep page the planner prefers to read and sort all users, which takes 200 ms or more instead of 60 ms with the index.
  await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`
  return fromTotals(sql, organizationId, { ...edges, days: span.days }, order)
}

/** Whether few names pass the filter; an index by figures would then be scanned up to its end. */
async function fewNamed(sql: Transaction, organizationId: string, order: UserOrder): Promise<boolean> {
  if (order.userRefFilter === null) return false
  const [found] = await sql<{ n: number }[]>`
    select count(*)::int as n from (
      select 1 from keystride.account a
      where a.organization_id = ${organizationId} and ${named(sql, sql`a`, order)} limit ${FEW + 1}) some_named`
  return (found?.n ?? 0) <= FEW
}

/** The sliding window that ends within the last two days of this one and begins within two days of it. */
async function spanOf(sql: Transaction, { from, to }: TimeWindow): Promise<Span | undefined> {
  const [span] = await sql<Span[]>`
    select days, until - make_interval(hours => 24 * days) as start, until from keystride.user_totaled
    where organization_id = keystride.current_organization() and until <= ${new Date(to)}
      and until > ${new Date(to)}::timestamptz - interval '48 hours'
      and until - make_interval(hours => 24 * days) between ${new Date(from)}::timestamptz - interval '48 hours'
        and ${new Date(from)}::timestamptz + interval '48 hours'`
  return span
}

/** Intervals to add to or subtract from the totals of a span, so that they match the window; epoch ms. */
const edgesOf = (span: Span, { from, to }: TimeWindow) => {
  const [start, until] = [span.start.getTime(), span.until.getTime()]
  return {
    since: [Math.min(from, start), until],
    before: [Math.max(from, start), to],
    signs: [from < start ? 1 : -1, 1],
  }
}
type Edges = ReturnType<typeof edgesOf>
/** The edges of a window, and the days of the totals between them. */
type Totals = Edges & Pick<Span, 'days'>

const figures = (sql: Transaction, organizationId: string, { since, before, signs }: Edges) => sql`
  keystride.user_figures(${organizationId}, ${moments(sql, since)}, ${moments(sql, before)}, ${`{${signs.join(',')}}`}::int[])`

const moments = (sql: Transaction, at: readonly number[]) => sql`
  ${`{${at.map((one) => new Date(one).toISOString()).join(',')}}`}::timestamptz[]`

/**
 * Totals in the order of an index, of users with and without attempts, plus the users with attempts in the edges. The latter
 * are excluded from the index scan by a set, so that it takes a few steps per user.
 */
const fromTotals = (sql: Transaction, organizationId: string, { days, ...edges }: Totals, order: UserOrder) => {
  const untouched = sql`
    select t.account_id, t.user_ref, t.n, t.n_authenticated, t.n_challenged, t.n_blocked, t.sum_confidence,
      t.sum_biometrics, t.n_biometrics, t.last_at
    from keystride.user_total t
    where t.organization_id = ${organizationId} and t.days = ${days} and ${named(sql, sql`t`, order)}
      and t.account_id not in (select account_id from edge)`
  const reach = order.skip + order.limit
  return sql<UserRow[]>`
    with edge as materialized (select * from ${figures(sql, organizationId, edges)}),
    total as (
      (${untouched} and t.n > 0 order by ${ordered(sql, sql`t`, order)} limit ${reach})
      union all
      (${untouched} and t.n = 0 order by t.user_ref limit ${reach})
      union all
      select * from (${touched(sql, organizationId, days)}) e where ${named(sql, sql`e`, order)}),
    page as (select * from total t order by ${ordered(sql, sql`t`, order, true)} offset ${order.skip} limit ${order.limit})
    select p.user_ref, a.type, ${columns(sql, sql`p`)}
    from page p join keystride.account a on a.organization_id = ${organizationId} and a.id = p.account_id
    order by ${ordered(sql, sql`p`, order, true)}`
}

/** Looks up each user of the edges by key. There are few of them, which the planner does not know. */
const touched = (sql: Transaction, organizationId: string, days: number) => sql`
  select e.account_id, t.user_ref, e.n + t.n as n, e.n_authenticated + t.n_authenticated as n_authenticated,
    e.n_challenged + t.n_challenged as n_challenged, e.n_blocked + t.n_blocked as n_blocked,
    e.sum_confidence + t.sum_confidence as sum_confidence, e.sum_biometrics + t.sum_biometrics as sum_biometrics,
    e.n_biometrics + t.n_biometrics as n_biometrics,
    case when e.n + t.n > 0 then greatest(e.last_at, t.last_at) end as last_at
  from edge e
    cross join lateral (select * from keystride.user_total t
      where t.organization_id = ${organizationId} and t.days = ${days} and t.account_id = e.account_id offset 0) t`

/** A page of all users, including those without an attempt, in any order. */
const everybody = (sql: Transaction, organizationId: string, { days, ...edges }: Totals, order: UserOrder) => sql<
  UserRow[]
>`
  with edge as materialized (select * from ${figures(sql, organizationId, edges)}),
  total as (
    select a.user_ref, a.type, coalesce(t.n, 0) + coalesce(e.n, 0) as n,
      coalesce(t.n_authenticated, 0) + coalesce(e.n_authenticated, 0) as n_authenticated,
      coalesce(t.n_challenged, 0) + coalesce(e.n_challenged, 0) as n_challenged,
      coalesce(t.n_blocked, 0) + coalesce(e.n_blocked, 0) as n_blocked,
      coalesce(t.sum_confidence, 0) + coalesce(e.sum_confidence, 0) as sum_confidence,
      coalesce(t.sum_biometrics, 0) + coalesce(e.sum_biometrics, 0) as sum_biometrics,
      coalesce(t.n_biometrics, 0) + coalesce(e.n_biometrics, 0) as n_biometrics,
      case when coalesce(t.n, 0) + coalesce(e.n, 0) > 0 then greatest(t.last_at, e.last_at) end as last_at
    from keystride.account a
      left join ${order.userRefFilter === null ? sql`` : sql`lateral`} (select * from keystride.user_total u
        where u.organization_id = ${organizationId} and u.days = ${days}
          ${order.userRefFilter === null ? sql`` : sql`and u.account_id = a.id offset 0`}) t on t.account_id = a.id
      left join edge e on e.account_id = a.id
    where a.organization_id = ${organizationId} and ${named(sql, sql`a`, order)})
  select t.user_ref, t.type, ${columns(sql, sql`t`)} from total t
  order by ${ordered(sql, sql`t`, order, true)} offset ${order.skip} limit ${order.limit}`

/** Selects a page of names first, so that only their attempts are read. */
const byName = (sql: Transaction, organizationId: string, { from, to }: TimeWindow, order: UserOrder) => sql<UserRow[]>`
  with page as (
    select a.id, a.user_ref, a.type from keystride.account a
    where a.organization_id = ${organizationId} and ${named(sql, sql`a`, order)}
    order by ${ordered(sql, sql`a`, order)} offset ${order.skip} limit ${order.limit})
  select p.user_ref, p.type, t.n, t.n_authenticated, t.n_challenged, t.n_blocked, t.confidence, t.confidence_biometrics, t.last_at
  from page p cross join lateral (
    select count(*)::int as n, (count(*) filter (where authenticated))::int as n_authenticated,
      (count(*) filter (where recommended_action = 'challenge'))::int as n_challenged,
      (count(*) filter (where recommended_action = 'block'))::int as n_blocked, avg(confidence) as confidence,
      avg(confidence_biometrics) filter (where method = 'biometric') as confidence_biometrics, max(created_at) as last_at
    from keystride.authentication
    where organization_id = ${organizationId} and user_ref = p.user_ref
      and id >= keystride.uuid_from(${new Date(from)}) and id < keystride.uuid_from(${new Date(to)})) t
  order by ${ordered(sql, sql`p`, order)}`

const named = (sql: Transaction, t: Fragment, { userRefFilter }: UserOrder) =>
  userRefFilter === null ? sql`true` : sql`${t}.user_ref like ${likeText(userRefFilter)}`

/** Only a figure that can be null gets `nulls last`, which no index has. */
const ordered = (sql: Transaction, t: Fragment, { sort, descending }: UserOrder, nullable = false) => {
  if (sort === 'user_ref') return descending ? sql`${t}.user_ref desc` : sql`${t}.user_ref`
  const figure = SORTS[sort](sql, t)
  if (!descending) return sql`${figure}, ${t}.user_ref`
  return nullable ? sql`${figure} desc nulls last, ${t}.user_ref` : sql`${figure} desc, ${t}.user_ref`
}

/** The expressions of the orders, which must be those in the indexes of user_total. */
const SORTS: Record<Exclude<UserSort, 'user_ref'>, (sql: Transaction, t: Fragment) => Fragment> = {
  n: (sql, t) => sql`${t}.n`,
  authenticated: (sql, t) => sql`${t}.n_authenticated`,
  challenged: (sql, t) => sql`${t}.n_challenged`,
  blocked: (sql, t) => sql`${t}.n_blocked`,
  confidence: (sql, t) => sql`(${t}.sum_confidence / nullif(${t}.n, 0)::float8)`,
  last: (sql, t) => sql`${t}.last_at`,
}

const columns = (sql: Transaction, t: Fragment) => sql`
    ${t}.n::int as n, ${t}.n_authenticated::int as n_authenticated, ${t}.n_challenged::int as n_challenged,
    ${t}.n_blocked::int as n_blocked, ${t}.sum_confidence / (1e9 * nullif(${t}.n, 0)::float8) as confidence,
    ${t}.sum_biometrics / (1e9 * nullif(${t}.n_biometrics, 0)::float8) as confidence_biometrics,
    ${t}.last_at`

function toUser(row: UserRow): UserStatistics {
  return {
    userRef: row.user_ref,
    type: row.type,
    n: row.n,
    nAuthenticated: row.n_authenticated,
    nChallenged: row.n_challenged,
    nBlocked: row.n_blocked,
    confidence: row.confidence,
    confidenceBiometrics: row.confidence_biometrics,
    lastAt: row.last_at?.getTime() ?? null,
  }
}
