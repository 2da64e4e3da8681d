import { escaped, plot } from '../load/plot.js'
import { offlinePage } from '../load/style.js'
import type { Spread } from '../shared/spread.js'
import type { Grown } from './sign-ins.js'

/** A page with a plot of each kind of growth: the median sign-in at each size, and its lowest and highest round. */
export function growthPage(grown: Readonly<Record<string, readonly Grown[]>>, machine: string): string {
  const sections = Object.entries(grown).map(([what, steps]) => {
    const xOf = ({ size }: Grown) => Math.log10(size / (steps[0]?.size ?? size))
    const drawn = (yLabel: string, of: (step: Grown) => Spread) => {
      const line = (name: 'median' | 'min' | 'max', colour: 'a' | 'faint') => ({
        ...{ name, colour, dots: name === 'median' },
        points: steps
          .map((step): [number, number] => [xOf(step), of(step)[name]])
          // Processor times are known on Linux only.
          .filter(([, y]) => Number.isFinite(y)),
      })
      return plot({
        ...{ title: `${yLabel} by ${what}`, xLabel: `${what}, logarithmic`, yLabel },
        xTicks: steps.map((step): [number, string] => [xOf(step), step.size.toLocaleString('en')]),
        lines: [line('max', 'faint'), line('median', 'a'), line('min', 'faint')],
      })
    }
    return `<section><h2>${escaped(what)}</h2>${drawn('ms a sign-in', ({ p50_ms }) => p50_ms)}${drawn('µs of PostgreSQL a sign-in', ({ postgres_us }) => postgres_us)}</section>`
  })
  const head = `<header><h1>Cost of a sign-in as a deployment grows</h1><p>${escaped(machine)}</p></header>`
  return offlinePage('Growth', [head, ...sections].join('\n'))
}
