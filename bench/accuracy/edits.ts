import type { Person, Session } from '../../src/calibration/dataset.js'
import { type Random, seededRandom } from '../../src/calibration/random.js'
import type { Kernel } from '../../src/scoring/kernel.js'
import { BOT_LIKELIHOOD, isCopy, REPLAY_DISTANCE_MS } from '../../src/scoring/score.js'
import { confirmed, sketchOf } from '../../src/scoring/sketch.js'
import { sampleOf, within } from './forgeries.js'
import { isReplay, type Sender } from './replays.js'

const SEED = 13
const THRESHOLD = 0.5
const PRESSES_MAX = 50

/** A pattern as durations: holds, and intervals from the previous press (0 at the first), ms. */
interface Durations {
  readonly keys: readonly number[]
  readonly holds: readonly number[]
  readonly intervals: readonly number[]
}

type Edit = (pattern: Durations, random: Random) => Durations

/** Changes of a captured pattern that an attacker may try, one at a time. */
export const EDITS = {
  'one pause longer by 60 to 500 ms': (pattern, random) => {
    const at = 1 + Math.floor(random() * (pattern.keys.length - 1))
    return withIntervals(pattern, (ms, i) => (i === at ? ms + 60 + 440 * random() : ms))
  },
  'one key dropped': (pattern, random) => dropped(pattern, 1, random),
  'three keys dropped': (pattern, random) => dropped(pattern, 3, random),
  'halves scaled by +3 and -3 %': (pattern) => {
    const half = pattern.keys.length / 2
    return scaled(pattern, (i) => (i < half ? 1.03 : 0.97))
  },
  'smooth warp of 4 %': (pattern, random) => {
    const [phase, period] = [2 * Math.PI * random(), 15 + 20 * random()]
    return scaled(pattern, (i) => 1 + 0.04 * Math.SQRT2 * Math.sin((2 * Math.PI * i) / period + phase))
  },
  'each time stretched by its own 6 %': (pattern, random) => ({
    ...pattern,
    holds: pattern.holds.map((ms) => ms * (1 + 0.06 * (2 * random() - 1))),
    intervals: pattern.intervals.map((ms) => ms * (1 + 0.06 * (2 * random() - 1))),
  }),
  'scaled by one factor, 0.93 to 1.07': (pattern, random) => {
    const factor = 0.93 + 0.14 * random()
    return scaled(pattern, () => factor)
  },
  'scaled by one factor, 0.8 to 1.25': (pattern, random) => {
    const factor = 0.8 * (1.25 / 0.8) ** random()
    return scaled(pattern, () => factor)
  },
  'jitter 4 ms': (pattern, random) => jittered(pattern, 4, random),
  'halves swapped': ({ keys, holds, intervals }) => {
    const half = keys.length >> 1
    const swap = <T>(all: readonly T[]): T[] => [...all.slice(half), ...all.slice(0, half)]
    return {
      keys: swap(keys),
      holds: swap(holds),
      intervals: swap(intervals).map((ms, i) => (i === 0 ? 0 : ms || 200)),
    }
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

const withIntervals = (pattern: Durations, change: (ms: number, i: number) => number): Durations => ({
  ...pattern,
  intervals: pattern.intervals.map(change),
})

const scaled = ({ keys, holds, intervals }: Durations, factor: (i: number) => number): Durations => ({
  keys,
  holds: holds.map((ms, i) => ms * factor(i)),
  intervals: intervals.map((ms, i) => ms * factor(i)),
})

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

const durationsOf = (session: Session): Durations => ({
  keys: session.map(({ key }) => key),
  holds: session.map(({ pressMs, releaseMs }) => releaseMs - pressMs),
  intervals: session.map(({ pressMs }, i) => (i === 0 ? 0 : pressMs - (session[i - 1]?.pressMs ?? 0))),
})

function sessionOf({ keys, holds, intervals }: Durations): Session {
  let pressMs = 0
  return keys.map((key, i) => {
    pressMs += intervals[i] ?? 0
    return { key, pressMs, releaseMs: pressMs + (holds[i] ?? 0) }
  })
}

/** A person under attack: five references, five patterns tested since, captures among those that the service has seen, and sincere patterns to come. */
interface Target {
  readonly references: readonly Uint8Array[]
  readonly known: readonly Uint8Array[]
  readonly captures: readonly Session[]
  readonly enrolled: readonly Session[]
  readonly later: readonly Session[]
}

/** Sessions 0 to 4 are enrolled, 5 to 9 tested, of which the last two are captured; 10 to 14 come later. */
export function targetsOf(people: readonly Person[]): Target[] {
  return people.flatMap(({ sessions }) => {
    const all = [...sessions.values()].map((session) => session.slice(0, PRESSES_MAX)).filter((one) => within(one))
    if (all.length < 12) return []
    const [enrolled, tested] = [all.slice(0, 5), all.slice(5, 10)]
    const known = [...enrolled, ...tested].map((one) => confirmed(sketchOf(sampleOf(one))))
    const references = enrolled.map(sampleOf)
    return [{ references, known, captures: tested.slice(3), enrolled, later: all.slice(10) }]
  })
}

/** Patterns sent, called a copy, and authenticated. */
interface EditCount {
  readonly samples: number
  readonly copies: number
  readonly authenticated: number
}

/** `samples` patterns that `make` draws, each scored against its target's references and known patterns. */
function count(
  kernel: Kernel,
  targets: readonly Target[],
  samples: number,
  make: (target: Target, i: number) => Session,
): EditCount {
  let [made, copies, authenticated] = [0, 0, 0]
  const each = Math.ceil(samples / targets.length)
  for (const target of targets) {
    target.references.forEach((reference, i) => {
      kernel.read(i + 1, reference)
    })
    for (let i = 0; i < each && made < samples; i++) {
      const session = make(target, i)
      if (!within(session)) continue
      made++
      const sample = sampleOf(session)
      kernel.read(0, sample)
      const { botLikelihood, confidence, replayDistanceMs } = kernel.scoreRead(target.references.length)
      const copy = isCopy(kernel.repeats(sketchOf(sample), target.known))
      if (copy) copies++
      if (
        !copy &&
        botLikelihood <= BOT_LIKELIHOOD &&
        replayDistanceMs >= REPLAY_DISTANCE_MS &&
        (confidence ?? 0) >= THRESHOLD
      )
        authenticated++
    }
  }
  return { samples: made, copies, authenticated }
}

const of = (sessions: readonly Session[], i: number): Session => sessions[i % sessions.length] ?? []

/** Edited copies of captured sign-ins, or of the enrolled references (`from`). */
export function countEdits(
  kernel: Kernel,
  targets: readonly Target[],
  edits: readonly Edit[],
  from: 'captures' | 'enrolled',
  samples: number,
): EditCount {
  const random = seededRandom(SEED)
  return count(kernel, targets, samples, (target, i) =>
    sessionOf(edits.reduce((pattern, edit) => edit(pattern, random), durationsOf(of(target[from], i)))),
  )
}

/** Edited copies of captures, sent after 48 later patterns or by another member: how many the replay index alone does not stop. */
export function countUnindexed(
  kernel: Kernel,
  targets: readonly Target[],
  edit: Edit,
  samples: number,
  sender: Sender,
): number {
  const random = seededRandom(SEED)
  let missed = 0
  for (let i = 0; i < samples; i++) {
    const capture = of(targets[i % targets.length]?.captures ?? [], i)
    if (!isReplay(kernel, capture, sessionOf(edit(durationsOf(capture), random)), sender)) missed++
  }
  return missed
}

/** The owners' own later patterns. */
export const countLater = (kernel: Kernel, targets: readonly Target[], samples: number): EditCount =>
  count(kernel, targets, samples, ({ later }, i) => of(later, i))

/** One capture sent `reuses` times with a longer pause at another place each time; each is known afterwards. Patterns authenticated, mean and most a target. */
export function countReuses(
  kernel: Kernel,
  targets: readonly Target[],
  reuses: number,
): { mean: number; most: number } {
  const random = seededRandom(SEED)
  const counts = targets.map((target) => {
    let known = target.known
    let authenticated = 0
    for (let i = 0; i < reuses; i++) {
      const session = sessionOf(EDITS['one pause longer by 60 to 500 ms'](durationsOf(of(target.captures, 0)), random))
      authenticated += count(kernel, [{ ...target, known }], 1, () => session).authenticated
      known = [...known, sketchOf(sampleOf(session))]
    }
    return authenticated
  })
  return { mean: counts.reduce((sum, n) => sum + n, 0) / counts.length, most: Math.max(...counts) }
}

/** Patterns of one person in order, each compared with up to 48 before it: how many are called a copy. */
export function countSincereCopies(
  kernel: Kernel,
  people: readonly (readonly Session[])[],
): { patterns: number; called: number } {
  let [patterns, called] = [0, 0]
  for (const sessions of people) {
    const sketches = sessions.map((session) => confirmed(sketchOf(sampleOf(session))))
    for (let i = 5; i < sketches.length; i++) {
      patterns++
      const known = sketches.slice(Math.max(0, i - 48), i)
      if (isCopy(kernel.repeats(sketchOf(sampleOf(sessions[i] ?? [])), known))) called++
    }
  }
  return { patterns, called }
}
