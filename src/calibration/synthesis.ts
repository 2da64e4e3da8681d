import { createKernel, type Kernel } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import { confirmed, sketchOf } from '../scoring/sketch.js'
import {
  ATTACK_MODEL_NAMES,
  ATTACK_MODELS,
  type Captured,
  capturedFrom,
  disturbance,
  synthesize,
} from './attack-models.js'
import { type Boosted, fitBoosting } from './boosting.js'
import type { Subject, TypingSession } from './dataset.js'
import type { Sources } from './fitted-sources.js'
import { thresholdAt } from './metrics.js'
import { type Synthesis, withSynthesis } from './model-file.js'
import { type Random, seededRandom, shuffled } from './random.js'
import {
  CAPTURE_MODEL_NAMES,
  forgeWithMemory,
  MEMORY_MODEL_NAMES,
  type Means,
  meansOf,
  strangersOf,
} from './remembered-noise.js'
import { collector, type Examples } from './rows.js'

const FIT = { trees: 500, leaves: 14, learningRate: 0.08, l2: 3, rowsPerLeafMin: 40, rowShare: 0.3, featureShare: 0.25 }
/** Rounds for each person, each with other patterns known, enrolled and captured. */
const ROUNDS = 2
const PRESSES_MAX = 50
const PRESSES_MIN = 15
const REFERENCES = 5
const CAPTURES = 8
/** Patterns that the service knows: those of a member who has just enrolled, up to several weeks of sign-ins. */
const KNOWN = { least: 5, most: 16, usual: 13 }
/** Most known patterns of a round that are also examined as sincere ones, each against the others. */
const AGAIN_MAX = 7
/** Share of the rounds with patterns that simulate another keyboard or way of typing. */
const CHANGED = 0.5
/** Share of the rounds in which the forgers have the references and not the captures. */
const REFERENCES_STOLEN = 0.25
/** One person in so many chooses the threshold; no tree sees them. */
const HELD_OUT = 5
/** Share of held-out sincere patterns above the threshold, before any allowance. */
const FALSE_BOTS = 0.003
/**
 * Logits for people who type unlike the fitted people: at most as many as their own references need. With 4 logits one in 100 of
 * NISLAB's passphrases of two hands counts as a bot by these signs, with 5 one in 250, with 6 none. With more logits a forger passes
 * more often (model/notebook.md).
 */
const ALLOWANCE = 5

/** Forgers of every round. */
const DRAWN = ['S6pairGaussian', 'S6pairLognormal'] as const
/** Forgers of which a few are drawn in each round. */
const OTHERS = ATTACK_MODEL_NAMES.filter((model) => model !== 'S6spliceOther')
const OTHERS_DRAWN = 5

/** Typing of people who are not the victims, as forgers have it. */
interface Strangers {
  readonly population: Captured
  readonly residuals: Means['residuals']
}

interface FitOptions {
  readonly seed: number
  /** Called with the share of the fit that is done. */
  readonly onShare: (share: number) => void
}

/** Writers of composed text that the trees see. */
const WRITERS_MAX = 800

/** The people that the synthesis trees are fitted on. */
export const synthesisPeople = ({ aalto, klicke }: Sources): Subject[] => [...aalto, ...klicke.slice(0, WRITERS_MAX)]

/** Fits the trees that detect a pattern drawn from a forger's knowledge of the member, for a model file without such trees. */
export function fitSynthesis(
  wasm: Uint8Array,
  model: Uint8Array,
  people: readonly Subject[],
  { seed, onShare }: FitOptions,
): Synthesis {
  const heldOut = people.filter((_, i) => i % HELD_OUT === 0)
  const inner = people.filter((_, i) => i % HELD_OUT !== 0)
  const kernel = createKernel(wasm, model)
  const fitted = boost(synthesisExamples(kernel, inner, seed), seed, onShare)
  const trial = createKernel(wasm, withSynthesis(model, { ...fitted, intercept: 0, allowance: 0 }))
  const threshold = thresholdAt(sincereLogits(trial, heldOut, seed), FALSE_BOTS)
  return { ...fitted, intercept: -threshold, allowance: ALLOWANCE }
}

const boost = (examples: Examples, seed: number, onShare: FitOptions['onShare']): Boosted =>
  fitBoosting(examples, { ...FIT, seed, onTree: (done) => done % 20 === 0 && onShare(done / FIT.trees) })

/** A person's patterns in one round. */
interface Round {
  /** References first. */
  readonly known: readonly TypingSession[]
  readonly later: readonly TypingSession[]
  /** Patterns that a forger has. */
  readonly captures: readonly TypingSession[]
}

function roundOf(sessions: readonly TypingSession[], random: Random): Round | null {
  const changed = random() < CHANGED ? disturbance(random) : (session: TypingSession) => session
  const all = shuffled(sessions, random)
    .map((session) => changed(session).slice(0, PRESSES_MAX))
    .filter((session) => session.length >= PRESSES_MIN)
  const drawn = KNOWN.least + Math.floor(random() * (KNOWN.most - KNOWN.least + 1))
  const count = Math.min(all.length - 2, random() < 0.5 ? KNOWN.usual : drawn)
  if (count < KNOWN.least) return null
  const known = all.slice(0, count)
  const captures =
    random() < REFERENCES_STOLEN ? known.slice(0, REFERENCES) : shuffled(known, random).slice(0, CAPTURES)
  return { known, later: all.slice(count, count + REFERENCES), captures }
}

const sample = (session: TypingSession): Uint8Array => encodeSample(session, 'visible')

/** Examines a session as the latest of a member with these known patterns, of which the first are the references. */
function read(kernel: Kernel, session: TypingSession, known: readonly TypingSession[]): void {
  known.slice(0, REFERENCES).forEach((reference, i) => {
    kernel.read(i + 1, sample(reference))
  })
  kernel.read(0, sample(session))
  kernel.scoreRead(Math.min(REFERENCES, known.length))
  kernel.copies(
    sketchOf(sample(session)),
    known.map((one) => confirmed(sketchOf(sample(one)))),
  )
}

/** Sincere patterns of a round, each with the known patterns of the member. */
const sincereOf = ({ known, later }: Round): [session: TypingSession, known: readonly TypingSession[]][] => [
  ...later.map((session): [TypingSession, readonly TypingSession[]] => [session, known]),
  ...known
    .slice(REFERENCES)
    .slice(-AGAIN_MAX)
    .map((session): [TypingSession, readonly TypingSession[]] => [session, known.filter((other) => other !== session)]),
]

function forgeriesOf({ later, captures }: Round, strangers: Strangers, random: Random): TypingSession[] {
  const [means, stock] = [meansOf(captures), capturedFrom(captures)]
  const gridMs = (): number => (random() < 0.5 ? 1 : 0.1)
  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T // no list is empty
  const others = Array.from({ length: OTHERS_DRAWN }, () => oneOf(OTHERS))
  return [
    ...[...CAPTURE_MODEL_NAMES, ...MEMORY_MODEL_NAMES].map((model) =>
      forgeWithMemory(
        model,
        oneOf(later),
        { victim: means, strangers: strangers.residuals },
        { gridMs: gridMs(), random },
      ),
    ),
    ...[...DRAWN, ...others].map((model) =>
      synthesize(model, oneOf(later), ATTACK_MODELS[model].of === 'population' ? strangers.population : stock, {
        gridMs: gridMs(),
        random,
      }),
    ),
  ]
}

/** Signs of sincere patterns (0) and of forgeries (1). */
function synthesisExamples(kernel: Kernel, people: readonly Subject[], seed: number): Examples {
  const random = seededRandom(seed)
  const strangers = {
    population: capturedFrom(people.slice(0, 300).flatMap(({ sessions }) => [...sessions.values()].slice(0, 1))),
    residuals: strangersOf(people),
  }
  let collected: ReturnType<typeof collector> | undefined
  const add = (session: TypingSession, known: readonly TypingSession[], label: 0 | 1): void => {
    read(kernel, session, known)
    const row = kernel.examineKnown(0)
    if (row.length === 0) return
    collected ??= collector(row.length)
    collected.add(row, label)
  }
  for (const { sessions } of people)
    for (let i = 0; i < ROUNDS; i++) {
      const round = roundOf([...sessions.values()], random)
      if (round === null) continue
      for (const [session, known] of sincereOf(round)) add(session, known, 0)
      for (const forged of forgeriesOf(round, strangers, random)) add(forged, round.known, 1)
    }
  if (collected === undefined) throw new Error('no people to fit on')
  return collected.done()
}

function sincereLogits(kernel: Kernel, people: readonly Subject[], seed: number): number[] {
  const random = seededRandom(seed)
  return people.flatMap(({ sessions }) =>
    Array.from({ length: ROUNDS }, () => roundOf([...sessions.values()], random)).flatMap((round) =>
      (round === null ? [] : sincereOf(round)).map(([session, known]) => {
        read(kernel, session, known)
        const likelihood = kernel.synthesized()
        return Math.log(likelihood / (1 - likelihood))
      }),
    ),
  )
}
