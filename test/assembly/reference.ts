import type { KeyPress } from '../../src/domain/key-press.js'

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high)
const signedLog = (ms: number): number => Math.sign(ms) * Math.log1p(Math.abs(ms) / 30)

/** The kernel's four rows of log times, slow and obvious: hold, press-press, release-press, release-release. */
export function logTimes(presses: readonly KeyPress[]): number[][] {
  const pairs = presses.slice(1).map((now, i) => [presses[i], now] as [KeyPress, KeyPress])
  return [
    presses.map(({ pressMs, releaseMs }) => Math.log(clamp(releaseMs - pressMs, 8, 1000))),
    pairs.map(([before, now]) => Math.log(clamp(now.pressMs - before.pressMs, 5, 3000))),
    pairs.map(([before, now]) => signedLog(clamp(now.pressMs - before.releaseMs, -800, 3000))),
    pairs.map(([before, now]) => signedLog(clamp(now.releaseMs - before.releaseMs, -800, 3000))),
  ]
}

/** Linear-interpolated quantile, as NumPy's default. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const position = share * (sorted.length - 1)
  const low = sorted[Math.floor(position)] ?? 0
  const high = sorted[Math.min(Math.floor(position) + 1, sorted.length - 1)] ?? 0
  return low + (high - low) * (position - Math.floor(position))
}

/** Mean absolute difference of all times after the best shift and scale, for patterns of one length. */
export function replayDistance(a: readonly KeyPress[], b: readonly KeyPress[]): number {
  const times = (presses: readonly KeyPress[]) => presses.flatMap(({ pressMs, releaseMs }) => [pressMs, releaseMs])
  const [x, y] = [times(b), times(a)]
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [mx, my] = [mean(x), mean(y)]
  const scale =
    x.reduce((sum, value, i) => sum + (value - mx) * ((y[i] ?? 0) - my), 0) /
    x.reduce((sum, value) => sum + (value - mx) ** 2, 0)
  return mean(x.map((value, i) => Math.abs((y[i] ?? 0) - my - scale * (value - mx))))
}
