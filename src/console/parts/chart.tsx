import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'

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
