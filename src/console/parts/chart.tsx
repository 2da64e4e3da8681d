import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { bucketName, count } from '../format.js'

const dark = matchMedia('(prefers-color-scheme: dark)')
const isDark = signal(dark.matches)
dark.addEventListener('change', () => {
  isDark.value = dark.matches
})

/** A colour of the style by its name, such as `ink`. */
export type Colour = (name: string) => string

interface ChartNeeds {
  /** The content of the chart in words. */
  readonly label: string
  readonly height: number
  readonly data: uPlot.AlignedData
  /** The options without size; called again when the colours change. */
  readonly options: (colour: Colour, width: number) => Omit<uPlot.Options, 'width' | 'height'>
}

/** uPlot in the colours of the style, as wide as its place. */
export function Chart({ label, height, data, options }: ChartNeeds) {
  const box = useRef<HTMLDivElement>(null)
  const theme = isDark.value
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const styles = getComputedStyle(element)
    const colour: Colour = (name) => styles.getPropertyValue(`--${name}`).trim()
    let plot: uPlot | null = null
    let width = 0
    const observer = new ResizeObserver(() => {
      if (element.clientWidth === width || element.clientWidth === 0) return
      width = element.clientWidth
      plot?.destroy()
      plot = new uPlot({ ...options(colour, width), width, height }, data, element)
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot?.destroy()
    }
  }, [data, theme, height])
  return <div ref={box} class="chart" role="img" aria-label={label} style={{ height: `${height}px` }} />
}

/** Room for a label of the time axis, px. */
const LABEL_PX = 72

interface TimeNeeds {
  /** The beginning of each bucket, ISO. */
  readonly dates: readonly string[]
  readonly bucket: 'hour' | 'day'
  readonly colour: Colour
  readonly width: number
  /** Room for the labels of the counts, px. */
  readonly countsPx: number
}

/** Options of every chart of counts over time. */
export function overTime({
  dates,
  bucket,
  colour,
  width,
  countsPx,
}: TimeNeeds): Pick<uPlot.Options, 'legend' | 'padding' | 'scales' | 'axes'> {
  const every = Math.max(1, Math.ceil((dates.length * LABEL_PX) / Math.max(1, width - 60)))
  const axis = { stroke: colour('soft'), font: '12px system-ui, sans-serif', ticks: { show: false } }
  return {
    legend: { show: false },
    padding: [8, 8, 0, 0],
    scales: {
      x: { time: false, range: () => [-0.6, dates.length - 0.4] },
      y: { range: (_, __, max) => [0, max > 0 ? max * 1.05 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 30,
        splits: () => dates.map((_, i) => i).filter((i) => (dates.length - 1 - i) % every === 0),
        values: (_, indexes) => indexes.map((i) => bucketName(dates[i] ?? '', bucket)),
      },
      {
        ...axis,
        size: countsPx,
        grid: { stroke: colour('line'), width: 1 },
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7],
        values: (_, values) => values.map(count),
      },
    ],
  }
}

/** A series of bars in this colour. */
export function barsIn(fill: string): uPlot.Series {
  const paths = uPlot.paths.bars?.({ size: [0.72, 48], gap: 1, radius: 0 })
  return { fill, width: 0, points: { show: false }, ...(paths && { paths }) }
}
