import { useMemo } from 'preact/hooks'
import type uPlot from 'uplot'
import { bucketTitle, count } from '../format.js'
import { t } from '../texts.js'
import { barsIn, Chart, type Colour, overTime } from './chart.js'

interface Series {
  readonly name: string
  /** A colour of the style by its name. */
  readonly colour: string
  /** A value for each date. */
  readonly values: readonly number[]
}

interface SeriesChartNeeds {
  /** The content in words. */
  readonly label: string
  /** UTC days, ISO. */
  readonly dates: readonly string[]
  readonly series: readonly Series[]
  /** `bars` are stacked, the first series at the bottom; the legend has sums over the dates. For `lines` it has the last values. */
  readonly kind: 'bars' | 'lines'
}

/** Series of figures by day. A table shows the same figures. */
export function SeriesChart({ label, dates, series, kind }: SeriesChartNeeds) {
  const data = useMemo((): uPlot.AlignedData => {
    const tops = series.map(({ values }, row) =>
      kind === 'lines'
        ? values
        : values.map((_, i) => series.slice(0, row + 1).reduce((sum, one) => sum + (one.values[i] ?? 0), 0)),
    )
    // The highest bars are drawn first, so that the lower ones cover them.
    return [dates.map((_, i) => i), ...tops.reverse()] as uPlot.AlignedData
  }, [dates, series, kind])
  const figureOf = ({ values }: Series) =>
    kind === 'bars' ? values.reduce((sum, value) => sum + value, 0) : (values.at(-1) ?? 0)
  return (
    <figure class="outcomes">
      <figcaption>
        <ul class="legend">
          {series.map((one) => (
            <li key={one.name}>
              <span class={`swatch ${one.colour}`} />
              {one.name}
              <b>{count(figureOf(one))}</b>
            </li>
          ))}
        </ul>
        <span class="soft">{t.chart.utc}</span>
      </figcaption>
      <Chart
        label={label}
        height={220}
        data={data}
        options={(colour, width) => optionsOf({ dates, series, kind, colour, width })}
      />
      <details>
        <summary>{t.chart.table}</summary>
        <div class="scroll">
          <table class="figures">
            <thead>
              <tr>
                <th scope="col">{t.chart.time}</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {dates.map((date, i) => (
                <tr key={date}>
                  <th scope="row">{bucketTitle(date, 'day')}</th>
                  {series.map(({ name, values }) => (
                    <td key={name}>{count(values[i] ?? 0)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  )
}

interface OptionsNeeds extends Omit<SeriesChartNeeds, 'label'> {
  readonly colour: Colour
  readonly width: number
}

function optionsOf({ dates, series, kind, colour, width }: OptionsNeeds): Omit<uPlot.Options, 'width' | 'height'> {
  const drawn = series.map(
    (one): uPlot.Series =>
      kind === 'bars'
        ? barsIn(colour(one.colour))
        : { stroke: colour(one.colour), width: 2, points: { show: dates.length === 1 } },
  )
  return {
    ...overTime({ dates, bucket: 'day', colour, width, countsPx: 64 }),
    cursor: { show: false },
    series: [{}, ...drawn.reverse()],
  }
}
