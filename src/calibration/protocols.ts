import type { Sitting } from '../domain/sitting.js'
import type { Kernel, KernelScore } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import { BOT_LIKELIHOOD } from '../scoring/score.js'
import { type DataSet, inPieces, type Subject, type TypingSession } from './dataset.js'
import type { PersonScores } from './metrics.js'

/** One person's part in a protocol: references, own probes, and the pattern that is compared with the others' references. */
export interface Participant {
  readonly references: readonly TypingSession[]
  readonly probes: readonly TypingSession[]
  readonly impostor: TypingSession
}

const present = (sessions: readonly (TypingSession | undefined)[]): TypingSession[] =>
  sessions.filter((session) => session !== undefined)

function participant(
  references: readonly (TypingSession | undefined)[],
  probes: readonly (TypingSession | undefined)[],
): Participant[] {
  const own = present(probes)
  const enrolled = present(references)
  const impostor = own[0]
  return enrolled.length < references.length || impostor === undefined
    ? []
    : [{ references: enrolled, probes: own, impostor }]
}

const numbers = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i)

/** Enrol sessions 0 to 4, probe five from `from` on, impostors' first of these; the first `pressesMax` presses of each. */
export function varyingText(people: readonly Subject[], pressesMax: number, from = 10): Participant[] {
  return people.flatMap(({ sessions }) => {
    const named = (at: number): TypingSession | undefined => sessions.get(String(at))?.slice(0, pressesMax)
    return participant(numbers(0, 5).map(named), numbers(from, 5).map(named))
  })
}

/** P3: one hand class of passphrase 5, enrol repetitions 1 to 5, probe 6 to 20, impostors' repetition 6. */
function sameText(people: readonly Subject[], hands: 'h1' | 'h2'): Participant[] {
  return people.flatMap(({ sessions }) => {
    const named = (repetition: number): TypingSession | undefined => sessions.get(`P5-${hands}-${repetition}`)
    return participant(numbers(1, 5).map(named), numbers(6, 15).map(named))
  })
}

const PIECE = 50
const piecesOf = (session: TypingSession): TypingSession[] => inPieces(session, PIECE)

/** P4: enrol five pieces of 50 presses of session 0, probe the 50-press pieces of later sessions; impostors' first one. */
export function otherDays(people: readonly Subject[]): Participant[] {
  return people.flatMap(({ sessions }) => {
    const [first, ...later] = [...sessions.values()]
    return first === undefined ? [] : participant(piecesOf(first).slice(0, 5), later.flatMap(piecesOf))
  })
}

/** P6, L2: enrol the first five pieces of the essay, probe pieces 10 to 24; impostors' first one. */
function longText(people: readonly Subject[]): Participant[] {
  return people.flatMap(({ sessions }) => {
    const pieces = [...sessions.values()].flatMap(piecesOf)
    return participant(
      numbers(0, 5).map((i) => pieces[i]),
      pieces.slice(10, 25),
    )
  })
}

const PASSWORD_PRESSES = 19
/** P7: entries without a mistake; enrol the first five, probe up to 20 of dates after the fifth; impostors' first one. */
function passwordDays(people: readonly Subject[]): Participant[] {
  const dateOf = (name: string) => name.slice(0, name.indexOf('-'))
  return people.flatMap(({ sessions }) => {
    const entries = [...sessions]
      .filter(([, { length }]) => length === PASSWORD_PRESSES)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    const lastDate = dateOf(entries[4]?.[0] ?? '-')
    const later = entries.slice(5).filter(([name]) => dateOf(name) > lastDate)
    return participant(
      numbers(0, 5).map((i) => entries[i]?.[1]),
      later.slice(0, 20).map(([, entry]) => entry),
    )
  })
}

/**
 * P8: enrol five repetitions of the first sitting, probe the next 15 of it, or the first 20 of later sittings; impostors' first one.
 */
function touchScreen(people: readonly Subject[], sitting: Sitting): Participant[] {
  const sittingIn = (name: string) => name.slice(0, name.indexOf('-'))
  return people.flatMap(({ sessions }) => {
    const all = [...sessions]
    const first = sittingIn(all[0]?.[0] ?? '')
    const own = all.filter(([name]) => sittingIn(name) === first)
    const probes =
      sitting === 'same' ? own.slice(5, 20) : all.filter(([name]) => sittingIn(name) !== first).slice(0, 20)
    return participant(
      numbers(0, 5).map((i) => own[i]?.[1]),
      probes.map(([, typed]) => typed),
    )
  })
}

/** A way to measure a model on the people of one source. */
interface Protocol {
  readonly source: DataSet
  /** The typing, for a report. */
  readonly says: string
  /** The sitting of the probes. */
  readonly sitting: Sitting
  readonly of: (people: readonly Subject[]) => Participant[]
}

const [P1_PRESSES, P2_PRESSES] = [50, 25]
const same = 'same'
/** The protocols by name, in the order of a report. */
export const PROTOCOLS = {
  P1: {
    source: 'aalto',
    says: 'varying text, 50 presses',
    sitting: same,
    of: (people) => varyingText(people, P1_PRESSES),
  },
  P2: {
    source: 'aalto',
    says: 'varying text, 25 presses',
    sitting: same,
    of: (people) => varyingText(people, P2_PRESSES),
  },
  P3: { source: 'nislab', says: 'one passphrase, two hands', sitting: same, of: (people) => sameText(people, 'h2') },
  P3_one_hand: {
    source: 'nislab',
    says: 'one passphrase, one hand',
    sitting: same,
    of: (people) => sameText(people, 'h1'),
  },
  P4: { source: 'monacoFree', says: 'free text of other days', sitting: 'later', of: otherDays },
  P5: { source: 'klicke', says: 'composed text', sitting: same, of: (people) => varyingText(people, P1_PRESSES) },
  P5_late: {
    source: 'klicke',
    says: 'composed text, half an hour later',
    sitting: same,
    of: (people) => varyingText(people, P1_PRESSES, 15),
  },
  P6_gradtype: {
    source: 'gradtype',
    says: 'sentences, another collection',
    sitting: same,
    of: (people) => varyingText(people, P1_PRESSES),
  },
  P6_l2: { source: 'l2', says: 'essays, clock of 8 ms', sitting: same, of: longText },
  P7: { source: 'freihaut', says: 'one password, other days', sitting: 'later', of: passwordDays },
  P8: {
    source: 'mobikey',
    says: 'touch screen, one sitting',
    sitting: same,
    of: (people) => touchScreen(people, same),
  },
  P8_later: {
    source: 'mobikey',
    says: 'touch screen, other sittings',
    sitting: 'later',
    of: (people) => touchScreen(people, 'later'),
  },
} as const satisfies Record<string, Protocol>
export type ProtocolName = keyof typeof PROTOCOLS

/** Results of a protocol: the fused score before calibration, the confidence from it, and sincere patterns called a bot. */
interface ProtocolScores {
  readonly fused: readonly PersonScores[]
  readonly confidence: readonly PersonScores[]
  /** Own probes that count as a bot. */
  readonly bots: { readonly called: number; readonly of: number }
}

/**
 * Scores every participant's probes, and every other participant's impostor pattern, against the participant's references.
 * Returns scores by participant, in order.
 */
export function runProtocol(
  kernel: Kernel,
  participants: readonly Participant[],
  sitting: Sitting = 'same',
): ProtocolScores {
  const sample = (session: TypingSession): Uint8Array => encodeSample(session, 'visible')
  const impostors = participants.map(({ impostor }) => sample(impostor))
  const scored = participants.map(({ references, probes }, own) => {
    const n = Math.min(references.length, kernel.referencesMax)
    for (const [i, reference] of references.slice(0, n).entries()) kernel.read(i + 1, sample(reference))
    const against = (probe: Uint8Array): KernelScore => {
      kernel.read(0, probe)
      return kernel.scoreRead(n, sitting)
    }
    return {
      genuine: probes.map((probe) => against(sample(probe))),
      impostor: impostors.filter((_, i) => i !== own).map(against),
    }
  })
  const by = (number: (score: KernelScore) => number): PersonScores[] =>
    scored.map(({ genuine, impostor }) => ({ genuine: genuine.map(number), impostor: impostor.map(number) }))
  const own = scored.flatMap(({ genuine }) => genuine)
  const called = own.filter(({ botLikelihood }) => botLikelihood > BOT_LIKELIHOOD).length
  return {
    fused: by(({ fused }) => fused),
    confidence: by(({ confidence }) => confidence ?? 0),
    bots: { called, of: own.length },
  }
}
