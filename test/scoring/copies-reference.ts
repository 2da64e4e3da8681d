import type { CopyMeasures } from '../../src/scoring/copy-evidence.js'

/** A decoded sketch; `assembly/sketch.ts` describes the bytes. */
interface Decoded {
  readonly confirmed: boolean
  readonly keys: readonly number[]
  readonly holds: readonly number[]
  readonly intervals: readonly number[]
}

export function decode(sketch: Uint8Array): Decoded {
  const n = (sketch[0] ?? 0) & 0x7f
  const part = (i: number) => [...sketch.subarray(1 + i * n, 1 + (i + 1) * n)]
  return { confirmed: (sketch[0] ?? 0) > 0x7f, keys: part(0), holds: part(1), intervals: part(2) }
}

/** The population of the tests' model: one context, so the same mean and inverse deviation for every key. */
export const POPULATION = { means: [4.6, 5.2, 0, 0], inverseSds: [3, 2, 1, 1] }
const [HOLD, INTERVAL] = [0, 1] as const
type Kind = typeof HOLD | typeof INTERVAL
type Times = readonly [hold: number, interval: number]

const clamp = (value: number, bound: number): number => Math.max(-bound, Math.min(bound, value))
const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0)
const mean = (all: readonly number[]): number => sum(all) / Math.max(1, all.length)

/** A time of a press, in population standard deviations from the mean. */
function timeOf(sketch: Decoded, press: number, kind: Kind): number {
  const ms = 10 * (Math.exp(0.0275 * ((kind === HOLD ? sketch.holds : sketch.intervals)[press] ?? 0)) - 1)
  const [low, high] = kind === HOLD ? [8, 1000] : [5, 3000]
  const log = Math.log(Math.max(low, Math.min(high, ms)))
  return clamp((log - (POPULATION.means[kind] ?? 0)) * (POPULATION.inverseSds[kind] ?? 0), 4)
}

interface Match {
  readonly i: number
  readonly press: number
  readonly pattern: number
  departure: Times
}

interface Departures {
  readonly probe: readonly Times[]
  readonly matches: readonly Match[]
  readonly informative: Times
}

const isPair = ({ keys }: Decoded, i: number): boolean => {
  const key = keys[i] ?? 0
  return i > 0 && key !== 0 && ((key >= 1 && key <= 26) || key !== keys[i - 1])
}
const pairOf = ({ keys }: Decoded, i: number): string => `${keys[i - 1]} ${keys[i]}`
const minus = (a: Times, b: Times): Times => [a[0] - b[0], a[1] - b[1]]

/** Means by name, shrunk as if three more were 0. */
function shrunkMeans(all: readonly (readonly [name: string, times: Times])[]): (name: string) => Times {
  const sums = new Map<string, [number, number, number]>()
  for (const [name, [hold, interval]] of all) {
    const [holds, intervals, n] = sums.get(name) ?? [0, 0, 0]
    sums.set(name, [holds + hold, intervals + interval, n + 1])
  }
  return (name) => {
    const [holds, intervals, n] = sums.get(name) ?? [0, 0, 0]
    return [holds / (n + 3), intervals / (n + 3)]
  }
}

const deviationOf = (roots: number, n: number): number => Math.sqrt((roots / (n * 0.822)) ** 4 + 0.02)
const inKind = (all: readonly Times[], kind: Kind): number[] => all.map((times) => times[kind])
const perKind = (of: (kind: Kind) => number): Times => [of(HOLD), of(INTERVAL)]

function departures(probe: Decoded, known: readonly Decoded[]): Departures {
  const matches: Match[] = known.flatMap((pattern, k) =>
    pattern.keys.flatMap((_, press) =>
      probe.keys.flatMap((_, i) => {
        if (press === 0 || !isPair(probe, i) || pairOf(pattern, press) !== pairOf(probe, i)) return []
        const departure = perKind((kind) => timeOf(pattern, press, kind))
        return [{ i, press, pattern: k, departure }]
      }),
    ),
  )
  const counted = matches.filter(
    ({ i, press, pattern }, at) =>
      known[pattern]?.confirmed &&
      matches.findLastIndex((other) => other.press === press && other.pattern === pattern && other.i >= i) === at,
  )
  const keyOf = (i: number): string => `${probe.keys[i]}`
  const ofKey = shrunkMeans(counted.map(({ i, departure }) => [keyOf(i), departure]))
  for (const match of matches) match.departure = minus(match.departure, ofKey(keyOf(match.i)))
  const ofPair = shrunkMeans(counted.map(({ i, departure }) => [pairOf(probe, i), departure]))
  for (const match of matches) match.departure = minus(match.departure, ofPair(pairOf(probe, match.i)))
  known.forEach((_, pattern) => {
    const own = matches.filter((match) => match.pattern === pattern)
    const tempo = perKind((kind) => sum(own.map(({ departure }) => clamp(departure[kind], 3))) / (own.length + 3))
    for (const match of own) match.departure = minus(match.departure, tempo)
  })
  const scale = perKind((kind) =>
    deviationOf(
      30 * 0.7 + sum(matches.map(({ departure }) => Math.sqrt(Math.abs(departure[kind])))),
      30 + matches.length,
    ),
  )
  for (const match of matches) match.departure = perKind((kind) => clamp(match.departure[kind] / scale[kind], 1.8))
  return { ...ofProbe(probe, ofKey, ofPair), matches }
}

function ofProbe(probe: Decoded, ofKey: (name: string) => Times, ofPair: (name: string) => Times) {
  const raw = probe.keys.slice(1).map((_, at) => perKind((kind) => timeOf(probe, at + 1, kind)))
  const tempo = perKind((kind) => mean(inKind(raw, kind).map((time) => clamp(time, 3))))
  const left = raw.map((times, at) =>
    minus(
      minus(minus(times, tempo), ofKey(`${probe.keys[at + 1]}`)),
      isPair(probe, at + 1) ? ofPair(pairOf(probe, at + 1)) : [0, 0],
    ),
  )
  const centre = perKind((kind) => mean(inKind(left, kind)))
  const centred = left.map((times) => minus(times, centre))
  const scale = perKind((kind) =>
    deviationOf(sum(inKind(centred, kind).map((one) => Math.sqrt(Math.abs(one)))), Math.max(1, centred.length)),
  )
  const scaled = centred.map((times) => perKind((kind) => clamp(times[kind] / scale[kind], 1.8)))
  const informative = perKind((kind) => {
    const squares = inKind(scaled, kind).map((one) => one * one)
    const fourths = sum(squares.map((one) => one * one)) + 1e-6
    return Math.min(1, (2.2 * sum(squares) ** 2) / (fourths * Math.max(1, scaled.length)))
  })
  return { probe: [[0, 0] as Times, ...scaled], informative }
}

/** Length of the run of matches that each match is in. */
function runOf(matches: readonly Match[]): (match: Match) => number {
  const at = new Map(matches.map((match) => [`${match.pattern} ${match.i} ${match.press}`, match]))
  const step = ({ pattern, i, press }: Match, by: number) => at.get(`${pattern} ${i + by} ${press + by}`)
  const along = (match: Match, by: number): number => {
    const next = step(match, by)
    return next === undefined ? 0 : 1 + along(next, by)
  }
  return (match) => 1 + along(match, 1) + along(match, -1)
}

function correlation({ probe, matches, informative }: Departures, patterns: number): number {
  const run = runOf(matches)
  const found = Array.from({ length: patterns }, (_, pattern) => {
    const best = new Map<number, Match>()
    for (const match of matches.filter((one) => one.pattern === pattern)) {
      const held = best.get(match.i)
      if (held === undefined || run(match) > run(held)) best.set(match.i, match)
    }
    const pairs = [...best.values()].map(({ i, departure }) => [probe[i] ?? [0, 0], departure] as const)
    const [hold, interval] = perKind((kind) => {
      const product = sum(pairs.map(([a, b]) => a[kind] * b[kind]))
      const squares = sum(pairs.map(([a]) => a[kind] ** 2)) * sum(pairs.map(([, b]) => b[kind] ** 2))
      const r = clamp(product / Math.sqrt(squares + 1e-9), 0.995)
      const n = pairs.length < 8 ? 0 : Math.min(50, pairs.length) * informative[kind]
      return Math.atanh(r) * Math.sqrt(Math.max(0, n - 3))
    })
    return [hold, interval, (hold + interval) * Math.SQRT1_2]
  })
  const above = (which: number): number => {
    const all = found.map((one) => one[which] ?? 0)
    const best = Math.max(0, ...all)
    return best - Math.max(0, (sum(all) - best) / (patterns + 1))
  }
  return Math.max(above(0), above(1), above(2))
}

/** Correlation of holds and of intervals, probabilities that a source goes on, that the member goes on, and of another source. */
const LANES = [
  [0.6, 0.8, 0.85, 0.07, 0.08],
  [0.93, 0.97, 0.85, 0.07, 0.08],
  [0, 0.9, 0.85, 0.07, 0.08],
  [0.93, 0.97, 0.25, 0.1, 0.65],
] as const

function sources(found: Departures, patterns: number): number {
  const logs = LANES.map((lane) => laneOf(found, patterns, lane))
  const most = Math.max(...logs)
  const compared = new Set(found.matches.map(({ i }) => i)).size
  const joined = most + Math.log(mean(logs.map((one) => Math.exp(one - most))))
  return (joined * Math.min(50, compared)) / Math.max(1, compared)
}

function laneOf({ probe, matches, informative }: Departures, patterns: number, lane: (typeof LANES)[number]): number {
  const [, , stays, leaves, moves] = lane
  const gain = (a: Times, b: Times): number =>
    sum(
      [HOLD, INTERVAL].map((kind) => {
        const r = lane[kind]
        const log = -0.5 * Math.log(1 - r * r)
        const quotient = (r * a[kind] * b[kind] - 0.5 * r * r * (a[kind] ** 2 + b[kind] ** 2)) / (1 - r * r)
        return informative[kind] * (log + quotient)
      }),
    )
  const weights = Array.from({ length: patterns }, () => 0.5)
  let [own, total] = [1, 0]
  let before = new Map<string, number>()
  for (let i = 1; i < probe.length; i++) {
    const here = matches.filter((match) => match.i === i)
    if (here.length === 0) {
      before = new Map()
      continue
    }
    const shareBefore = ({ pattern, press }: Match) => before.get(`${pattern} ${press - 1}`) ?? 0
    const going = sum(here.map(shareBefore))
    const broken = Math.max(0, 1 - own - going)
    const weight = sum(here.map(({ pattern }) => weights[pattern] ?? 0))
    const entering = 0.4 * own + moves * (going + broken) + 0.7 * stays * broken
    const staysOwn = 0.6 * own + leaves * (going + broken) + 0.3 * stays * broken
    const likely = here.map((match) => {
      const arriving = (entering * (weights[match.pattern] ?? 0)) / weight + stays * shareBefore(match)
      return Math.exp(gain(probe[i] ?? [0, 0], match.departure)) * arriving
    })
    const all = staysOwn + sum(likely)
    before = new Map(here.map(({ pattern, press }, at) => [`${pattern} ${press}`, (likely[at] ?? 0) / all]))
    here.forEach(({ pattern }, at) => {
      weights[pattern] = (weights[pattern] ?? 0) + (likely[at] ?? 0) / all
    })
    own = staysOwn / all
    total += Math.log(all)
  }
  return total
}

const LEVELS = [
  [50, 120],
  [60, 140],
] as const
const sixteenths = (step: number): number => (step * 7) >> 4

/** The times, in sixteenths of a logarithm above the level of the pattern. */
function aboveLevel(sketch: Decoded, kind: Kind): number[] {
  const steps = kind === HOLD ? sketch.holds : sketch.intervals
  const [low, high] = LEVELS[kind]
  const inner = steps.slice(1).map((step) => Math.max(low, Math.min(high, step)))
  const level = inner.length === 0 ? 0 : Math.trunc((sum(inner) * 7) / (inner.length << 4))
  return steps.map((step) => sixteenths(step) - level)
}

function positions(probe: Decoded, known: readonly Decoded[]): number {
  const scores = known.map((pattern) => Math.max(blockScore(probe, pattern, 0), blockScore(probe, pattern, 64)))
  const best = scores.indexOf(Math.max(...scores))
  const others = scores.filter((_, at) => at !== best && known[at]?.confirmed).sort((a, b) => b - a)
  const rank = others.length - 1 - Math.trunc(Math.fround(Math.fround(0.85) * (others.length - 1)))
  const n = probe.keys.length
  return ((((scores[best] ?? 0) - Math.max(0, others[rank] ?? 0)) / 4) * Math.min(50, n)) / Math.max(1, n)
}

const MIDDLES = [-23, -20, -17, -14, -11, -8, -5, -2, 1, 3, 6, 9, 12, 15, 18, 21]

function blockScore(probe: Decoded, pattern: Decoded, from: number): number {
  const [mine, theirs] = [probe, pattern].map((one) => ([HOLD, INTERVAL] as const).map((kind) => aboveLevel(one, kind)))
  const gain = (kind: Kind, i: number, j: number): number => {
    const within = Math.max(-24, Math.min(22, mine?.[kind]?.[i] ?? 0))
    const cell = Math.max(0, Math.min(15, (((theirs?.[kind]?.[j] ?? 0) + 24) * 11) >> 5))
    const most = (kind === HOLD ? 2 : 3) + ((3 * Math.abs(within)) >> 3)
    return Math.max(-7, most - Math.abs((MIDDLES[cell] ?? 0) - within))
  }
  let path = new Map<number, number>()
  let [best, entering, next] = [0, 0, 0]
  for (let i = 1; i < probe.keys.length; i++) {
    const row = new Map<number, number>()
    for (let j = from; j < Math.min(from + 64, pattern.keys.length); j++) {
      const isLate = (probe.holds[i] ?? 0) < 40
      const key = probe.keys[i] ?? 0
      const isSame = key !== 0 && (pattern.keys[j] === key || !isPair(probe, i))
      const start = Math.max(path.get(j - 1) ?? 0, entering)
      row.set(j, Math.min(127, start + (isSame || isLate ? 0 : gain(HOLD, i, j) + gain(INTERVAL, i, j))))
    }
    path = row
    best = Math.max(best, ...row.values())
    entering = next
    next = Math.max(0, best - 24)
  }
  return best
}

/** A slow reference for `Kernel.copies`. */
export function slowCopies(sketch: Uint8Array, sketches: readonly Uint8Array[]): CopyMeasures | null {
  if (sketches.length === 0) return null
  const [probe, known] = [decode(sketch), sketches.map(decode)]
  const found = departures(probe, known)
  return {
    correlation: correlation(found, known.length),
    sources: sources(found, known.length),
    positions: positions(probe, known),
  }
}
