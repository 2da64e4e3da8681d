import { percentileCurve } from './histogram.js'
import { type Line, plot } from './plot.js'
import { shownMs, shownNumber } from './quantities.js'
import type { Report, StepReport } from './report-schema.js'
import { loopOf } from './text-report.js'

const NINES = [
  [0, '0 %'],
  [Math.log10(2), '50 %'],
  [1, '90 %'],
  [2, '99 %'],
  [3, '99.9 %'],
  [4, '99.99 %'],
  [5, '99.999 %'],
] as const

/** Latency by percentile; the axis is linear in nines, so that the tail is readable. */
export function percentilePlot(step: StepReport): string {
  const line = (name: string, operation: 'signin' | 'verify' | 'bootstrap', colour: Line['colour']): Line => ({
    name,
    colour,
    points: percentileCurve(step.operations[operation]?.histogram ?? ''),
  })
  return plot({
    title: `Latency by percentile, ${loopOf(step)}`,
    xLabel: 'share of requests',
    yLabel: 'ms',
    xTicks: NINES,
    lines: [
      line('whole sign-in', 'signin', 'c'),
      line('verify', 'verify', 'b'),
      line('bootstrap', 'bootstrap', 'a'),
    ].filter(({ points }) => points.length > 0),
  })
}

/** Seconds of all steps in sequence; each step's seconds count from its start. */
function overTime(steps: readonly StepReport[]) {
  let start = 0
  const marks: { at: number; label: string }[] = []
  const serviceSeconds: (StepReport['service_series'][number] & { at: number })[] = []
  const seconds = steps.flatMap((step) => {
    const from = start
    start += Math.ceil(step.seconds)
    if (steps.length > 1) marks.push({ at: from, label: loopOf(step) })
    // Answers after the last whole second belong to requests begun before it; no request begins there.
    const whole = Math.max(1, Math.floor(step.seconds))
    serviceSeconds.push(...step.service_series.map((second) => ({ ...second, at: from + second.second + 0.5 })))
    return step.series
      .filter(({ second }) => second < whole)
      .map((second) => ({ ...second, at: from + second.second + 0.5 }))
  })
  return { seconds, serviceSeconds, marks }
}

/** Latency and sign-ins per second, all steps in sequence. */
export function timePlots(steps: readonly StepReport[]): string {
  const { seconds, serviceSeconds, marks } = overTime(steps)
  const measured = (of: (second: (typeof seconds)[number]) => number | null) => curve(seconds, of)
  const byService = (of: (second: (typeof serviceSeconds)[number]) => number | null) => curve(serviceSeconds, of)
  const xLabel = 'seconds of measured time'
  return (
    plot({
      title: 'Latency over time',
      xLabel,
      yLabel: 'ms',
      marks,
      lines: (
        [
          { name: 'whole sign-in p99', colour: 'c', points: measured(({ signin_p99_ms }) => signin_p99_ms) },
          { name: 'verify p99', colour: 'b', points: measured(({ p99_ms }) => p99_ms) },
          { name: 'verify p50', colour: 'a', points: measured(({ p50_ms }) => p50_ms) },
          {
            name: 'verify p99 by the service',
            colour: 'faint',
            points: byService(({ verify_p99_ms }) => verify_p99_ms),
          },
        ] satisfies Line[]
      ).filter(({ points }) => points.length > 0),
    }) +
    plot({
      title: 'Sign-ins over time',
      xLabel,
      yLabel: 'a second',
      marks,
      lines: [
        { name: 'begun', colour: 'faint', points: measured(({ arrivals }) => arrivals) },
        { name: 'completed', colour: 'a', points: measured(({ completed }) => completed) },
        { name: 'errors', colour: 'bad', points: measured(({ errors }) => errors) },
      ],
    }) +
    (serviceSeconds.length === 0
      ? ''
      : plot({
          title: 'Processor of the service, by its metrics',
          xLabel,
          yLabel: 'cores',
          marks,
          lines: [{ name: 'all its processes', colour: 'a', points: byService(({ cpu_cores }) => cpu_cores) }],
        }) +
        plot({
          title: 'Requests in the service, by its metrics',
          xLabel,
          yLabel: 'requests',
          marks,
          lines: [
            { name: 'in flight', colour: 'a', points: byService(({ in_flight }) => in_flight) },
            { name: 'waiting', colour: 'c', points: byService(({ waiting }) => waiting) },
            { name: 'shed in the second', colour: 'bad', points: byService(({ shed }) => shed) },
          ],
        }))
  )
}

/** Points of the seconds that have a value. */
const curve = <Second extends { readonly at: number }>(
  seconds: readonly Second[],
  of: (second: Second) => number | null,
): [number, number][] =>
  seconds.flatMap((second): [number, number][] => {
    const value = of(second)
    return value === null ? [] : [[second.at, value]]
  })

/** Latency and goodput by intended rate, with the knee. */
export function rampPlots({ steps, knee, options }: Report): string {
  const p99 = Number(options.p99Ms)
  const marks = knee?.rate == null ? [] : [{ at: knee.rate, label: `knee: ${shownNumber(knee.rate)}/s` }]
  const against = (of: (step: StepReport) => number | null | undefined): [number, number][] =>
    steps.flatMap((step): [number, number][] => {
      const value = of(step)
      return step.rate === null || value == null ? [] : [[step.rate, value]]
    })
  const xLabel = 'intended sign-ins a second'
  const latency = (operation: 'verify' | 'bootstrap', name: 'p50' | 'p99', colour: Line['colour']): Line => ({
    name: `${operation} ${name}`,
    colour,
    dots: true,
    points: against((step) => step.operations[operation]?.latency_ms[name]),
  })
  return (
    plot({
      title: `Latency against rate (cut off at ${shownMs(4 * p99)}: a triangle means more)`,
      // Values far above the bound are cut off, so that the scale suits values near it.
      most: 4 * p99,
      xLabel,
      yLabel: 'ms',
      marks,
      bound: { at: p99, label: `bound ${shownMs(p99)}` },
      lines: [latency('bootstrap', 'p99', 'c'), latency('verify', 'p99', 'b'), latency('verify', 'p50', 'a')],
    }) +
    plot({
      title: 'Goodput against rate',
      xLabel,
      yLabel: 'sign-ins a second',
      marks,
      lines: [
        { name: 'begun', colour: 'faint', points: against(({ arrivals_per_s }) => arrivals_per_s) },
        { name: 'completed', colour: 'a', dots: true, points: against(({ goodput_per_s }) => goodput_per_s) },
      ],
    })
  )
}
