import {
  ATTACK_MODELS,
  type AttackModel,
  type Captured,
  capturedFrom,
  synthesize,
} from '../../src/calibration/attack-models.js'
import type { Subject, TypingSession } from '../../src/calibration/dataset.js'
import { type Random, seededRandom } from '../../src/calibration/random.js'
import {
  forgeWithMemory,
  type Means,
  type MemoryModel,
  meansOf,
  residualsOf,
} from '../../src/calibration/remembered-noise.js'
import { boundsProblem } from '../../src/domain/typing-pattern.js'
import type { Kernel } from '../../src/scoring/kernel.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { REPLAY_DISTANCE_MS } from '../../src/scoring/score.js'

const SEED = 7
export const sampleOf = (session: TypingSession): Uint8Array => encodeSample(session, 'visible')
export const within = (session: TypingSession): boolean => session.length > 0 && boundsProblem(session) === null

/** Counts over `samples` forgeries: not called a bot (APCER), and neither a bot nor a replay but authenticated (IAPAR). */
interface ForgeryCount {
  readonly samples: number
  readonly notCalled: number
  readonly accepted: number
}

/** A person under attack: references, the texts to type, and the forger's captures. */
interface Victim {
  readonly references: readonly Uint8Array[]
  readonly texts: readonly TypingSession[]
  readonly stock: Readonly<Record<'references' | 'captures', Captured>>
  /** Means of the references. */
  readonly means: Means
}

/** Makes a forgery of the victim over the keys of a text. */
export type Forger = (victim: Victim, text: TypingSession, random: Random) => TypingSession

/**
 * People with 15 sessions as victims: sessions 0 to 4 are enrolled, 5 to 9 are captured by some forgers, and 10 to 14 are the
 * texts to type, so no text occurs in two of these sets. Uses the first `pressesMax` presses of each.
 */
export function victimsOf(people: readonly Subject[], pressesMax = 50): Victim[] {
  return people.flatMap(({ sessions }) => {
    const all = [...sessions.values()].map((session) => session.slice(0, pressesMax))
    const texts = all.slice(10, 15)
    if (texts.length === 0) return []
    const stock = { references: capturedFrom(all.slice(0, 5)), captures: capturedFrom(all.slice(5, 10)) }
    const enrolled = all.slice(0, 5)
    return [{ references: enrolled.map(sampleOf), texts, stock, means: meansOf(enrolled) }]
  })
}

/** One session each of people who are not victims: the typing of the population, as a forger finds it in public data. */
export const populationOf = (people: readonly Subject[]): Captured =>
  capturedFrom(people.slice(0, 300).flatMap(({ sessions }) => [...sessions.values()].slice(0, 1)))

const gridOf = (random: Random): number => (random() < 0.5 ? 1 : 0.1)

export function forgerOf(attackModel: AttackModel, population: Captured): Forger {
  const { of } = ATTACK_MODELS[attackModel]
  return ({ stock }, text, random) =>
    synthesize(attackModel, text, of === 'population' ? population : stock[of], { gridMs: gridOf(random), random })
}

export const rememberingForger =
  (model: MemoryModel, strangers: Means['residuals']): Forger =>
  ({ means }, text, random) =>
    forgeWithMemory(model, text, { victim: means, strangers }, { gridMs: gridOf(random), random })

/** Forgeries that a choosing forger makes of one text. */
const CANDIDATES = 16

/**
 * A forger that knows the bot signs: makes several forgeries and sends the one whose distance from the references is nearest to
 * that of a reference from the others. The distance is the mean deviation from the victim's mean of the key pair, in
 * logarithms, of holds and of intervals.
 */
export const choosingForger =
  (forger: Forger): Forger =>
  (victim, text, random) => {
    const wanted = distanceOf(victim.means.residuals[Math.floor(random() * victim.means.residuals.length)] ?? [])
    const candidates = Array.from({ length: CANDIDATES }, () => forger(victim, text, random))
    const miss = (session: TypingSession): number => {
      const [hold, interval] = distanceOf(residualsOf(session, victim.means))
      return Math.abs(hold - wanted[0]) + Math.abs(interval - wanted[1])
    }
    return candidates.reduce((best, one) => (miss(one) < miss(best) ? one : best))
  }

const meanSize = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + Math.abs(value), 0) / Math.max(1, values.length)
const distanceOf = (residuals: Means['residuals'][number]): readonly [hold: number, interval: number] => [
  meanSize(residuals.map(([hold]) => hold)),
  meanSize(residuals.map(([, interval]) => interval)),
]

/**
 * `samples` forgeries, spread over the victims, against each victim's five references. With `botOf` another kernel's verdict
 * replaces the first one's.
 */
export function countForgeries(
  kernel: Kernel,
  forger: Forger,
  victims: readonly Victim[],
  { samples, botOf = kernel }: { readonly samples: number; readonly botOf?: Kernel },
): ForgeryCount {
  const random = seededRandom(SEED)
  let [made, notCalled, accepted] = [0, 0, 0]
  const each = Math.ceil(samples / victims.length)
  for (const victim of victims) {
    for (const each of new Set([kernel, botOf]))
      victim.references.forEach((reference, i) => {
        each.read(i + 1, reference)
      })
    for (let i = 0; i < each && made < samples; i++) {
      const sample = sampleOf(forged(forger, victim, i, random))
      kernel.read(0, sample)
      const { botLikelihood, confidence, replayDistanceMs } = kernel.scoreRead(victim.references.length)
      made++
      if (botOf !== kernel) botOf.read(0, sample)
      if ((botOf === kernel ? botLikelihood : botOf.scoreRead(victim.references.length).botLikelihood) > 0.5) continue
      notCalled++
      if (replayDistanceMs >= REPLAY_DISTANCE_MS && (confidence ?? 0) >= 0.5) accepted++
    }
  }
  return { samples: made, notCalled, accepted }
}

/** Texts and draws to try before a forgery outside the bounds of a pattern is used. */
const DRAWS_MAX = 50

/** A forgery within a pattern's bounds. */
function forged(forger: Forger, victim: Victim, turn: number, random: Random): TypingSession {
  for (let i = turn; ; i++) {
    const text = victim.texts[i % victim.texts.length] ?? []
    const session = forger(victim, text, random)
    if (within(session) || i > turn + DRAWS_MAX) return session
  }
}
