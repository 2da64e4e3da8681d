import type { TypingSession } from '../../src/calibration/dataset.js'
import { type Random, seededRandom } from '../../src/calibration/random.js'
import type { Kernel } from '../../src/scoring/kernel.js'
import { type Durations, sessionOf } from './durations.js'
import { within } from './forgeries.js'
import { judge, knownOf, profileOf } from './profile.js'
import { isReplay, type Sender } from './replays.js'
import type { Loot, Target } from './targets.js'

const SEED = 13

/** An attacker's material for one pattern. */
interface Attempt {
  readonly kernel: Kernel
  readonly loot: Loot
  /** The patterns of the loot; an attacker with one uses the first. */
  readonly stolen: readonly Durations[]
  /** Keys to type: those of the first stolen pattern, or of words that the service demands. */
  readonly keys: readonly number[]
  readonly random: Random
}

export type Attacker = (attempt: Attempt) => Durations

/** Keys that an attacker may type: those of the first stolen pattern, or those of the owner's later patterns alone. */
export type Text = 'own' | 'demanded'

/** Patterns sent, called a copy or a bot, and authenticated. */
export interface Count {
  readonly samples: number
  readonly copies: number
  readonly bots: number
  readonly authenticated: number
}

interface Plan {
  readonly samples: number
  readonly text?: Text
  readonly from?: 'captures' | 'enrolled'
}

const turned = <T>(all: readonly T[], by: number): T[] => {
  const at = by % Math.max(1, all.length)
  return [...all.slice(at), ...all.slice(0, at)]
}

/** `samples` patterns of an attacker, spread over the targets; each try of a target starts at another stolen pattern and text. */
export function countAttack(
  kernel: Kernel,
  targets: readonly Target[],
  attacker: Attacker,
  { samples, text = 'own', from = 'captures' }: Plan,
): Count {
  const random = seededRandom(SEED)
  return count(kernel, targets, samples, (target, i) => {
    const loot = target[from]
    const stolen = turned(loot.patterns, i)
    const demanded = target.later[i % target.later.length]?.map(({ key }) => key)
    const keys = (text === 'own' ? stolen[0]?.keys : demanded) ?? []
    return sessionOf(attacker({ kernel, loot, stolen, keys, random }))
  })
}

/** The owners' own later patterns. */
export const countLater = (kernel: Kernel, targets: readonly Target[], samples: number): Count =>
  count(kernel, targets, samples, ({ later }, i) => later[i % later.length] ?? [])

function count(
  kernel: Kernel,
  targets: readonly Target[],
  samples: number,
  make: (target: Target, i: number) => TypingSession,
): Count {
  const counted = { samples: 0, copies: 0, bots: 0, authenticated: 0 }
  for (let n = 0; n < samples; n++) {
    const target = targets[n % targets.length]
    // The target's number is added so that few samples also use every capture.
    const session = target === undefined ? [] : make(target, (n % targets.length) + Math.floor(n / targets.length))
    if (target === undefined || !within(session)) continue
    const { copy, bot, authenticated } = judge(kernel, target, session)
    counted.samples++
    if (copy) counted.copies++
    else if (bot) counted.bots++
    if (authenticated) counted.authenticated++
  }
  return counted
}

/** How often the same attacker succeeds with one capture. */
interface Reuses {
  readonly uses: number
  readonly mean: number
  readonly most: number
  /** Captures of which more than one use is authenticated. */
  readonly repeated: number
  readonly captures: number
}

/** Sends one capture `uses` times; each pattern is known afterwards, as one that was not confirmed. */
export function countReuses(kernel: Kernel, targets: readonly Target[], attacker: Attacker, uses: number): Reuses {
  const random = seededRandom(SEED)
  const counts = targets.map((target) => {
    let known = target.known
    let authenticated = 0
    for (let i = 0; i < uses; i++) {
      const { captures: loot } = target
      const keys = loot.patterns[0]?.keys ?? []
      const session = sessionOf(attacker({ kernel, loot, stolen: loot.patterns, keys, random }))
      if (!within(session)) continue
      if (judge(kernel, { ...target, known }, session).authenticated) authenticated++
      known = [...known, knownOf(session, 'failed')]
    }
    return authenticated
  })
  return {
    uses,
    mean: counts.reduce((sum, n) => sum + n, 0) / counts.length,
    most: Math.max(...counts),
    repeated: counts.filter((n) => n > 1).length,
    captures: counts.length,
  }
}

/** How many edited captures the replay index alone does not stop, sent after 48 later patterns or by another member. */
export function countUnindexed(
  kernel: Kernel,
  targets: readonly Target[],
  attacker: Attacker,
  { samples, sender }: { readonly samples: number; readonly sender: Sender },
): number {
  const random = seededRandom(SEED)
  let missed = 0
  for (let i = 0; i < samples; i++) {
    const target = targets[i % targets.length]
    const loot = target?.captures
    const capture = loot?.patterns[i % loot.patterns.length]
    if (loot === undefined || capture === undefined) continue
    const sent = attacker({ kernel, loot, stolen: [capture], keys: capture.keys, random })
    if (!isReplay(kernel, sessionOf(capture), sessionOf(sent), sender)) missed++
  }
  return missed
}

/** Latest patterns that a new one is compared with, as in `src/flows/attempt/pattern-memory.ts`. */
const KNOWN_MAX = 48
const REFERENCES = 5

/** Sincere patterns called a copy, and called a bot. */
interface SincereVerdicts {
  readonly patterns: number
  readonly copies: number
  readonly bots: number
}

/** Enrolls five patterns of each person, and judges each later one with up to 48 before it known. */
export function countInOrder(kernel: Kernel, people: readonly (readonly TypingSession[])[]): SincereVerdicts {
  const counted = { patterns: 0, copies: 0, bots: 0 }
  for (const all of people) {
    const sessions = all.filter((one) => within(one))
    if (sessions.length <= REFERENCES) continue
    const { template, known } = profileOf(kernel, sessions.slice(0, REFERENCES), sessions)
    for (let i = REFERENCES; i < sessions.length; i++) {
      const before = { template, known: known.slice(Math.max(0, i - KNOWN_MAX), i) }
      const { copy, bot } = judge(kernel, before, sessions[i] ?? [])
      counted.patterns++
      if (copy) counted.copies++
      if (bot) counted.bots++
    }
  }
  return counted
}
