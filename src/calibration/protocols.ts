import type { Sitting } from '../domain/sitting.js'
import type { Kernel, KernelScore } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import type { Sources } from './comparisons.js'
import type { Subject, TypingSession } from './dataset.js'
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

/** P1 and P2: enrol sessions 0 to 4, probe 10 to 14, impostors' session 10, the first `pressesMax` presses of each. */
export function varyingText(people: readonly Subject[], pressesMax: number): Participant[] {
  return people.flatMap(({ sessions }) => {
    const named = (at: number): TypingSession | undefined => sessions.get(String(at))?.slice(0, pressesMax)
    return participant(numbers(0, 5).map(named), numbers(10, 5).map(named))
  })
}

/** P3: one hand class of passphrase 5, enrol repetitions 1 to 5, probe 6 to 20, impostors' repetition 6. */
function sameText(people: readonly Subject[], hands: 'h1' | 'h2'): Participant[] {
  return people.flatMap(({ sessions }) => {
    const named = (repetition: number): TypingSession | undefined => sessions.get(`P5-${hands}-${repetition}`)
    return participant(numbers(1, 5).map(named), numbers(6, 15).map(named))
  })
}

/** P4: enrol five pieces of 50 presses of session 0, probe the 50-press pieces of later sessions; impostors' first one. */
export function otherDays(people: readonly Subject[]): Participant[] {
  const pieces = (session: TypingSession): TypingSession[] =>
    numbers(0, Math.floor(session.length / 50)).map((i) => session.slice(50 * i, 50 * i + 50))
  return people.flatMap(({ sessions }) => {
    const [first, ...later] = [...sessions.values()]
    return first === undefined ? [] : participant(pieces(first).slice(0, 5), later.flatMap(pieces))
  })
}

/** The participants of each protocol by name, in the order of a report. */
export function protocolsOf({ aalto, nislab, monacoFree }: Sources): Record<string, Participant[]> {
  return {
    P1: varyingText(aalto, 50),
    P2: varyingText(aalto, 25),
    P3: sameText(nislab, 'h2'),
    P3_one_hand: sameText(nislab, 'h1'),
    P4: otherDays(monacoFree),
  }
}

/** The sitting of a protocol's probes. */
export const sittingIn = (protocol: string): Sitting => (protocol === 'P4' ? 'later' : 'same')

/** Results of a protocol: the fused score before calibration, and the confidence from it. */
export interface ProtocolScores {
  readonly fused: readonly PersonScores[]
  readonly confidence: readonly PersonScores[]
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
  return { fused: by(({ fused }) => fused), confidence: by(({ confidence }) => confidence ?? 0) }
}
