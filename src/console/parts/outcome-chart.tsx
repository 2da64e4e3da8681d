import { useMemo, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import type { Bucket } from '../answers.js'
import { bucketTitle, count } from '../format.js'
import { t } from '../texts.js'
import { barsIn, Chart, type Colour, overTime } from './chart.js'
import { Link } from './link.js'

const OUTCOMES = ['auth', 'challenge', 'block'] as const
const outcomesOf = (point: Bucket) => ({ auth: point.authenticated, challenge: point.challenged, block: point.blocked })

interface OutcomeChartNeeds {
  readonly label: string
  readonly points: readonly Bucket[]
  readonly bucket: 'hour' | 'day'
  /** The list behind a bucket. */
  readonly open: (point: Bucket, next: Bucket | undefined) => string
}

/** Sign-ins by outcome over time, stacked. A bucket leads to its list. A table shows the same figures. */
export function OutcomeChart({ label, points, bucket, open }: OutcomeChartNeeds) {
  const [at, setAt] = useState<number | null>(null)
  const data = useMemo((): uPlot.AlignedData => {
    const sums = points.map((point) => {
      const { auth, challenge, block } = outcomesOf(point)
      return [auth + challenge + block, auth + challenge, auth]
    })
    return [points.map((_, i) => i), ...[0, 1, 2].map((row) => sums.map((sum) => sum[row] ?? 0))] as uPlot.AlignedData
  }, [points])
  const shown = at === null ? undefined : points[at]
  const listOf = (i: number) => {
    const point = points[i]
    return point === undefined ? '' : open(point, points[i + 1])
  }
  const optionsOf = (colour: Colour, width: number) =>
    stackedBars({
      points,
      bucket,
      colour,
      width,
      hover: setAt,
      pick: (i) => document.getElementById(rowId(i))?.click(),
    })
  return (
    <figure class="outcomes">
      <figcaption>
        <ul class="legend">
          {OUTCOMES.map((outcome) => (
            <li key={outcome}>
              <span class={`swatch ${outcome}`} />
              {t.outcome[outcome]}
              <b>
                {count(
                  shown
                    ? outcomesOf(shown)[outcome]
                    : points.reduce((sum, point) => sum + outcomesOf(point)[outcome], 0),
                )}
              </b>
            </li>
          ))}
        </ul>
        <span class="soft">{shown ? bucketTitle(shown.date, bucket) : bucket === 'day' ? t.chart.utc : ''}</span>
      </figcaption>
      <Chart label={label} height={240} data={data} options={optionsOf} />
      <details>
        <summary>{t.chart.table}</summary>
        <OutcomeTable points={points} bucket={bucket} listOf={listOf} />
      </details>
    </figure>
  )
}

interface TableNeeds extends Pick<OutcomeChartNeeds, 'points' | 'bucket'> {
  readonly listOf: (i: number) => string
}

function OutcomeTable({ points, bucket, listOf }: TableNeeds) {
  return (
    <div class="scroll">
      <table class="figures">
        <thead>
          <tr>
            <th scope="col">{t.chart.time}</th>
            <th scope="col">{t.chart.total}</th>
            {OUTCOMES.map((outcome) => (
              <th scope="col" key={outcome}>
                {t.outcome[outcome]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.map((point, i) => (
            <tr key={point.date}>
              <th scope="row">
                <Link id={rowId(i)} to={listOf(i)}>
                  {bucketTitle(point.date, bucket)}
                </Link>
              </th>
              <td>{count(point.n)}</td>
              {OUTCOMES.map((outcome) => (
                <td key={outcome}>{count(outcomesOf(point)[outcome])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const rowId = (i: number) => `bucket-${i}`

interface BarsNeeds {
  readonly points: readonly Bucket[]
  readonly bucket: 'hour' | 'day'
  readonly colour: Colour
  readonly width: number
  readonly hover: (i: number | null) => void
  readonly pick: (i: number) => void
}

/** Stacked bars: each series is the sum of the outcomes from the bottom up to its own. */
function stackedBars({
  points,
  bucket,
  colour,
  width,
  hover,
  pick,
}: BarsNeeds): Omit<uPlot.Options, 'width' | 'height'> {
  return {
    ...overTime({ dates: points.map(({ date }) => date), bucket, colour, width, countsPx: 56 }),
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    series: [{}, ...(['block', 'challenge', 'auth'] as const).map((outcome) => barsIn(colour(outcome)))],
    hooks: {
      setCursor: [({ cursor }) => hover(cursor.idx ?? null)],
      ready: [
        (plot) =>
          plot.over.addEventListener('click', () => {
            if (typeof plot.cursor.idx === 'number') pick(plot.cursor.idx)
          }),
      ],
    },
  }
}
