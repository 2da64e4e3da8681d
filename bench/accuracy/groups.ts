import { errorIntervals, errorsAt } from '../../src/calibration/confidence.js'
import { reportedPeople, type TypingSession } from '../../src/calibration/dataset.js'
import type { PersonScores } from '../../src/calibration/metrics.js'
import { type Participant, PROTOCOLS, type ProtocolName, runProtocol } from '../../src/calibration/protocols.js'
import { keyOfName } from '../../src/domain/key-table.js'
import type { Kernel } from '../../src/scoring/kernel.js'

/** Protocols with enough people for groups. */
const MEASURED = ['P1', 'P5', 'P6_gradtype'] as const satisfies readonly ProtocolName[]
const GROUPS = 5
/** A group with more than this multiple of the protocol's mean error is named. */
const NAMED_ABOVE = 2
const [DRAWS, SEED] = [200, 1]
const BACKSPACE = keyOfName('backspace')

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
const shareOf = <T>(values: readonly T[], is: (value: T) => boolean): number =>
  values.filter(is).length / Math.max(1, values.length)
const intervalsIn = (session: TypingSession): number[] =>
  session.slice(1).map(({ pressMs }, i) => pressMs - (session[i]?.pressMs ?? 0))

/** Traits of a person, from the references, that nobody has stated and everybody shows. */
const TRAITS: Readonly<Record<string, (references: readonly TypingSession[]) => number>> = {
  'tempo, ms between presses': (references) => median(references.flatMap(intervalsIn)),
  'hold, ms': (references) => median(references.flat().map(({ pressMs, releaseMs }) => releaseMs - pressMs)),
  'roll-over, share of presses before the last release': (references) =>
    shareOf(
      references.flatMap((session) => session.slice(1).map(({ pressMs }, i) => pressMs < (session[i]?.releaseMs ?? 0))),
      (isRolled) => isRolled,
    ),
  'corrections, share of presses': (references) => shareOf(references.flat(), ({ key }) => key === BACKSPACE),
  'clock, share of holds within 1 ms of a multiple of 8 ms': (references) =>
    shareOf(references.flat(), ({ pressMs, releaseMs }) => {
      const rest = (releaseMs - pressMs) % 8
      return Math.min(rest, 8 - rest) <= 1
    }),
}

/** Lines of a report: errors at a confidence of 0.5 by fifths of each trait of the owners. */
export function groupFigures(kernel: Kernel, data: string, print: (line: string) => void): void {
  for (const name of MEASURED) {
    const { source, sitting, of, says } = PROTOCOLS[name]
    const participants = of(reportedPeople(data, source))
    const scores = runProtocol(kernel, participants, sitting).confidence
    const mean = errorsAt(0.5, scores)
    print(`${name}, ${says}: ${shown(mean.fmr)} false matches, ${shown(mean.fnmr)} false non-matches at 0.5`)
    for (const [trait, traitOf] of Object.entries(TRAITS)) {
      print(`  ${trait}`)
      for (const { from, to, people } of fifths(participants, scores, traitOf)) {
        const { fmr, fnmr } = errorsAt(0.5, people)
        const intervals = errorIntervals(0.5, people, DRAWS, SEED)
        const isNamed = fmr > NAMED_ABOVE * mean.fmr || fnmr > NAMED_ABOVE * mean.fnmr
        print(
          `    ${`${short(from)} to ${short(to)}`.padEnd(18)}${`${shown(fmr)} ${range(intervals.fmr)}`.padEnd(24)}${`${shown(fnmr)} ${range(intervals.fnmr)}`.padEnd(26)}${people.length} people${isNamed ? ', ABOVE TWICE THE MEAN' : ''}`,
        )
      }
    }
  }
}

const shown = (share: number): string => `${(100 * share).toFixed(2)} %`
const range = ([low, high]: readonly [number, number]): string =>
  `[${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`
const short = (value: number): string => String(Number(value.toPrecision(3)))

/** The people in five groups of equal size by a trait. Equal values at a border may be in either group. */
function fifths(
  participants: readonly Participant[],
  scores: readonly PersonScores[],
  traitOf: (references: readonly TypingSession[]) => number,
) {
  const ordered = participants
    .map(({ references }, i) => ({ value: traitOf(references), scores: scores[i] }))
    .sort((a, b) => a.value - b.value)
  return Array.from({ length: GROUPS }, (_, n) => {
    const group = ordered.slice((n * ordered.length) / GROUPS, ((n + 1) * ordered.length) / GROUPS)
    return {
      from: group[0]?.value ?? Number.NaN,
      to: group.at(-1)?.value ?? Number.NaN,
      people: group.flatMap((one) => one.scores ?? []),
    }
  })
}
