import { normal, type Random, shuffled } from '../../src/calibration/random.js'
import { KEY_UNKNOWN } from '../../src/domain/key-table.js'
import { type Durations, type Edit, fromPresses, mapped, type Press, pressesOf, wordsOf } from './durations.js'

/** Changes of a captured pattern that an attacker may try, one at a time: edits that keep most of its times. */
export const EDITS = {
  'one pause longer by 60 to 500 ms': (pattern, random) => {
    const at = 1 + Math.floor(random() * (pattern.keys.length - 1))
    return mapped(pattern, (ms, i, which) => (which === 'interval' && i === at ? ms + 60 + 440 * random() : ms))
  },
  'one key dropped': (pattern, random) => dropped(pattern, 1, random),
  'three keys dropped': (pattern, random) => dropped(pattern, 3, random),
  'halves scaled by +3 and -3 %': (pattern) => {
    const half = pattern.keys.length / 2
    return mapped(pattern, (ms, i) => ms * (i < half ? 1.03 : 0.97))
  },
  'smooth warp of 4 %': (pattern, random) => warped(pattern, 0.04, random),
  'each time stretched by its own 6 %': (pattern, random) =>
    mapped(pattern, (ms) => ms * (1 + 0.06 * (2 * random() - 1))),
  'scaled by one factor, 0.93 to 1.07': (pattern, random) => {
    const factor = 0.93 + 0.14 * random()
    return mapped(pattern, (ms) => factor * ms)
  },
  'scaled by one factor, 0.8 to 1.25': (pattern, random) => {
    const factor = 0.8 * (1.25 / 0.8) ** random()
    return mapped(pattern, (ms) => factor * ms)
  },
  'jitter 4 ms': (pattern, random) => jittered(pattern, 4, random),
  'halves swapped': (pattern) => {
    const presses = pressesOf(pattern)
    const half = presses.length >> 1
    return fromPresses([...presses.slice(half), ...presses.slice(0, half)])
  },
} as const satisfies Record<string, Edit>

/** Percent of edited copies that may be authenticated: each edit, and each two of them together. */
export const EDIT_BAR = 2

/** Edits that lose more of the pattern. */
export const STRONGER_EDITS = {
  'jitter 8 ms': (pattern, random) => jittered(pattern, 8, random),
  'a piece of 15 keys': (pattern, random) => {
    const from = Math.floor(random() * Math.max(1, pattern.keys.length - 15))
    const cut = <T>(all: readonly T[]): T[] => all.slice(from, from + 15)
    return { keys: cut(pattern.keys), holds: cut(pattern.holds), intervals: cut(pattern.intervals) }
  },
} as const satisfies Record<string, Edit>

export const STRONGER_EDIT_BAR = 10

const eitherWay =
  (share: number): Edit =>
  (pattern, random) =>
    mapped(pattern, (ms) => ms * (random() < 0.5 ? 1 - share : 1 + share))
const noisy =
  (deviation: number): Edit =>
  (pattern, random) =>
    mapped(pattern, (ms) => ms * Math.exp(deviation * normal(random)))
const shaken =
  (ms: number): Edit =>
  (pattern, random) =>
    jittered(pattern, ms, random)
/** An edit of the holds alone, or of the intervals alone. */
const only =
  (which: 'holds' | 'intervals', edit: Edit): Edit =>
  (pattern, random) => ({ ...pattern, [which]: edit(pattern, random)[which] })

/** Edits that move every time beyond a tolerance and keep the person's rhythm. */
export const MOVING_EDITS = {
  'x 0.89 or 1.11 at random': eitherWay(0.11),
  'x 0.85 or 1.15 at random': eitherWay(0.15),
  'noise 0.08': noisy(0.08),
  'noise 0.10': noisy(0.1),
  'noise 0.12': noisy(0.12),
  'noise 0.15': noisy(0.15),
  'noise 0.20': noisy(0.2),
  'jitter 12 ms': shaken(12),
  'jitter 16 ms': shaken(16),
  'jitter 25 ms': shaken(25),
  'jitter 40 ms': shaken(40),
  'stretched by key, 0.12': (pattern, random) => stretched(pattern, 0.12, (i) => pattern.keys[i] ?? 0, random),
  'stretched by key pair, 0.12': (pattern, random) =>
    stretched(pattern, 0.12, (i) => 128 * (pattern.keys[i - 1] ?? 0) + (pattern.keys[i] ?? 0), random),
  'smooth warp of 10 %': (pattern, random) => warped(pattern, 0.1, random),
  'smooth warp of 20 %': (pattern, random) => warped(pattern, 0.2, random),
  'power 0.8 about the mean': (pattern) => raised(pattern, 0.8),
  'power 1.25 about the mean': (pattern) => raised(pattern, 1.25),
  'holds alone x 0.89 or 1.11': only('holds', eitherWay(0.11)),
  'intervals alone x 0.89 or 1.11': only('intervals', eitherWay(0.11)),
  'noise 0.20 on the holds alone': only('holds', noisy(0.2)),
  'noise 0.20 on the intervals alone': only('intervals', noisy(0.2)),
  'noise 0.15 with memory 0.5': (pattern, random) => remembering(pattern, 0.15, 0.5, random),
  'noise 0.15 with memory 0.9': (pattern, random) => remembering(pattern, 0.15, 0.9, random),
} as const satisfies Record<string, Edit>

/** The same times at other places or under other keys. */
export const MISPLACING_EDITS = {
  'keys relabelled': (pattern, random) => relabelled(pattern, 1, random),
  'a third of the keys relabelled': (pattern, random) => relabelled(pattern, 1 / 3, random),
  'words shuffled': (pattern, random) => fromPresses(shuffled(wordsOf(pattern), random).flat()),
  'keys relabelled, words shuffled': (pattern, random) =>
    relabelled(fromPresses(shuffled(wordsOf(pattern), random).flat()), 1, random),
} as const satisfies Record<string, Edit>

/** Edits that aim at a test of correlation: they keep the person's times and break their order, sign or place. */
export const AIMED_EDITS = {
  'times of a key exchanged': (pattern, random) => exchanged(pattern, random),
  'reflected about the mean of the key': (pattern) => reflected(pattern),
  'times moved to the next press': ({ keys, holds, intervals }) => ({
    keys,
    holds: [...holds.slice(-1), ...holds.slice(0, -1)],
    intervals: [0, ...intervals.slice(-1), ...intervals.slice(1, -1)],
  }),
  'read backwards': (pattern) => fromPresses(pressesOf(pattern).reverse()),
  'keys masked': (pattern) => ({ ...pattern, keys: pattern.keys.map(() => KEY_UNKNOWN) }),
} as const satisfies Record<string, Edit>

/** Edits that add so much noise that the owner is no longer recognized either. */
export const DROWNING_EDITS = {
  'noise 0.30': noisy(0.3),
  'noise 0.40': noisy(0.4),
} as const satisfies Record<string, Edit>

export const DROWNING_EDIT_BAR = 5

/** Every press and release moved by up to `ms`. */
function jittered({ keys, holds, intervals }: Durations, ms: number, random: Random): Durations {
  const presses = keys.map(() => ms * (2 * random() - 1))
  const releases = keys.map(() => ms * (2 * random() - 1))
  return {
    keys,
    holds: holds.map((hold, i) => Math.max(1, hold + (releases[i] ?? 0) - (presses[i] ?? 0))),
    intervals: intervals.map((interval, i) =>
      i === 0 ? 0 : Math.max(1, interval + (presses[i] ?? 0) - (presses[i - 1] ?? 0)),
    ),
  }
}

function dropped(pattern: Durations, n: number, random: Random): Durations {
  if (n === 0) return pattern
  const { keys, holds, intervals } = pattern
  const at = 1 + Math.floor(random() * (keys.length - 2))
  const without = <T>(all: readonly T[]): T[] => all.filter((_, i) => i !== at)
  const gap = intervals[at] ?? 0
  const joined = intervals.map((ms, i) => (i === at + 1 ? ms + gap : ms))
  return dropped({ keys: without(keys), holds: without(holds), intervals: without(joined) }, n - 1, random)
}

function warped(pattern: Durations, depth: number, random: Random): Durations {
  const [phase, period] = [2 * Math.PI * random(), 15 + 20 * random()]
  return mapped(pattern, (ms, i) => ms * (1 + depth * Math.SQRT2 * Math.sin((2 * Math.PI * i) / period + phase)))
}

/** One factor for each group of presses, holds and intervals apart. */
function stretched(pattern: Durations, deviation: number, groupOf: (i: number) => number, random: Random): Durations {
  const factors = new Map<string, number>()
  return mapped(pattern, (ms, i, which) => {
    const group = `${which} ${groupOf(i)}`
    const factor = factors.get(group) ?? Math.exp(deviation * normal(random))
    factors.set(group, factor)
    return factor * ms
  })
}

/** Exchanges the times among the presses of the same key. */
function exchanged(pattern: Durations, random: Random): Durations {
  const presses = pressesOf(pattern)
  const stocks = new Map<number, Press[]>()
  for (const press of shuffled(presses, random)) stocks.set(press.key, [...(stocks.get(press.key) ?? []), press])
  return fromPresses(presses.map((press) => stocks.get(press.key)?.pop() ?? press))
}

/** Each logarithm mirrored at the mean of its key: the deviation from the mean changes its sign. */
function reflected(pattern: Durations): Durations {
  const sums = new Map<string, { logs: number; n: number }>()
  const groupOf = (i: number, which: string): string => `${which} ${pattern.keys[i]}`
  const logOf = (ms: number): number => Math.log(Math.max(1, ms))
  mapped(pattern, (ms, i, which) => {
    const { logs, n } = sums.get(groupOf(i, which)) ?? { logs: 0, n: 0 }
    sums.set(groupOf(i, which), { logs: logs + logOf(ms), n: n + 1 })
    return ms
  })
  return mapped(pattern, (ms, i, which) => {
    const { logs, n } = sums.get(groupOf(i, which)) ?? { logs: logOf(ms), n: 1 }
    return Math.exp((2 * logs) / n - logOf(ms))
  })
}

const LETTERS = 26

/** The same times under other letters: one permutation of the alphabet, for `share` of the presses. */
function relabelled(pattern: Durations, share: number, random: Random): Durations {
  const letters = shuffled(
    Array.from({ length: LETTERS }, (_, i) => i + 1),
    random,
  )
  return { ...pattern, keys: pattern.keys.map((key) => (random() < share ? (letters[key - 1] ?? key) : key)) }
}

/** Multiplies the logarithms' deviations from their mean by a factor: the order of the times stays, their spread changes. */
function raised(pattern: Durations, power: number): Durations {
  const centreOf = (all: readonly number[]): number =>
    Math.exp(all.reduce((sum, ms) => sum + Math.log(Math.max(1, ms)), 0) / all.length)
  const centre = { hold: centreOf(pattern.holds), interval: centreOf(pattern.intervals.slice(1)) }
  return mapped(pattern, (ms, _, which) => centre[which] * (ms / centre[which]) ** power)
}

/** Log-normal noise that depends on the noise of the press before. */
function remembering(pattern: Durations, deviation: number, memory: number, random: Random): Durations {
  const kept = { hold: normal(random), interval: normal(random) }
  return mapped(pattern, (ms, _, which) => {
    kept[which] = memory * kept[which] + Math.sqrt(1 - memory ** 2) * normal(random)
    return ms * Math.exp(deviation * kept[which])
  })
}
