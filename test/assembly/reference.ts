import type { KeyPress } from '../../src/domain/key-press.js'

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high)
const signedLog = (ms: number): number => Math.sign(ms) * Math.log1p(Math.abs(ms) / 30)

/** The kernel's four rows of log times, computed slowly and obviously: hold, press-press, release-press, release-release. */
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

/** One pattern's normalised times: `z[kind][press]`; 0 if the first press has no such time. */
export interface Normalised {
  readonly keys: readonly number[]
  readonly z: readonly (readonly number[])[]
}

const pairAt = ({ keys }: Normalised, press: number): string => `${press === 0 ? 0 : keys[press - 1]},${keys[press]}`

/** For each press of `a`: the index of the press of `b` with the same key pair and the nearest index; -1 if none. */
function aligned(a: Normalised, b: Normalised): number[] {
  return a.keys.map((_, i) => {
    const same = b.keys.map((__, j) => j).filter((j) => pairAt(b, j) === pairAt(a, i))
    return same.reduce((best, j) => (best < 0 || Math.abs(j - i) < Math.abs(best - i) ? j : best), -1)
  })
}

/** Mean absolute difference of one kind over aligned presses; two extra presses of distance 1 are counted in. */
function distance(a: Normalised, b: Normalised, kind: number): number {
  const found = aligned(a, b).flatMap((j, i) =>
    j < 0 || (kind > 0 && (i === 0 || j === 0))
      ? []
      : [Math.abs(clamp((a.z[kind]?.[i] ?? 0) - (b.z[kind]?.[j] ?? 0), -3, 3))],
  )
  return (found.reduce((sum, value) => sum + value, 0) + 2) / (found.length + 2)
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

/** The probe's mean distance to the references, and that distance above the references' distances to one another. */
export function alignedDistance(probe: Normalised, references: readonly Normalised[], kind: number) {
  const to = (one: Normalised, others: readonly Normalised[]) =>
    meanOf(others.map((other) => distance(one, other, kind)))
  const own = references.map((one) =>
    to(
      one,
      references.filter((other) => other !== one),
    ),
  )
  const value = to(probe, references)
  return { value, aboveOwn: value - meanOf(own), aboveMost: value - Math.max(...own) }
}

/** Shares of the probe's presses whose key pair is in at least one reference, and in at least two. */
export function sharedText(probe: Normalised, references: readonly Normalised[]): [once: number, twice: number] {
  const held = probe.keys.map(
    (_, i) => references.filter((reference) => (aligned(probe, reference)[i] ?? -1) >= 0).length,
  )
  const share = (least: number) => held.filter((n) => n >= least).length / held.length
  return [share(1), share(2)]
}
