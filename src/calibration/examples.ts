import { createKernel } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import {
  ATTACK_MODEL_NAMES,
  ATTACK_MODELS,
  type AttackModel,
  capturedFrom,
  disturbance,
  synthesize,
} from './attack-models.js'
import type { Subject, TypingSession } from './dataset.js'
import { type Random, seededRandom, shuffled } from './random.js'
import {
  type Family,
  forgeWithMemory,
  MEMORY_MODEL_NAMES,
  MEMORY_MODELS,
  meansOf,
  strangersOf,
} from './remembered-noise.js'
import type { Examples } from './rows.js'
import { collector } from './rows.js'

const PRESSES_MIN = 15
const REFERENCES_MAX = 10
/** Pieces of other captures look like typing to these signs. As examples they would only weaken the signs. */
const FITTED = ATTACK_MODEL_NAMES.filter((attackModel) => attackModel !== 'S6spliceOther')
/** The forgeries that are hardest to distinguish from typing are drawn more often. */
const HARD: readonly AttackModel[] = [
  'S6pairGaussian',
  'S6pairLognormal',
  'S6spliceJittered',
  'S6keyHistogram',
  'S6pairGaussianOther',
]
const DRAWN: readonly AttackModel[] = [...FITTED, ...HARD, ...HARD, ...HARD, 'S6pairGaussian', 'S6pairLognormal']
/** Models that a single pattern reveals. Models that keep the times of each key or key pair would only weaken the signs. */
const SHOWING: readonly AttackModel[] = [
  'S1',
  'S3',
  'S4',
  'S4log',
  'S5histogram',
  'S6average',
  'S6uniform',
  'S6gaussian',
  'S6histogram',
]
/** The situation that signs are fitted for: a pattern with the person's references, or a pattern alone. */
export type Company = 'references' | 'none'
/** Rounds for each person, each with other references, texts and lengths. */
const ROUNDS = 7

/** A person's sessions in one round: enrolled, captured by a forger, typed as probes. */
interface Dealt {
  readonly references: readonly TypingSession[]
  readonly captures: readonly TypingSession[]
  readonly probes: readonly TypingSession[]
}

/** Number of references: none as in a first enrolment, or five as in a usual verification, or two to ten. */
function referencesDrawn(company: Company, random: Random): number {
  if (company === 'none') return 0
  return random() < 0.5 ? 5 : 2 + Math.floor(random() * (REFERENCES_MAX - 1))
}

/** Deals sessions for a round; half of the rounds simulate another keyboard or way of typing for all of them. */
export function dealt(sessions: readonly TypingSession[], company: Company, random: Random): Dealt {
  const length = random() < 0.5 ? 50 : PRESSES_MIN + Math.floor(random() * 50)
  const changed = random() < 0.5 ? (session: TypingSession) => session : disturbance(random)
  const usable = shuffled(sessions, random)
    .map((session) => changed(session).slice(0, length))
    .filter((session) => session.length >= PRESSES_MIN)
  const n = Math.min(referencesDrawn(company, random), Math.floor(usable.length / 2))
  const rest = usable.slice(n)
  const captures = rest.slice(0, Math.min(5, Math.floor(rest.length / 2)))
  return { references: usable.slice(0, n), captures, probes: rest.slice(captures.length) }
}

/** Bot signs of sincere sessions (0) and of synthetic ones (1) from the attack models that signs can detect, cut to random lengths. */
export function livenessExamples(
  { wasm, model }: { readonly wasm: Uint8Array; readonly model: Uint8Array },
  people: readonly Subject[],
  company: Company,
  { seed, leftOut }: { readonly seed: number; readonly leftOut?: Family | undefined },
): Examples {
  const random = seededRandom(seed)
  const kernel = createKernel(wasm, model)
  let collected: ReturnType<typeof collector> | undefined
  const examine = (session: TypingSession, references: number, label: 0 | 1): void => {
    kernel.read(0, encodeSample(session, 'visible'))
    const row = kernel.examine(references)
    collected ??= collector(row.length)
    collected.add(row, label)
  }
  const population = capturedFrom(people.slice(0, 300).flatMap(({ sessions }) => [...sessions.values()].slice(0, 1)))
  const strangers = strangersOf(people)
  const remembered = MEMORY_MODEL_NAMES.filter((model) => MEMORY_MODELS[model].family !== leftOut)
  for (const { sessions } of people) {
    for (let round = 0; round < ROUNDS; round++) {
      const { references, captures, probes } = dealt([...sessions.values()], company, random)
      if (captures.length === 0) continue
      references.forEach((reference, i) => {
        kernel.read(i + 1, encodeSample(reference, 'visible'))
      })
      for (const probe of [...captures, ...probes]) examine(probe, references.length, 0)
      const overheard = capturedFrom(captures)
      const stock = {
        population,
        captures: overheard,
        references: references.length > 0 ? capturedFrom(references) : overheard,
      }
      for (const attackModel of company === 'none' ? SHOWING : DRAWN) {
        const text = probes[Math.floor(random() * probes.length)] ?? []
        const forged = synthesize(attackModel, text, stock[ATTACK_MODELS[attackModel].of], {
          gridMs: random() < 0.5 ? 1 : 0.1,
          random,
        })
        examine(forged, references.length, 1)
      }
      if (company === 'none') continue
      const means = meansOf(references)
      for (const model of [...remembered, ...remembered]) {
        const text = probes[Math.floor(random() * probes.length)] ?? []
        const forged = forgeWithMemory(
          model,
          text,
          { victim: means, strangers },
          { gridMs: random() < 0.5 ? 1 : 0.1, random },
        )
        examine(forged, references.length, 1)
      }
    }
  }
  if (collected === undefined) throw new Error('no people to fit on')
  return collected.done()
}
