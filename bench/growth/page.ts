import { escaped, type Line, plot } from '../load/plot.js'
import { STYLE } from '../load/style.js'
import type { ServingMachine } from '../shared/machine.js'
import type { measureKeys } from './keys.js'
import type { Resident } from './memory.js'
import type { Grown } from './verifies.js'

interface Report {
  readonly keys: ReturnType<typeof measureKeys>
  readonly memory: readonly Resident[]
  readonly people: readonly Grown[]
  readonly authentications: readonly Grown[]
  readonly typings: readonly Grown[]
  readonly machine: ServingMachine
  readonly at: string
}

/** One page that opens offline. The size axis is logarithmic, so logarithmic growth is a straight line. */
export function growthPage({ keys, memory, people, authentications, typings, machine, at }: Report): string {
  const where = `${machine.cores} x ${machine.cpu}, Node ${machine.node}, ${at.slice(0, 10)}`
  const ofKeys = ([5, 10] as const).map(
    (references, i): Line => ({
      name: `${references} references`,
      colour: i === 0 ? 'a' : 'b',
      dots: true,
      points: keys.filter((one) => one.references === references).map((one) => [one.keys, one.attempt_us.median]),
    }),
  )
  const scan: Line = {
    name: 'the scan of the body',
    colour: 'faint',
    dots: true,
    points: keys.filter(({ references }) => references === 5).map((one) => [one.keys, one.scan_us.median]),
  }
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>What a verify costs as a deployment grows</title>
<style>${STYLE}</style>
</head>
<body>
<header><h1>What a verify costs as a deployment grows</h1><p>${escaped(where)}</p></header>
${sized('People enrolled', people)}
${sized('Authentications and replay marks kept', authentications)}
${sized('Typings of each person who verifies', typings)}
${plot({ title: 'Key presses', xLabel: 'key presses', yLabel: 'µs of a scoring thread', lines: [...ofKeys, scan] })}
${plot({
  title: 'Memory of a process',
  xLabel: 'people who signed in',
  yLabel: 'resident, MiB',
  lines: [
    {
      name: 'the larger of two processes',
      colour: 'a',
      dots: true,
      points: memory.flatMap(({ people: n, rss_mib }) => (rss_mib === null ? [] : [[n, rss_mib] as const])),
    },
  ],
})}
</body>
</html>
`
}

function sized(title: string, steps: readonly Grown[]): string {
  // The smallest size lies slightly right of the axis.
  const at = (size: number) => Math.log10(size / (steps[0]?.size ?? 1)) + 0.3
  return plot({
    title,
    xLabel: `${title.toLowerCase()}, by logarithm`,
    yLabel: 'ms, one verify at a time',
    xTicks: steps.map(({ size }) => [at(size), size.toLocaleString('en')]),
    lines: [
      {
        name: 'verify, p50',
        colour: 'a',
        dots: true,
        points: steps.map(({ size, p50_ms }) => [at(size), p50_ms.median]),
      },
      {
        name: 'processor of PostgreSQL',
        colour: 'b',
        dots: true,
        points: steps.map(({ size, postgres_us }) => [at(size), postgres_us.median / 1000]),
      },
    ],
  })
}
