import type { List } from '../answers.js'
import { get } from '../api.js'
import type { Authentication } from '../authentications.js'
import { moment, score } from '../format.js'
import { useLoad } from '../load.js'
import { OutcomeBadge } from '../parts/badge.js'
import { Choice, Filter, filterNow } from '../parts/filter.js'
import { Page } from '../parts/page.js'
import { Ranges } from '../parts/ranges.js'
import { Empty } from '../parts/states.js'
import { type Column, getRows, skipNow, Table } from '../parts/table.js'
import { Time } from '../parts/time.js'
import { TwoLines } from '../parts/two-lines.js'
import { rangeNow, windowOf } from '../range.js'
import { href, hrefWith, navigate, viewAddress } from '../router.js'
import { fill, t } from '../texts.js'

const texts = t.authentications
/** With the live switch on, the first page is read at this interval. */
const LIVE_MS = 3_000

/** A time in the address; null if it is absent or invalid. */
function momentNow(name: string): string | null {
  const text = viewAddress.value.query.get(name)
  return text === null || Number.isNaN(Date.parse(text)) ? null : text
}

/** The list of sign-ins. Every filter is in the address, so a figure of another page leads to its list. */
export function Authentications() {
  const { query } = viewAddress.value
  const [from, to, user] = [momentNow('from'), momentNow('to'), filterNow('user')]
  const [outcome, method, reason] = [filterNow('outcome'), filterNow('method'), filterNow('reason')]
  const [range, skip, application] = [rangeNow(), skipNow(), filterNow('application')]
  const live = query.get('live') !== null && skip === 0 && to === null
  const loaded = useLoad(
    (signal) =>
      getRows<Authentication>(
        '/authentications',
        {
          date_from: from ?? windowOf(range).from,
          date_to: to ?? undefined,
          user_ref: user ?? undefined,
          recommended_action: outcome ?? undefined,
          auth_method: method ?? undefined,
          reason: reason ?? undefined,
          application: application ?? undefined,
        },
        signal,
      ),
    [from, to, range, skip, user, outcome, method, reason, application],
    live ? LIVE_MS : null,
  )
  return (
    <Page
      title={texts.title}
      tools={
        <>
          <Live on={live} possible={to === null} />
          {from === null && <Ranges />}
        </>
      }
    >
      {from !== null && <Window from={from} to={to} />}
      <div class="sieve filters">
        <Filter name="user" label={texts.userFilter} />
        <Choice name="outcome" label={texts.outcome} names={t.outcome} />
        <Choice name="method" label={texts.method} names={texts.methods} />
        <Choice name="reason" label={texts.reason} names={t.user.reasons} />
        <Applications />
      </div>
      <div class="card flush">
        <Table
          label={texts.title}
          of={loaded}
          columns={COLUMNS}
          idOf={({ id }) => id}
          to={({ id }) => href(`authentications/${id}`)}
          empty={<Nothing />}
        />
      </div>
    </Page>
  )
}

/** The window of the chart's bucket that led here, and a link back to a range. */
const Window = ({ from, to }: { readonly from: string; readonly to: string | null }) => (
  <p class="soft">
    {fill(to === null ? texts.since : texts.between, { from: moment(from), to: to === null ? '' : moment(to) })}{' '}
    <a href={hrefWith({ from: null, to: null, skip: null })}>{texts.wholeRange}</a>
  </p>
)

/** Shows new sign-ins as they come. Only the first page of a window without an end can do so. */
const Live = ({ on, possible }: { readonly on: boolean; readonly possible: boolean }) => (
  <label class="check">
    <input
      type="checkbox"
      checked={on}
      disabled={!possible}
      onChange={({ currentTarget: { checked } }) =>
        navigate(hrefWith({ live: checked ? '1' : null, skip: null }), { replace: true })
      }
    />
    {texts.live}
  </label>
)

/** The applications of the last 90 days. */
function Applications() {
  const { data } = useLoad(
    (signal) =>
      get<List<{ readonly application: string }>>(
        '/aggregations/application/',
        { date_from: windowOf('90d').from },
        signal,
      ),
    [],
  )
  const known = data?.data.map(({ application }) => application) ?? []
  const current = filterNow('application')
  const all = current === null || known.includes(current) ? known : [current, ...known]
  return (
    <Choice name="application" label={texts.application} names={Object.fromEntries(all.map((one) => [one, one]))} />
  )
}

const Nothing = () => {
  const filtered = ['user', 'outcome', 'method', 'reason', 'application'].some((name) => filterNow(name) !== null)
  return (
    <Empty title={filtered ? texts.noMatch : texts.empty}>
      {filtered && (
        <p>
          <a href={href('authentications')}>{texts.noFilter}</a>
        </p>
      )}
    </Empty>
  )
}

const methodOf = ({ auth_method }: Authentication): string => texts.methods[auth_method]

const COLUMNS: readonly Column<Authentication>[] = [
  { name: texts.time, show: ({ created_at }) => <Time at={created_at} /> },
  {
    name: texts.user,
    show: ({ user_ref, member_ref, account_type }) => (
      <TwoLines first={user_ref} second={account_type === 'generic' ? member_ref : null} />
    ),
  },
  { name: texts.method, show: methodOf },
  {
    name: texts.outcome,
    show: ({ recommended_action, reason }) => (
      <TwoLines
        first={<OutcomeBadge outcome={recommended_action} />}
        second={reason === '' ? null : t.user.reasons[reason]}
      />
    ),
  },
  {
    name: texts.confidence,
    show: ({ auth_method, confidence }) => score(auth_method === 'biometric' ? confidence : null),
    figure: true,
  },
  { name: texts.application, show: ({ application }) => application ?? t.none },
  {
    name: texts.ip,
    show: ({ ip }) => (
      <span class="named address" title={ip ?? undefined}>
        {ip ?? t.none}
      </span>
    ),
  },
]
