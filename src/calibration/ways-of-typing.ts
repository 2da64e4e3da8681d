import { KEYS_BY_CODE } from '../domain/key-table.js'
import type { TypingSession } from './dataset.js'
import { normal, type Random, shuffled } from './random.js'

/** Changes the times of a session, and its keys if the letters are in other places. */
type Change = (session: TypingSession) => TypingSession

export const unchanged: Change = (session) => session

/** Letters by the finger that types them on a QWERTY keyboard, from left to right. */
const FINGERS = ['qaz', 'wsx', 'edc', 'rfvtgb', 'yhnujm', 'ik', 'ol', 'p']
const OTHER_FINGER = FINGERS.length
const ROWS = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm']
/** Offset of a row to the right, in keys. */
const ROW_OFFSETS = [0, 0.25, 0.75]
const LETTERS = 26

const keyOf = (letter: string): number => KEYS_BY_CODE.get(`Key${letter.toUpperCase()}`) ?? 0
const fingersByKey = new Map(FINGERS.flatMap((letters, finger) => [...letters].map((of) => [keyOf(of), finger])))
const placesByKey = new Map(
  ROWS.flatMap((row, y) => [...row].map((letter, x) => [keyOf(letter), { x: x + (ROW_OFFSETS[y] ?? 0), y }] as const)),
)

const fingerOf = (key: number): number => fingersByKey.get(key) ?? OTHER_FINGER

/** Distance of two keys in widths of the keyboard; a middling one if a key is not a letter. */
function distance(first: number, second: number): number {
  const [from, to] = [placesByKey.get(first), placesByKey.get(second)]
  return from === undefined || to === undefined ? 0.4 : Math.hypot(from.x - to.x, from.y - to.y) / 9
}

/** Parts of a change, in natural logarithms of a time. */
interface Parts {
  readonly hold: number
  readonly holdByFinger: readonly number[]
  readonly flight: number
  /** By the finger of the previous key and that of this one, `previous x 9 + this`. */
  readonly flightByFingers: readonly number[]
  /** Applies in full to a flight across the whole keyboard. */
  readonly flightByDistance: number
  /** Grid of the timer, ms. */
  readonly gridMs: number
}

const drawn = (count: number, sd: number, random: Random): number[] =>
  Array.from({ length: count }, () => sd * normal(random))

const HOLD_MIN_MS = 8

function changeOf({ hold, holdByFinger, flight, flightByFingers, flightByDistance, gridMs }: Parts): Change {
  const grid = (ms: number): number => (gridMs > 1 ? Math.round(ms / gridMs) * gridMs : ms)
  return (session) => {
    let now = 0
    return session.map(({ key, pressMs, releaseMs }, i) => {
      const before = session[i - 1]
      if (before !== undefined) {
        const byFingers = flightByFingers[fingerOf(before.key) * 9 + fingerOf(key)] ?? 0
        const log = flight + byFingers + flightByDistance * distance(before.key, key)
        now += Math.max(1, (pressMs - before.pressMs) * Math.exp(log))
      }
      const factor = Math.exp(hold + (holdByFinger[fingerOf(key)] ?? 0))
      const held = Math.max(HOLD_MIN_MS, (releaseMs - pressMs) * factor)
      return { key, pressMs: grid(now), releaseMs: Math.max(grid(now + held), grid(now) + 1) }
    })
  }
}

/**
 * Another day of the same person. The standard deviations in logarithms are 0.2 for all holds, 0.08 for the holds of a finger,
 * 0.06 for the tempo and 0.04 for a pair of fingers. That is twice the drift between the days of Monaco's people (model/notebook.md).
 */
export function otherDay(random: Random): Change {
  const holdByFinger = drawn(9, 0.08, random)
  const flightByFingers = drawn(81, 0.04, random)
  const [hold = 0, flight = 0] = [0.2 * normal(random), 0.06 * normal(random)]
  return changeOf({ hold, holdByFinger, flight, flightByFingers, flightByDistance: 0, gridMs: 1 })
}

/**
 * A way of typing that the sources do not contain, for everybody in a comparison: slower or faster, other fingers, more time for
 * distant keys, mostly one key at a time, letters in other places, a coarse timer.
 */
export function otherWay(random: Random): Change {
  const letters = Array.from({ length: LETTERS }, (_, i) => i + 1)
  const places = random() < 0.3 ? shuffled(letters, random) : letters
  const oneAtATime = random() < 0.6
  const flightByDistance = 1.5 * random()
  const change = changeOf({
    hold: -0.1 + 0.3 * normal(random),
    holdByFinger: drawn(9, 0.06, random),
    flight: 0.35 + 0.4 * normal(random) - 0.4 * flightByDistance,
    flightByFingers: drawn(81, 0.12, random),
    flightByDistance,
    gridMs: [1, 1, 5, 8, 15.6][Math.floor(random() * 5)] ?? 1,
  })
  return (session) =>
    change(session).map(({ key, pressMs, releaseMs }, i, all) => {
      const nextMs = oneAtATime ? (all[i + 1]?.pressMs ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY
      const releasedMs = Math.min(releaseMs, pressMs + Math.max(20, 0.85 * (nextMs - pressMs)))
      return { key: places[key - 1] ?? key, pressMs, releaseMs: releasedMs }
    })
}
