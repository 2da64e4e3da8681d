import { synthesize } from '../../src/calibration/attack-models.js'
import { type Random, shuffled } from '../../src/calibration/random.js'
import { type CaptureModel, forgeWithMemory, type MemoryModel } from '../../src/calibration/remembered-noise.js'
import type { Attacker } from './captures.js'
import {
  type Durations,
  durationsOf,
  type Edit,
  fromPresses,
  mapped,
  type Press,
  pressAt,
  pressesOf,
  sessionOf,
  wordsOf,
} from './durations.js'
import { MOVING_EDITS } from './edits.js'
import { judge } from './profile.js'

/** Gives the times of a pattern to other keys. */
type Carry = (pattern: Durations, keys: readonly number[], random: Random) => Durations

/** Keeps the order of the times; a longer text begins with the first again. */
export const byPosition: Carry = (pattern, keys) =>
  fromPresses(keys.map((key, i) => ({ ...pressAt(pattern, placeOf(i, pattern.keys.length)), key })))

/** The place of a press in a pattern of `n` presses; the first press has no interval and is used once. */
const placeOf = (i: number, n: number): number => (i < n ? i : 1 + ((i - 1) % Math.max(1, n - 1)))

/** Each press takes its times from a press of the same key pair, else of the same key, else at the same place. */
export const byPair: Carry = (pattern, keys, random) =>
  same(pattern.keys, keys)
    ? pattern
    : fromPresses(
        keys.map((key, i) => ({
          ...(oneOf(nearest([pattern], keys, i), random) ?? pressAt(pattern, placeOf(i, pattern.keys.length))),
          key,
        })),
      )

const same = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((key, i) => key === b[i])
const oneOf = <T>(all: readonly T[], random: Random): T | undefined => all[Math.floor(random() * all.length)]

/** A press with its neighbours. */
interface Placed extends Press {
  readonly before: number | undefined
  readonly after: number | undefined
  readonly secondBefore: number | undefined
}

/** Neighbours that are compared, in the order of what they tell about a press. */
const CONTEXT = [
  ['before', -1],
  ['after', 1],
  ['secondBefore', -2],
] as const

/**
 * Presses of the same key after the same key, or if there are none, any presses of the same key. With `depth` 3 only those with the
 * same next key and the same key two before, if there are any. Empty if no pattern has the key.
 */
function nearest(patterns: readonly Durations[], keys: readonly number[], i: number, depth = 1): readonly Press[] {
  let found = patterns.flatMap((pattern) => placedIn(pattern).get(keys[i] ?? 0) ?? [])
  for (const [neighbour, offset] of CONTEXT.slice(0, depth)) {
    const alike = found.filter((press) => press[neighbour] === keys[i + offset])
    if (alike.length === 0) break
    found = alike
  }
  return found
}

const placed = new WeakMap<Durations, ReadonlyMap<number, readonly Placed[]>>()

/** Presses of a pattern by key, without the first one. */
function placedIn(pattern: Durations): ReadonlyMap<number, readonly Placed[]> {
  const kept = placed.get(pattern)
  if (kept !== undefined) return kept
  const { keys } = pattern
  const found = new Map<number, Placed[]>()
  pressesOf(pattern).forEach((press, i) => {
    if (i === 0) return
    const neighbours = { before: keys[i - 1], after: keys[i + 1], secondBefore: keys[i - 2] }
    found.set(press.key, [...(found.get(press.key) ?? []), { ...press, ...neighbours }])
  })
  placed.set(pattern, found)
  return found
}

/** One capture, edited. */
export const edited =
  (edits: readonly Edit[], carry: Carry = byPair): Attacker =>
  ({ stolen: [capture], keys, random }) =>
    edits.reduce((pattern, edit) => edit(pattern, random), carry(orNone(capture), keys, random))

const NONE: Durations = { keys: [], holds: [], intervals: [] }
const orNone = (pattern: Durations | undefined): Durations => pattern ?? NONE

/** Two captures under the same keys, joined press by press. */
const joining =
  (join: (a: Press, b: Press, i: number) => Omit<Press, 'key'>): Attacker =>
  ({ stolen: [first, second], keys, random }) => {
    const [a, b] = [first, second].map((one) => byPair(orNone(one), keys, random))
    return fromPresses(
      pressesOf(orNone(a)).map((press, i) => ({ ...join(press, pressAt(orNone(b), i), i), key: press.key })),
    )
  }

const between = (share: number): Attacker =>
  joining((a, b) => ({
    hold: (1 - share) * a.hold + share * b.hold,
    interval: (1 - share) * a.interval + share * b.interval,
  }))

const then =
  (attacker: Attacker, edit: Edit): Attacker =>
  (attempt) =>
    edit(attacker(attempt), attempt.random)

const geometricMean = joining((a, b) => ({
  hold: Math.sqrt(a.hold * b.hold),
  interval: Math.sqrt(a.interval * b.interval),
}))

/** Words of the first capture, every second one with the times of the second capture. */
const alternatingWords: Attacker = (attempt) => {
  const { stolen, keys, random } = attempt
  const [a, b] = stolen.slice(0, 2).map((one) => byPair(one, keys, random))
  const fromSecond = wordsOf(orNone(a)).flatMap((word, i) => word.map(() => i % 2 === 1))
  return fromPresses(fromSecond.map((second, at) => pressAt(orNone(second ? b : a), at)))
}

export const TWO_CAPTURES = {
  'interpolated 0.3': between(0.3),
  'interpolated 0.5': between(0.5),
  'interpolated 0.7': between(0.7),
  'holds of one, intervals of the other': joining((a, b) => ({ hold: a.hold, interval: b.interval })),
  'every second press from the other': joining((a, b, i) => (i % 2 === 0 ? a : b)),
  'alternating words': alternatingWords,
  'geometric mean, noise 0.08': then(geometricMean, MOVING_EDITS['noise 0.08']),
} as const satisfies Record<string, Attacker>

/** Takes each press from any capture that has its context; the capture with the typed text itself is left out. */
const spliced =
  (depth: number): Attacker =>
  ({ stolen, keys, random }) => {
    const [first, ...others] = stolen
    const from = same(orNone(first).keys, keys) ? others : stolen
    const own = byPair(orNone(first), keys, random)
    return fromPresses(
      pressesOf(own).map((press, i) => ({
        ...(oneOf(nearest(from, keys, i, depth), random) ?? press),
        key: press.key,
      })),
    )
  }

const PRESSES = 50

/** Words of all captures in a random order. */
const splicedWords: Attacker = ({ stolen, random }) =>
  fromPresses(shuffled(stolen.flatMap(wordsOf), random).flat().slice(0, PRESSES))

/** The first capture; every second press has the times of another. */
const everySecondPress: Attacker = ({ stolen, keys, random }) => {
  const own = byPair(orNone(stolen[0]), keys, random)
  return fromPresses(
    pressesOf(own).map((press, i) => ({
      ...(i % 2 === 0 ? press : (oneOf(nearest(stolen.slice(1), keys, i), random) ?? press)),
      key: press.key,
    })),
  )
}

/** The first capture; half of its times are drawn anew from the log-normal law of their key pair. */
const halfRedrawn: Attacker = (attempt) => {
  const { stolen, keys, random } = attempt
  const own = byPair(orNone(stolen[0]), keys, random)
  const drawn = drawnBy('S6pairLognormal')(attempt)
  return mapped(own, (ms, i, which) => (random() < 0.5 ? ms : (pressAt(drawn, i)[which] ?? ms)))
}

export const EIGHT_CAPTURES_SPLICED = {
  'spliced by word': splicedWords,
  'spliced by press': spliced(1),
  'spliced by nearest context': spliced(3),
  'every second press from another': everySecondPress,
  'half redrawn': halfRedrawn,
} as const satisfies Record<string, Attacker>

const GRID_MS = 0.1
/** The forgers of `src/calibration` use only the keys of a text. */
const textOf = (keys: readonly number[]) => sessionOf({ keys, holds: keys.map(() => 1), intervals: keys.map(() => 2) })

function drawnBy(model: Parameters<typeof synthesize>[0]): Attacker {
  return ({ loot, keys, random }) =>
    durationsOf(synthesize(model, textOf(keys), loot.stock(), { gridMs: GRID_MS, random }))
}

const remembered =
  (model: MemoryModel | CaptureModel): Attacker =>
  ({ loot, keys, random }) =>
    durationsOf(
      forgeWithMemory(model, textOf(keys), { victim: loot.means(), strangers: [] }, { gridMs: GRID_MS, random }),
    )

/** Tries of an attacker who has the scorer and the model. */
const CANDIDATES = 48

/** Sends the forgery that the attacker's own copy of the scorer accepts with the highest confidence. */
const bestOf =
  (attacker: Attacker): Attacker =>
  (attempt) => {
    const profile = attempt.loot.profile()
    const worth = (forged: Durations): number => {
      const { confidence, authenticated } = judge(attempt.kernel, profile, sessionOf(forged))
      return confidence + (authenticated ? 1 : 0)
    }
    const forgeries = Array.from({ length: CANDIDATES }, () => attacker(attempt))
    const worths = forgeries.map(worth)
    return orNone(forgeries[worths.indexOf(Math.max(...worths))])
  }

export const EIGHT_CAPTURES_SYNTHESIZED = {
  'Gaussian by key pair': drawnBy('S6pairGaussian'),
  'log-normal by key pair': drawnBy('S6pairLognormal'),
  'kernel density with copula': remembered('S8kernelDensity'),
  'kernel density on shrunk means': remembered('S8kernelDensityShrunk'),
  'residuals with memory': remembered('S7joint'),
  'residuals with memory on shrunk means': remembered('S7shrunk'),
  'residual blocks of 6 on means by key pair': remembered('S8blocks6'),
  'own residuals on shrunk means': remembered('S8shrunkSession'),
  'own residuals, half of them redrawn': remembered('S8halfRedrawn'),
} as const satisfies Record<string, Attacker>

/** Attackers who have this repository's model and choose a forgery by the profile that they make of their loot. */
export const BEST_OF_48 = {
  'best of 48: own residuals on shrunk means': bestOf(remembered('S8shrunkSession')),
  'best of 48: kernel density': bestOf(remembered('S8kernelDensity')),
  'best of 48: spliced by press': bestOf(spliced(1)),
  'best of 48: one pattern, noise 0.15': bestOf(edited([MOVING_EDITS['noise 0.15']])),
} as const satisfies Record<string, Attacker>

export const STOLEN_REFERENCES = {
  'x 0.89 or 1.11 at random': edited([MOVING_EDITS['x 0.89 or 1.11 at random']]),
  'noise 0.20': edited([MOVING_EDITS['noise 0.20']]),
  'interpolated 0.3': between(0.3),
  'interpolated 0.5': between(0.5),
  'spliced by press': spliced(1),
} as const satisfies Record<string, Attacker>
