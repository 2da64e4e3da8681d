import {
  ATTACK_MODELS,
  type AttackModel,
  type Captured,
  capturedFrom,
  synthesize,
} from '../../src/calibration/attack-models.js'
import type { Person, Session } from '../../src/calibration/dataset.js'
import { type Random, seededRandom } from '../../src/calibration/random.js'
import { boundsProblem } from '../../src/domain/typing-pattern.js'
import type { Kernel } from '../../src/scoring/kernel.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { REPLAY_DISTANCE_MS } from '../../src/scoring/score.js'

const SEED = 7
export const sampleOf = (session: Session): Uint8Array => encodeSample(session, 'visible')
export const within = (session: Session): boolean => session.length > 0 && boundsProblem(session) === null

/** Counts over `samples` forgeries: not called a bot (APCER), and neither a bot nor a replay but authenticated (IAPAR). */
interface ForgeryCount {
  readonly samples: number
  readonly notCalled: number
  readonly accepted: number
}

/** A person under attack: references, the texts to type, and the forger's captures. */
interface Victim {
  readonly references: readonly Uint8Array[]
  readonly texts: readonly Session[]
  readonly stock: Readonly<Record<'references' | 'captures', Captured>>
}

/**
 * People with 15 sessions as victims: sessions 0 to 4 are enrolled, 5 to 9 are captured by some forgers, and 10 to 14 are the
 * texts to type, so no text occurs in two of these sets. Uses the first `pressesMax` presses of each.
 */
export function victimsOf(people: readonly Person[], pressesMax = 50): Victim[] {
  return people.flatMap(({ sessions }) => {
    const all = [...sessions.values()].map((session) => session.slice(0, pressesMax))
    const texts = all.slice(10, 15)
    if (texts.length === 0) return []
    const stock = { references: capturedFrom(all.slice(0, 5)), captures: capturedFrom(all.slice(5, 10)) }
    return [{ references: all.slice(0, 5).map(sampleOf), texts, stock }]
  })
}

/** One session each of people who are not victims: the typing of the population, as a forger finds it in public data. */
export const populationOf = (people: readonly Person[]): Captured =>
  capturedFrom(people.slice(0, 300).flatMap(({ sessions }) => [...sessions.values()].slice(0, 1)))

/** `samples` forgeries of an attack model, spread over the victims, against each victim's five references. */
export function countForgeries(
  kernel: Kernel,
  attackModel: AttackModel,
  victims: readonly Victim[],
  population: Captured,
  samples: number,
): ForgeryCount {
  const random = seededRandom(SEED)
  let [made, notCalled, accepted] = [0, 0, 0]
  const each = Math.ceil(samples / victims.length)
  for (const victim of victims) {
    victim.references.forEach((reference, i) => {
      kernel.read(i + 1, reference)
    })
    for (let i = 0; i < each && made < samples; i++) {
      kernel.read(0, sampleOf(forged(attackModel, victim, population, i, random)))
      const { botLikelihood, confidence, replayDistanceMs } = kernel.scoreRead(victim.references.length)
      made++
      if (botLikelihood > 0.5) continue
      notCalled++
      if (replayDistanceMs >= REPLAY_DISTANCE_MS && (confidence ?? 0) >= 0.5) accepted++
    }
  }
  return { samples: made, notCalled, accepted }
}

/** Texts and draws to try before a forgery outside the bounds of a pattern is used. */
const DRAWS_MAX = 50

/** A forgery within a pattern's bounds. */
function forged(attackModel: AttackModel, victim: Victim, population: Captured, turn: number, random: Random): Session {
  const { of } = ATTACK_MODELS[attackModel]
  const stock = of === 'population' ? population : victim.stock[of]
  for (let i = turn; ; i++) {
    const text = victim.texts[i % victim.texts.length] ?? []
    const session = synthesize(attackModel, text, stock, random() < 0.5 ? 1 : 0.1, random)
    if (within(session) || i > turn + DRAWS_MAX) return session
  }
}
