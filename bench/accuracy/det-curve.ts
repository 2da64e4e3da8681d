import { errorCurve, type PersonScores } from '../../src/calibration/metrics.js'

const WIDTH = 720
const HEIGHT = 600
const LEFT = 70
const TOP = 30
const SIDE = 500
/** Points nearer than this, in units of the picture, look like one. */
const STEP = 1.5
/** Ticks of both axes, shares; the axes run from the first to the last. */
const TICKS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4]
const COLOURS = ['#0b5fa5', '#c2410c', '#15803d', '#7e22ce', '#475569']
/** The pattern of a line, which changes when the colours begin again. */
const DASHES = ['none', '7 4', '2 3']

/** The normal distribution's quantile (Acklam's rational approximation, error below 1.2e-9 relative in the middle). */
function probit(p: number): number {
  const tail = (q: number): number =>
    (((((-7.784894002430293e-3 * q - 0.3223964580411365) * q - 2.400758277161838) * q - 2.549732539343734) * q +
      4.374664141464968) *
      q +
      2.938163982698783) /
    ((((7.784695709041462e-3 * q + 0.3224671290700398) * q + 2.445134137142996) * q + 3.754408661907416) * q + 1)
  if (p < 0.02425) return tail(Math.sqrt(-2 * Math.log(p)))
  if (p > 1 - 0.02425) return -tail(Math.sqrt(-2 * Math.log(1 - p)))
  const q = p - 0.5
  const r = q * q
  return (
    ((((((-39.69683028665376 * r + 220.9460984245205) * r - 275.9285104469687) * r + 138.357751867269) * r -
      30.66479806614716) *
      r +
      2.506628277459239) *
      q) /
    (((((-54.47609879822406 * r + 161.5858368580409) * r - 155.6989798598874) * r + 66.80131188771972) * r -
      13.28068155288572) *
      r +
      1)
  )
}

const [first = 0.001, last = 0.4] = [TICKS[0], TICKS.at(-1)]
const position = (share: number): number => {
  const within = Math.min(Math.max(share, first), last)
  return (SIDE * (probit(within) - probit(first))) / (probit(last) - probit(first))
}
const x = (share: number): string => (LEFT + position(share)).toFixed(1)
const y = (share: number): string => (TOP + SIDE - position(share)).toFixed(1)

/**
 * A detection error trade-off plot as SVG: false match rate across, false non-match rate up, both on the probit scale,
 * on which normal scores give straight lines. Source: Martin et al., The DET curve (Eurospeech 1997).
 */
export function detCurve(
  curves: readonly { readonly name: string; readonly people: readonly PersonScores[] }[],
): string {
  const grid = TICKS.flatMap((tick) => [
    `<path d="M${x(tick)} ${TOP}V${TOP + SIDE}M${LEFT} ${y(tick)}H${LEFT + SIDE}" stroke="#ddd"/>`,
    `<text x="${x(tick)}" y="${TOP + SIDE + 16}" text-anchor="middle">${100 * tick}</text>`,
    `<text x="${LEFT - 6}" y="${Number(y(tick)) + 4}" text-anchor="end">${100 * tick}</text>`,
  ])
  const lines = curves.map(({ name, people }, i) => {
    const colour = COLOURS[i % COLOURS.length]
    const dashes = DASHES[Math.floor(i / COLOURS.length) % DASHES.length]
    const line = (path: string) =>
      `<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.6" stroke-dasharray="${dashes}"/>`
    const [across, up] = [LEFT + SIDE + 12, TOP + 14 + 18 * i]
    return `${line(pathOf(people))}${line(`M${across} ${up - 4}h26`)}<text x="${across + 32}" y="${up}">${name}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">
<title>Detection error trade-off of Keystride's typing verification</title>
<rect width="100%" height="100%" fill="#fff"/>
${grid.join('\n')}
<path d="M${LEFT} ${TOP + SIDE}L${LEFT + SIDE} ${TOP}" stroke="#bbb" stroke-dasharray="4 4"/>
${lines.join('\n')}
<text x="${LEFT + SIDE / 2}" y="${TOP + SIDE + 40}" text-anchor="middle">False match rate, % (probit scale)</text>
<text transform="translate(20 ${TOP + SIDE / 2}) rotate(-90)" text-anchor="middle">False non-match rate, % (probit scale)</text>
</svg>
`
}

/** The curve within the axes, reduced to visible steps. */
function pathOf(people: readonly PersonScores[]): string {
  const { fmr, fnmr } = errorCurve(
    people.flatMap((person) => person.genuine),
    people.flatMap((person) => person.impostor),
  )
  const points: string[] = []
  let [lastX, lastY] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  fmr.forEach((share, i) => {
    const missed = fnmr[i] ?? 0
    if (share <= 0 || missed <= 0 || share > last || missed > last) return
    const [across, up] = [position(share), position(missed)]
    if (Math.hypot(across - lastX, up - lastY) < STEP) return
    points.push(`${x(share)} ${y(missed)}`)
    lastX = across
    lastY = up
  })
  return points.length === 0 ? '' : `M${points.join('L')}`
}
