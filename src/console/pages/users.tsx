import type { List } from '../answers.js'
import { get } from '../api.js'
import { count, counted, moment, score, share } from '../format.js'
import { useLoad } from '../load.js'
import { Badge } from '../parts/badge.js'
import { Choice, Filter, filterNow } from '../parts/filter.js'
import { Page } from '../parts/page.js'
import { ProfileBadge } from '../parts/profile-status.js'
import { Ranges } from '../parts/ranges.js'
import { userHref } from '../parts/search.js'
import { Empty } from '../parts/states.js'
import { type Column, getRows, orderNow, skipNow, Table } from '../parts/table.js'
import { Tabs } from '../parts/tabs.js'
import { Time } from '../parts/time.js'
import { TwoLines } from '../parts/two-lines.js'
import { rangeNow, windowOf } from '../range.js'
import { href, viewAddress } from '../router.js'
import { fill, t } from '../texts.js'
import type { LockedMember, User, UserStatistics } from '../users.js'

const texts = t.users
const VIEWS = ['all', 'activity', 'locked'] as const
type View = (typeof VIEWS)[number]
const viewNow = (): View => VIEWS.find((view) => view === viewAddress.value.query.get('view')) ?? 'all'

export function Users() {
  const view = viewNow()
  const Rows = { all: All, activity: Activity, locked: Locked }[view]
  return (
    <Page title={texts.title} tools={view === 'activity' ? <Ranges /> : undefined}>
      <div class="sieve filters">
        <Tabs
          label={texts.views}
          tabs={VIEWS.map((one) => ({
            name: texts[one],
            href: href('users', {
              view: one === 'all' ? null : one,
              filter: one === 'locked' ? null : filterNow('filter'),
            }),
            current: one === view,
          }))}
        />
        {view !== 'locked' && <Filter name="filter" label={texts.filter} />}
        {view === 'all' && <Choices />}
      </div>
      <div class="card flush">
        <Rows />
      </div>
    </Page>
  )
}

const Name = ({ userRef, name }: { readonly userRef: string; readonly name: string | null }) => (
  <TwoLines first={userRef} second={name === userRef ? null : name} />
)

/** Filters by profile status and, if the organization has groups, by group. */
function Choices() {
  const { data } = useLoad((signal) => get<List<{ readonly group: string }>>('/aggregations/groups/', {}, signal), [])
  const groups = data?.data.slice(0, GROUPS_MAX).map(({ group }) => group) ?? []
  const chosen = filterNow('group')
  const all = chosen === null || groups.includes(chosen) ? groups : [chosen, ...groups]
  return (
    <>
      <Choice name="status" label={texts.profile} names={t.profile} />
      {all.length > 0 && (
        <Choice name="group" label={texts.group} names={Object.fromEntries(all.map((one) => [one, one]))} />
      )}
    </>
  )
}
/** Number of groups to choose from, which are the largest ones. */
const GROUPS_MAX = 200

const isFiltered = () => ['status', 'group'].some((name) => filterNow(name) !== null)

const NoUsers = () =>
  isFiltered() ? (
    <Empty title={texts.noneSuch} />
  ) : filterNow('filter') === null ? (
    <Empty title={texts.empty}>
      <p>{texts.emptyHelp}</p>
    </Empty>
  ) : (
    <Empty title={texts.noMatch} />
  )

function Lock({ user }: { readonly user: User }) {
  if (!user.locked) return <>{t.none}</>
  const until = user.locked_until
  return (
    <Badge tone="bad">{until === null ? texts.lockedBadge : fill(texts.lockedUntil, { time: moment(until) })}</Badge>
  )
}

const ALL: readonly Column<User>[] = [
  {
    name: texts.user,
    show: ({ user_ref, user_display_name }) => <Name userRef={user_ref} name={user_display_name} />,
    sort: 'user_ref',
  },
  {
    name: texts.profile,
    show: ({ biometric_status, n_members }) =>
      biometric_status === null ? counted(texts.members, n_members) : <ProfileBadge status={biometric_status} />,
  },
  { name: texts.references, show: ({ n_patterns_ref }) => count(n_patterns_ref), figure: true },
  { name: texts.groups, show: ({ groups }) => (groups.length === 0 ? t.none : groups.join(', ')) },
  { name: texts.lock, show: (user) => <Lock user={user} /> },
  {
    name: texts.last,
    show: ({ last_authentication_at }) => <Time at={last_authentication_at} />,
    sort: 'last_authentication',
  },
  { name: texts.created, show: ({ created_at }) => <Time at={created_at} />, sort: 'created' },
]

function All() {
  const [skip, filter, status, group] = [skipNow(), filterNow('filter'), filterNow('status'), filterNow('group')]
  const order = orderNow(ALL, 'created')
  const loaded = useLoad(
    (signal) =>
      getRows<User>(
        '/users',
        {
          user_ref_filter: filter ?? undefined,
          biometric_status: status ?? undefined,
          group: group ?? undefined,
          sort: order.by,
          order: order.order,
        },
        signal,
      ),
    [skip, filter, status, group, order.by, order.order],
  )
  const idOf = ({ user_ref }: User) => user_ref
  return (
    <Table
      label={texts.all}
      of={loaded}
      columns={ALL}
      idOf={idOf}
      to={(user) => userHref(user.user_ref)}
      order={order}
      empty={<NoUsers />}
    />
  )
}

const ACTIVITY: readonly Column<UserStatistics>[] = [
  { name: texts.user, show: ({ user_ref }) => <Name userRef={user_ref} name={null} />, sort: 'user_ref' },
  { name: texts.signIns, show: ({ n }) => count(n), figure: true, sort: 'n' },
  {
    name: t.outcome.auth,
    show: ({ authenticated }) => count(authenticated),
    figure: true,
    sort: 'authenticated',
  },
  { name: t.outcome.challenge, show: ({ challenged }) => count(challenged), figure: true, sort: 'challenged' },
  { name: t.outcome.block, show: ({ blocked }) => count(blocked), figure: true, sort: 'blocked' },
  { name: texts.success, show: ({ n, authenticated }) => share(n === 0 ? null : authenticated / n), figure: true },
  { name: texts.confidence, show: ({ confidence }) => score(confidence), figure: true, sort: 'confidence' },
  { name: texts.lastAttempt, show: ({ last_attempt_at }) => <Time at={last_attempt_at} />, sort: 'last' },
]

/** Users in the order of one figure of a window. */
function Activity() {
  const [skip, filter, range] = [skipNow(), filterNow('filter'), rangeNow()]
  const order = orderNow(ACTIVITY, 'n')
  const loaded = useLoad(
    (signal) =>
      getRows<UserStatistics>(
        '/aggregations/users',
        {
          sort: order.by,
          order: order.order,
          date_from: windowOf(range).from,
          user_ref_filter: filter ?? undefined,
        },
        signal,
      ),
    [skip, filter, range, order.by, order.order],
  )
  return (
    <Table
      label={texts.activity}
      of={loaded}
      columns={ACTIVITY}
      idOf={(user) => user.user_ref}
      to={(user) => userHref(user.user_ref)}
      order={order}
      empty={<NoUsers />}
    />
  )
}

const LOCKED: readonly Column<LockedMember>[] = [
  { name: texts.user, show: ({ user_ref, user_display_name }) => <Name userRef={user_ref} name={user_display_name} /> },
  {
    name: texts.member,
    show: ({ user_ref, member_ref }) => (member_ref === user_ref ? t.none : member_ref),
    exact: true,
  },
  {
    name: texts.until,
    show: ({ blocked_until }) => (blocked_until === null ? texts.untilOpened : <Time at={blocked_until} />),
  },
]

function Locked() {
  const skip = skipNow()
  const loaded = useLoad((signal) => getRows<LockedMember>('/aggregations/blocked-users', {}, signal), [skip])
  return (
    <Table
      label={texts.locked}
      of={loaded}
      columns={LOCKED}
      idOf={(member) => `${member.user_ref} ${member.member_ref}`}
      to={(member) => userHref(member.user_ref)}
      empty={<Empty title={texts.noneLocked} />}
    />
  )
}
