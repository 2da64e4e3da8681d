import type { Data, List } from '../answers.js'
import { get } from '../api.js'
import { count, weekdayName } from '../format.js'
import { useLoad } from '../load.js'
import { Bars } from '../parts/bars.js'
import { Card } from '../parts/page.js'
import { Empty, Show } from '../parts/states.js'
import { Wide } from '../parts/wide.js'
import { rangeNow, windowOf } from '../range.js'
import { fill, t } from '../texts.js'

const texts = t.insight

/** Loads figures from the start of the address's window on. */
export const useWindow = <T,>(load: (dateFrom: string, signal: AbortSignal) => Promise<T>) => {
  const range = rangeNow()
  return useLoad((signal) => load(windowOf(range).from, signal), [range])
}

interface OfUser {
  /** The user whose sign-ins are shown; absent for all users. */
  readonly userRef?: string
}

interface WeekHour {
  readonly day: number
  readonly hour: number
  readonly n: number
}
const DAYS = [0, 1, 2, 3, 4, 5, 6]
const HOURS = Array.from({ length: 24 }, (_, hour) => hour)
/** Steps of colour, from few to most. */
const STEPS = 5

/** A heat map of the week: hours by weekday, UTC. */
export function Hours({ userRef }: OfUser) {
  const loaded = useWindow(
    async (date_from, signal) =>
      (
        await get<Data<{ readonly week: readonly WeekHour[] }>>(
          '/aggregations/connexion-stats',
          { date_from, user_ref: userRef },
          signal,
        )
      ).data.week,
  )
  return (
    <Card title={texts.hours}>
      <p class="soft">{texts.hoursHelp}</p>
      <Show of={loaded}>
        {(week) => {
          const most = Math.max(...week.map(({ n }) => n))
          const of = (day: number, hour: number) => week.find((one) => one.day === day && one.hour === hour)?.n ?? 0
          return most === 0 ? (
            <Empty title={texts.empty} />
          ) : (
            <Wide label={texts.hours}>
              <table class="heat">
                <thead>
                  <tr>
                    <td />
                    {HOURS.map((hour) => (
                      <th key={hour} scope="col">
                        {hour}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {DAYS.map((day) => (
                    <tr key={day}>
                      <th scope="row">{weekdayName(day)}</th>
                      {HOURS.map((hour) => {
                        const n = of(day, hour)
                        const title = fill(texts.cell, { day: weekdayName(day), hour, n: count(n) })
                        return (
                          <td key={hour} class={`heat-${Math.ceil((STEPS * n) / most)}`} title={title}>
                            <span class="hidden">{count(n)}</span>
                          </td>
                        )
                      })}
                    </tr>
                  ))}
                </tbody>
              </table>
            </Wide>
          )
        }}
      </Show>
    </Card>
  )
}

interface CityCount {
  readonly country: string | null
  readonly city: string | null
  readonly n: number
}
const cityName = ({ city, country }: CityCount): string => [city, country].filter(Boolean).join(', ') || texts.unnamed

/** The places of sign-ins, most first. */
export function Places({ userRef }: OfUser) {
  const loaded = useWindow((date_from, signal) =>
    get<List<CityCount>>('/aggregations/geolocation', { date_from, user_ref: userRef }, signal),
  )
  return (
    <Card title={texts.places}>
      <Show of={loaded}>
        {({ data }) => (
          <Bars
            label={texts.places}
            bars={merged(data.map((one) => ({ name: cityName(one), n: one.n })))}
            empty={texts.noPlaces}
          />
        )}
      </Show>
    </Card>
  )
}

interface Named {
  readonly name: string
  readonly n: number
}

/** Adds the counts of equal names; most first. */
function merged(all: readonly Named[]): Named[] {
  const sums = new Map<string, number>()
  for (const { name, n } of all) sums.set(name, (sums.get(name) ?? 0) + n)
  return [...sums].map(([name, n]) => ({ name, n })).sort((a, b) => b.n - a.n)
}

interface Breakdown {
  readonly indicator: string
  readonly enabled: boolean
  readonly scores: readonly { readonly band: string; readonly n: number }[]
  readonly values: readonly { readonly signal: string; readonly value: string; readonly n: number }[]
}
/** The scores and values of a context indicator. */
export const breakdownOf = (indicator: string, date_from: string, signal: AbortSignal, userRef?: string) =>
  get<Data<Breakdown>>(`/aggregations/contextual/${indicator}`, { date_from, user_ref: userRef }, signal).then(
    ({ data }) => data,
  )

const SIGNALS = ['browser', 'os', 'kind'] as const

/** Browsers, systems and kinds of device. */
export function Devices({ userRef }: OfUser) {
  const loaded = useWindow((date_from, signal) => breakdownOf('device', date_from, signal, userRef))
  return (
    <Card title={texts.devices}>
      <Show of={loaded}>
        {({ values }) => (
          <>
            {SIGNALS.map((name) => (
              <div key={name} class="below">
                <h3>{texts.signals[name]}</h3>
                <Bars
                  label={texts.signals[name]}
                  most={5}
                  bars={values.filter((one) => one.signal === name).map(({ value, n }) => ({ name: value, n }))}
                  empty={texts.empty}
                />
              </div>
            ))}
          </>
        )}
      </Show>
    </Card>
  )
}
