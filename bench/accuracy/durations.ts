import type { TypingSession } from '../../src/calibration/dataset.js'
import type { Random } from '../../src/calibration/random.js'

/** A pattern as durations: holds, and intervals from the previous press (0 at the first), ms. */
export interface Durations {
  readonly keys: readonly number[]
  readonly holds: readonly number[]
  readonly intervals: readonly number[]
}

/** One press of `Durations`. */
export interface Press {
  readonly key: number
  readonly hold: number
  readonly interval: number
}

/** A change of a captured pattern. */
export type Edit = (pattern: Durations, random: Random) => Durations

export const durationsOf = (session: TypingSession): Durations => ({
  keys: session.map(({ key }) => key),
  holds: session.map(({ pressMs, releaseMs }) => releaseMs - pressMs),
  intervals: session.map(({ pressMs }, i) => (i === 0 ? 0 : pressMs - (session[i - 1]?.pressMs ?? 0))),
})

/** The interval of a first press that is moved elsewhere. */
const INTERVAL_UNKNOWN_MS = 200
/** A key that would go down twice is released this long before its next press. */
const GAP_MS = 20

export function sessionOf({ keys, holds, intervals }: Durations): TypingSession {
  let pressMs = 0
  return keys.map((key, i) => {
    if (i > 0) pressMs += intervals[i] ?? 0
    const next = keys[i + 1] === key ? (intervals[i + 1] ?? 0) - GAP_MS : Number.POSITIVE_INFINITY
    return { key, pressMs, releaseMs: pressMs + Math.max(1, Math.min(holds[i] ?? 0, next)) }
  })
}

export const pressAt = ({ keys, holds, intervals }: Durations, i: number): Press => ({
  key: keys[i] ?? 0,
  hold: holds[i] ?? 0,
  interval: i === 0 ? INTERVAL_UNKNOWN_MS : (intervals[i] ?? 0),
})

export const pressesOf = (pattern: Durations): Press[] => pattern.keys.map((_, i) => pressAt(pattern, i))

export const fromPresses = (presses: readonly Press[]): Durations => ({
  keys: presses.map(({ key }) => key),
  holds: presses.map(({ hold }) => hold),
  intervals: presses.map(({ interval }, i) => (i === 0 ? 0 : interval)),
})

/** Changes each time on its own. */
export const mapped = (
  { keys, holds, intervals }: Durations,
  change: (ms: number, i: number, which: 'hold' | 'interval') => number,
): Durations => ({
  keys,
  holds: holds.map((ms, i) => change(ms, i, 'hold')),
  intervals: intervals.map((ms, i) => (i === 0 ? 0 : change(ms, i, 'interval'))),
})

const SPACE = 37

/** Runs of presses that end with Space. */
export function wordsOf(pattern: Durations): Press[][] {
  const words: Press[][] = [[]]
  for (const press of pressesOf(pattern)) {
    words.at(-1)?.push(press)
    if (press.key === SPACE) words.push([])
  }
  return words.filter((word) => word.length > 0)
}
