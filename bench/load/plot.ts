import { shownNumber } from './quantities.js'

/** A line of a plot. */
export interface Line {
  readonly name: string
  /** A colour of the page's style. */
  readonly colour: 'a' | 'b' | 'c' | 'bad' | 'faint'
  readonly points: readonly (readonly [x: number, y: number])[]
  /** Also draws a dot for each point, with a tooltip. */
  readonly dots?: boolean
}

/** Inputs of `plot`. */
interface Plot {
  readonly title: string
  readonly xLabel: string
  readonly yLabel: string
  readonly lines: readonly Line[]
  /** Ticks in place of round numbers, such as percentiles. */
  readonly xTicks?: readonly (readonly [at: number, label: string])[]
  /** Vertical lines with a label. */
  readonly marks?: readonly { readonly at: number; readonly label: string }[]
  /** A horizontal line with a label. */
  readonly bound?: { readonly at: number; readonly label: string }
  /** Top of the scale; higher points are triangles at the top. */
  readonly most?: number
}

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [760, 300, 64, 16, 16, 44]

/** Escapes text for HTML and SVG, attributes included. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** Four to eight round numbers from 0; the last is at least `most`. */
function ticks(most: number): number[] {
  const rough = Math.max(most, 1e-9) / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10)
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, i) => i * step)
}

/** An inline SVG with axes from 0 and a legend. It has no external references. */
export function plot({
  title,
  xLabel,
  yLabel,
  lines,
  xTicks,
  marks = [],
  bound,
  most = Number.POSITIVE_INFINITY,
}: Plot): string {
  const points = lines.flatMap((line) => line.points)
  if (points.length === 0) return `<figure><h3>${escaped(title)}</h3><p class="none">no data</p></figure>`
  const yAt = ticks(Math.max(...points.map(([, y]) => Math.min(y, most)), bound?.at ?? 0, 1e-9))
  const xMost = Math.max(...points.map(([x]) => x), ...marks.map(({ at }) => at), 1e-9)
  const yMost = yAt.at(-1) ?? 1
  const xAt =
    xTicks?.filter(([at]) => at <= xMost) ??
    ticks(xMost)
      .filter((at) => at <= xMost * 1.001)
      .map((at) => [at, shownNumber(at)] as const)
  const x = (value: number) => (LEFT + (value / xMost) * (WIDTH - LEFT - RIGHT)).toFixed(1)
  const y = (value: number) => (HEIGHT - BOTTOM - (Math.min(value, most) / yMost) * (HEIGHT - TOP - BOTTOM)).toFixed(1)
  const grid = yAt.map(
    (at) =>
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(at)}" y2="${y(at)}"/><text x="${LEFT - 8}" y="${y(at)}" dy="4" text-anchor="end">${shownNumber(at)}</text>`,
  )
  const nameOf = (value: number) => xTicks?.find(([at]) => at === value)?.[1] ?? shownNumber(value)
  const across = xAt.map(([at, label]) => {
    const anchor = Number(x(at)) > WIDTH - RIGHT - 30 ? 'end' : 'middle'
    return `<text x="${x(at)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="${anchor}">${escaped(label)}</text>`
  })
  const upright = marks.map(({ at, label }, i) => {
    const end = Number(x(at)) > WIDTH - 120
    return `<line class="mark" x1="${x(at)}" x2="${x(at)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/><text class="marked" x="${Number(x(at)) + (end ? -5 : 5)}" y="${TOP + 10 + (i % 2) * 13}" text-anchor="${end ? 'end' : 'start'}">${escaped(label)}</text>`
  })
  const level =
    bound === undefined
      ? []
      : [
          `<line class="bound" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(bound.at)}" y2="${y(bound.at)}"/><text class="marked" x="${WIDTH - RIGHT}" y="${y(bound.at)}" dy="-5" text-anchor="end">${escaped(bound.label)}</text>`,
        ]
  const drawn = lines.map(({ colour, points: of, dots, name }) => {
    const path = `<polyline class="line ${colour}" points="${of.map(([a, b]) => `${x(a)},${y(b)}`).join(' ')}"/>`
    const spots = of.map(([a, b]) => {
      const title = `<title>${escaped(`${name}: ${shownNumber(b)} at ${nameOf(a)}`)}</title>`
      return b > most
        ? `<path class="dot ${colour} cut" d="M${x(a)} ${Number(y(b)) - 5}l5 9h-10z">${title}</path>`
        : `<circle class="dot ${colour}" cx="${x(a)}" cy="${y(b)}" r="3.5">${title}</circle>`
    })
    return path + (dots === true || of.length === 1 ? spots.join('') : '')
  })
  const legend = lines.map(({ name, colour }) => `<span class="key ${colour}">${escaped(name)}</span>`).join('')
  return `<figure><h3>${escaped(title)}</h3><div class="legend">${legend}</div>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">
${[...grid, ...across, ...upright, ...level, ...drawn].join('\n')}
<text class="axis" x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 6}" text-anchor="middle">${escaped(xLabel)}</text>
<text class="axis" transform="translate(14 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">${escaped(yLabel)}</text>
</svg></figure>`
}
