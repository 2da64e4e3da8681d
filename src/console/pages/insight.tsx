import type { Data, List } from '../answers.js'
import { get } from '../api.js'
import { count } from '../format.js'
import { useLoad } from '../load.js'
import { Bars } from '../parts/bars.js'
import { Card, Page } from '../parts/page.js'
import { Ranges } from '../parts/ranges.js'
import { SeriesChart } from '../parts/series-chart.js'
import { Empty, Show } from '../parts/states.js'
import { Wide } from '../parts/wide.js'
import { rangeNow } from '../range.js'
import { href } from '../router.js'
import { fill, t } from '../texts.js'
import { breakdownOf, Devices, Hours, Places, useWindow } from './connections.js'

const texts = t.insight

/** The hours, places and devices of sign-ins, the confidence, and the growth of the organization. */
export const Insight = () => (
  <Page title={texts.title} tools={<Ranges />}>
    <Hours />
    <Confidence />
    <div class="columns">
      <Places />
      <Applications />
      <Devices />
      <Breakdowns />
    </div>
    <Growth />
    <Groups />
  </Page>
)

interface Bin {
  readonly from: number
  readonly to: number
  readonly n: number
  readonly authenticated: number
  readonly challenged: number
  readonly blocked: number
}
const OUTCOMES = [
  ['auth', 'authenticated'],
  ['challenge', 'challenged'],
  ['block', 'blocked'],
] as const
const percent = (value: number): string => String(Math.round(value * 100))

/** The number of sign-ins by confidence and outcome, which shows where a threshold separates them. */
function Confidence() {
  const loaded = useWindow(
    async (date_from, signal) =>
      (await get<Data<{ readonly bins: readonly Bin[] }>>('/aggregations/confidence', { date_from }, signal)).data.bins,
  )
  return (
    <Card title={texts.confidence}>
      <p class="soft">{texts.confidenceHelp}</p>
      <Show of={loaded}>
        {(bins) => {
          const most = Math.max(...bins.map(({ n }) => n))
          return most === 0 ? (
            <Empty title={texts.empty} />
          ) : (
            <>
              <div class="histogram" role="img" aria-label={texts.confidence}>
                {bins.map((bin) => (
                  <div
                    key={bin.from}
                    class="bin"
                    title={fill(texts.bin, { from: percent(bin.from), to: percent(bin.to), n: count(bin.n) })}
                  >
                    {OUTCOMES.map(([outcome, field]) => (
                      <span
                        key={outcome}
                        class={`swatch ${outcome}`}
                        style={{ height: `${(100 * bin[field]) / most}%` }}
                      />
                    ))}
                  </div>
                ))}
              </div>
              <div class="scale soft small" aria-hidden="true">
                {[0, 0.25, 0.5, 0.75, 1].map((value) => (
                  <span key={value}>{value}</span>
                ))}
              </div>
              <details>
                <summary>{t.chart.table}</summary>
                <Wide label={texts.confidence}>
                  <ConfidenceTable bins={bins} />
                </Wide>
              </details>
            </>
          )
        }}
      </Show>
    </Card>
  )
}

const ConfidenceTable = ({ bins }: { readonly bins: readonly Bin[] }) => (
  <table class="figures">
    <thead>
      <tr>
        <th scope="col">{texts.confidenceOf}</th>
        {OUTCOMES.map(([outcome]) => (
          <th key={outcome} scope="col">
            {t.outcome[outcome]}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {bins.map((bin) => (
        <tr key={bin.from}>
          <th scope="row">{fill(texts.percents, { from: percent(bin.from), to: percent(bin.to) })}</th>
          {OUTCOMES.map(([outcome, field]) => (
            <td key={outcome}>{count(bin[field])}</td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)

function Applications() {
  const loaded = useWindow((date_from, signal) =>
    get<List<{ readonly application: string; readonly n: number }>>(
      '/aggregations/application/',
      { date_from },
      signal,
    ),
  )
  return (
    <Card title={texts.applications} aside={<a href={href('authentications', { range: rangeNow() })}>{texts.list}</a>}>
      <Show of={loaded}>
        {({ data }) => (
          <Bars
            label={texts.applications}
            bars={data.map(({ application, n }) => ({ name: application, n }))}
            empty={texts.empty}
          />
        )}
      </Show>
    </Card>
  )
}

const CONTEXT = ['network', 'location', 'impossible-travel', 'device', 'time'] as const
const BANDS = ['high', 'medium', 'low', 'unknown'] as const

/** The scores of each context indicator by band. */
function Breakdowns() {
  const loaded = useWindow((date_from, signal) =>
    Promise.all(CONTEXT.map((indicator) => breakdownOf(indicator, date_from, signal))),
  )
  return (
    <Card title={texts.context}>
      <p class="soft">{texts.contextHelp}</p>
      <Show of={loaded}>
        {(breakdowns) => (
          <Wide label={texts.context}>
            <table class="figures">
              <thead>
                <tr>
                  <th scope="col">{t.authentication.indicator}</th>
                  {BANDS.map((band) => (
                    <th key={band} scope="col">
                      {texts.bands[band]}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {breakdowns.map(({ indicator, enabled, scores }) => (
                  <tr key={indicator}>
                    <th scope="row">
                      {t.authentication.names[indicator as (typeof CONTEXT)[number]]}
                      {!enabled && <span class="soft small"> {texts.off}</span>}
                    </th>
                    {BANDS.map((band) => (
                      <td key={band}>{count(scores.find((one) => one.band === band)?.n ?? 0)}</td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </Wide>
        )}
      </Show>
    </Card>
  )
}

interface GrowthPoint {
  readonly date: string
  readonly n_users: number
}

function Growth() {
  const loaded = useWindow(
    async (date_from, signal) =>
      (await get<List<GrowthPoint>>('/users-growth', { date_from: date_from.slice(0, 10), bucket: 'day' }, signal))
        .data,
  )
  return (
    <Card title={texts.growth}>
      <Show of={loaded}>
        {(points) => (
          <SeriesChart
            label={texts.growth}
            dates={points.map(({ date }) => date)}
            kind="lines"
            series={[{ name: texts.users, colour: 'auth', values: points.map(({ n_users }) => n_users) }]}
          />
        )}
      </Show>
    </Card>
  )
}

function Groups() {
  const loaded = useLoad(
    (signal) => get<List<{ readonly group: string; readonly n_users: number }>>('/aggregations/groups/', {}, signal),
    [],
  )
  return (
    <Card title={texts.groups}>
      <Show of={loaded}>
        {({ data }) => (
          <Bars
            label={texts.groups}
            most={12}
            bars={data.map(({ group, n_users }) => ({ name: group, n: n_users }))}
            empty={texts.noGroups}
          />
        )}
      </Show>
    </Card>
  )
}
