import type { Data, List } from '../answers.js'
import { get } from '../api.js'
import { count } from '../format.js'
import { useLoad } from '../load.js'
import type { Organization } from '../organization.js'
import { Badge } from '../parts/badge.js'
import { Card, Page } from '../parts/page.js'
import { Ranges } from '../parts/ranges.js'
import { SeriesChart } from '../parts/series-chart.js'
import { Empty, Show } from '../parts/states.js'
import { rangeNow, windowOf } from '../range.js'
import { fill, t } from '../texts.js'

const texts = t.usage

export const Usage = () => (
  <Page title={texts.title} tools={<Ranges />}>
    <Quotas />
    <Ledger />
    <Requests />
  </Page>
)

function Quotas() {
  const loaded = useLoad((signal) => get<Data<Organization>>('/organization', {}, signal), [])
  return (
    <Show of={loaded}>
      {({ data: { quotas, use, over_quota } }) => (
        <Card title={texts.quotas} aside={over_quota ? <Badge tone="bad">{texts.over}</Badge> : undefined}>
          <dl class="facts">
            <Quota name={texts.accounts} n={use.n_accounts} quota={quotas.accounts} />
            <Quota name={texts.shared} n={use.n_accounts_generic} quota={quotas.shared_accounts} />
            <dt>{texts.members}</dt>
            <dd>
              {quotas.members_per_shared_account === 0 ? texts.unlimited : count(quotas.members_per_shared_account)}
            </dd>
            <dt>{texts.people}</dt>
            <dd>{count(use.n_users)}</dd>
          </dl>
          <p class="soft small">{texts.modes[quotas.mode]}</p>
        </Card>
      )}
    </Show>
  )
}

const Quota = ({ name, n, quota }: { readonly name: string; readonly n: number; readonly quota: number }) => (
  <>
    <dt>{name}</dt>
    <dd>
      {quota === 0
        ? fill(texts.ofUnlimited, { n: count(n) })
        : fill(texts.ofQuota, { n: count(n), quota: count(quota) })}
      {quota > 0 && <progress value={Math.min(n, quota)} max={quota} aria-label={name} />}
    </dd>
  </>
)

interface Event {
  readonly date: string
  readonly n_accounts: number
  readonly n_users_nominative: number
  readonly n_users_generic: number
}
/** Number of the ledger's first events, and of its last ones, that are drawn: the API's largest page. */
const EVENTS = 500

/** The numbers of accounts and people at the end of each day of the window, from the ledger's events. */
function Ledger() {
  const range = rangeNow()
  const loaded = useLoad(
    async (signal) => {
      const { from, days } = daysOf(range)
      const page = (query: object) => get<List<Event>>('/usage/history', { date_from: from, ...query }, signal)
      const first = await page({ limit: EVENTS })
      const rest = first.count > EVENTS ? (await page({ skip: first.count - EVENTS, limit: EVENTS })).data : []
      return { days, states: statesAt(days, [...first.data, ...rest]), count: first.count }
    },
    [range],
  )
  return (
    <Card title={texts.ledger}>
      <p class="soft">{texts.ledgerHelp}</p>
      <Show of={loaded}>
        {({ days, states, count: n }) => (
          <>
            <SeriesChart
              label={texts.ledger}
              dates={days}
              kind="lines"
              series={[
                { name: texts.accounts, colour: 'auth', values: states.map(({ n_accounts }) => n_accounts) },
                {
                  name: texts.people,
                  colour: 'challenge',
                  values: states.map(({ n_users_nominative, n_users_generic }) => n_users_nominative + n_users_generic),
                },
              ]}
            />
            {n > 2 * EVENTS && <p class="soft small">{fill(texts.cut, { n: count(EVENTS), all: count(n) })}</p>}
          </>
        )}
      </Show>
    </Card>
  )
}

const DAY_MS = 24 * 3600 * 1000

/** Whole UTC days of a range, today included. */
function daysOf(range: ReturnType<typeof rangeNow>) {
  const from = windowOf(range).from.slice(0, 10)
  const days: string[] = []
  for (let at = Date.parse(from); at <= Date.now(); at += DAY_MS) days.push(new Date(at).toISOString())
  return { from: days[0] ?? from, days }
}

const NOBODY: Event = { date: '', n_accounts: 0, n_users_nominative: 0, n_users_generic: 0 }

/** The latest state at the end of each day; events are oldest first. */
const statesAt = (days: readonly string[], events: readonly Event[]): Event[] =>
  days.map((day) => {
    const end = new Date(Date.parse(day) + DAY_MS).toISOString()
    return events.filter(({ date }) => date < end).at(-1) ?? NOBODY
  })

interface Day {
  readonly date: string
  readonly n_requests: number
  readonly by_endpoint_class: Readonly<Record<'verify' | 'enroll' | 'bootstrap' | 'other', number>>
  readonly n_active_users_max: number
}
const CLASSES = [
  ['verify', 'auth'],
  ['bootstrap', 'challenge'],
  ['enroll', 'block'],
  ['other', 'edge'],
] as const

function Requests() {
  const range = rangeNow()
  const loaded = useLoad(
    async (signal) => (await get<List<Day>>('/usage/api', { date_from: daysOf(range).from }, signal)).data,
    [range],
  )
  return (
    <Card title={texts.requests}>
      <Show of={loaded}>
        {(days) =>
          days.every(({ n_requests }) => n_requests === 0) ? (
            <Empty title={texts.noRequests} />
          ) : (
            <>
              <SeriesChart
                label={texts.requests}
                dates={days.map(({ date }) => date)}
                kind="bars"
                series={CLASSES.map(([name, colour]) => ({
                  name: texts.classes[name],
                  colour,
                  values: days.map(({ by_endpoint_class }) => by_endpoint_class[name]),
                }))}
              />
              <p class="soft small">
                {fill(texts.peak, { n: count(Math.max(...days.map(({ n_active_users_max }) => n_active_users_max))) })}
              </p>
            </>
          )
        }
      </Show>
    </Card>
  )
}
