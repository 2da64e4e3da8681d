import { ATTACK_MODEL_NAMES, type AttackModel, type Captured } from '../../src/calibration/attack-models.js'
import { loadPeople, type Subject, splitPeople } from '../../src/calibration/dataset.js'
import { MEMORY_MODEL_NAMES, type Means, strangersOf } from '../../src/calibration/remembered-noise.js'
import type { Kernel } from '../../src/scoring/kernel.js'
import { edited } from './attackers.js'
import { countUnindexed } from './captures.js'
import { EDITS, STRONGER_EDITS } from './edits.js'
import {
  choosingForger,
  countForgeries,
  type Forger,
  forgerOf,
  populationOf,
  rememberingForger,
  victimsOf,
  within,
} from './forgeries.js'
import type { LeftOut } from './left-out.js'
import { countPairs, countReplays, patternsOf, REPLAYS } from './replays.js'
import { countSameWords, phraseTypists, sentenceTypists } from './same-words.js'
import { countSincere, type Patterns, passphrases, pieces, type SincereCount, sentences } from './sincere.js'
import { sessionsOf, targetsOf } from './targets.js'

/** Percent of each attack model that may be accepted (T06 in docs/trust.md). */
export const FORGERY_BARS: Readonly<Record<AttackModel, number>> = {
  S1: 0,
  S3: 1,
  S4: 1,
  S4log: 2,
  S4key: 2,
  S5histogram: 2,
  S5digraph: 2,
  S5digraphLog: 2,
  S5pieces: 2,
  S6average: 15,
  S6uniform: 15,
  S6gaussian: 15,
  S6histogram: 15,
  S6keyHistogram: 15,
  S6pairAverage: 15,
  S6pairUniform: 15,
  S6pairGaussian: 15,
  S6pairLognormal: 15,
  S6pairHistogram: 15,
  S6splice: 15,
  S6spliceJittered: 15,
  S6pairGaussianOther: 15,
  S6spliceOther: 15,
}
/** Percent of forgeries with remembered noise that may be accepted, and of those whose family was not fitted. */
export const MEMORY_BAR = 15
const LEFT_OUT_BAR = 20
/** Percent of sincere patterns that may count as a bot, and of sincere pairs that may count as a replay. */
export const SINCERE_BAR = 0.5
export const PAIRS_BAR = 0.1
const PAIRS = 30_000

/** Forgers with memory, and those that keep the distance of the references from one another (`choosingForger`), which no sign was fitted on. */
const furtherForgers = (population: Captured, strangers: Means['residuals']): [string, Forger][] => [
  ...MEMORY_MODEL_NAMES.map((model): [string, Forger] => [model, rememberingForger(model, strangers)]),
  ...(['S6pairLognormal', 'S6spliceJittered'] as const).map((model): [string, Forger] => [
    `${model}, chosen`,
    choosingForger(forgerOf(model, population)),
  ]),
  ...(['S7slow', 'S7ownBlocks12', 'S7shrunk'] as const).map((model): [string, Forger] => [
    `${model}, chosen`,
    choosingForger(rememberingForger(model, strangers)),
  ]),
]

/** Upper end of a 95 % interval for a share, in percent (Wilson's score). */
export function upperPercent(count: number, of: number): number {
  const z2 = 1.96 ** 2
  const share = count / of
  const centre = share + z2 / (2 * of)
  return (100 * (centre + Math.sqrt(z2 * ((share * (1 - share)) / of + z2 / (4 * of * of))))) / (1 + z2 / of)
}

const WIDTHS = [35, 20, 20, 10, 8, 15, 15]
const line = (...cells: readonly string[]): string =>
  cells
    .map((cell, i) => cell.padEnd(WIDTHS[i] ?? 0))
    .join('')
    .trimEnd()
const cell = (count: number, of: number): string =>
  `${((100 * count) / of).toFixed(2)} [${upperPercent(count, of).toFixed(2)}]`
export const withinBounds = (sessions: Patterns): Patterns => sessions.filter((session) => within(session))
const judged = (count: number, of: number, bar: number): string => ((100 * count) / of <= bar ? '' : 'missed')

/**
 * One table, in percent with the upper ends of 95 % intervals: sincere patterns called a bot and pairs called a replay,
 * `samples` forgeries of each attack model on the untouched people, and as many replays. `onProgress` gets each measurement's
 * name.
 */
export function attackFigures(
  kernel: Kernel,
  data: string,
  samples: number,
  onProgress: (message: string) => void,
): string[] {
  const { fitting, untouched } = splitPeople(loadPeople(data, 'aalto'))
  const [nislab, monaco] = [loadPeople(data, 'nislab'), loadPeople(data, 'monacoFree')]
  const lines = sincereLines(
    kernel,
    [
      ['Aalto, untouched, 50 presses', sentences(untouched, 50)],
      ['Aalto, untouched, 25 presses', sentences(untouched, 25)],
      ['NISLAB, two hands', passphrases(nislab, 'h2')],
      ['NISLAB, one hand', passphrases(nislab, 'h1')],
      ['Monaco, 50 presses', pieces(monaco, 50)],
      ['Monaco, 25 presses', pieces(monaco, 25)],
    ],
    onProgress,
  )
  lines.push('', line('forgeries', 'APCER', 'IAPAR', 'bar', 'samples'))
  const victims = victimsOf(untouched)
  const population = populationOf(fitting)
  for (const attackModel of ATTACK_MODEL_NAMES) {
    onProgress(attackModel)
    const forger = forgerOf(attackModel, population)
    const { samples: n, notCalled, accepted } = countForgeries(kernel, forger, victims, { samples })
    const bar = FORGERY_BARS[attackModel]
    lines.push(line(attackModel, cell(notCalled, n), cell(accepted, n), `${bar}`, `${n}`, judged(accepted, n, bar)))
  }
  const strangers = strangersOf(fitting)
  for (const [name, forger] of furtherForgers(population, strangers)) {
    onProgress(name)
    const { samples: n, notCalled, accepted } = countForgeries(kernel, forger, victims, { samples })
    lines.push(
      line(name, cell(notCalled, n), cell(accepted, n), `${MEMORY_BAR}`, `${n}`, judged(accepted, n, MEMORY_BAR)),
    )
  }
  lines.push('', line('replays, not stopped', 'of a reference', 'of anything seen', 'bar', 'samples'))
  const patterns = patternsOf(untouched, 50)
  for (const [name, { bar, ...how }] of Object.entries(REPLAYS)) {
    onProgress(`replays: ${name}`)
    const { samples: n, ofReference, ofAnything } = countReplays(kernel, patterns.flat(), how, samples)
    lines.push(line(name, cell(ofReference, n), cell(ofAnything, n), `${bar}`, `${n}`, judged(ofAnything, n, bar)))
  }
  lines.push(...unindexedLines(kernel, untouched, samples, onProgress))
  lines.push('', line('sincere pairs', 'called a replay', 'marks alike', 'bar', 'pairs'))
  for (const [name, of] of [
    ['Aalto, untouched, 50 presses', patterns],
    ['NISLAB, the same passphrase', [...passphrases(nislab, 'h2'), ...passphrases(nislab, 'h1')].map(withinBounds)],
  ] as const) {
    onProgress(`sincere pairs: ${name}`)
    const { pairs: n, resembling, called } = countPairs(kernel, of, PAIRS)
    lines.push(line(name, cell(called, n), cell(resembling, n), `${PAIRS_BAR}`, `${n}`, judged(called, n, PAIRS_BAR)))
  }
  lines.push('', line('the same words 500 times', 'called a replay', 'marks alike', 'bar', 'typings'))
  for (const [name, typists] of [
    ['Aalto, untouched, 50 people', sentenceTypists(untouched.slice(0, 50))],
    ['NISLAB', phraseTypists(nislab)],
  ] as const) {
    onProgress(`the same words: ${name}`)
    const { typings, called, resembling } = countSameWords(kernel, typists, 500)
    const verdict = judged(called, typings, PAIRS_BAR)
    lines.push(line(name, cell(called, typings), `${resembling}`, `${PAIRS_BAR}`, `${typings}`, verdict))
  }
  return lines
}

/** Sincere patterns that are called a bot. */
function sincereLines(
  kernel: Kernel,
  groups: readonly (readonly [name: string, patterns: Parameters<typeof countSincere>[1]])[],
  onProgress: (message: string) => void,
): string[] {
  const lines = [line('sincere, called a bot', 'five references', 'no reference', 'bar', 'samples')]
  const all = { patterns: 0, called: 0, calledUnknown: 0 }
  const sincere = (name: string, { patterns: n, called, calledUnknown }: SincereCount): void => {
    const verdict = judged(Math.max(called, calledUnknown), n, SINCERE_BAR)
    lines.push(line(name, cell(called, n), cell(calledUnknown, n), `${SINCERE_BAR}`, `${n}`, verdict))
  }
  for (const [name, patterns] of groups) {
    onProgress(name)
    const counted = countSincere(kernel, patterns)
    sincere(name, counted)
    all.patterns += counted.patterns
    all.called += counted.called
    all.calledUnknown += counted.calledUnknown
  }
  sincere('all of these', all)
  return lines
}

/** Edited copies that the replay index alone does not stop, in percent. */
function unindexedLines(
  kernel: Kernel,
  people: readonly Subject[],
  samples: number,
  onProgress: (message: string) => void,
): string[] {
  const targets = targetsOf(kernel, sessionsOf(people))
  return [
    '',
    line('edited copies, not stopped by the index', 'of the member', 'of another', '', 'samples'),
    ...Object.entries({ ...EDITS, ...STRONGER_EDITS }).map(([name, edit]) => {
      onProgress(`edited copies: ${name}`)
      const cells = (['the member', 'another'] as const).map((sender) =>
        cell(countUnindexed(kernel, targets, edited([edit]), { samples, sender }), samples),
      )
      return line(name, ...cells, '', `${samples}`)
    }),
  ]
}

/** A table of `leftOutFigures`. */
export const leftOutLines = (figures: readonly LeftOut[]): string[] => [
  line('forgeries of a family never fitted', 'IAPAR', 'family', 'bar', 'samples'),
  ...figures.map(({ family, model, samples, accepted }) =>
    line(
      model,
      cell(accepted, samples),
      family,
      `${LEFT_OUT_BAR}`,
      `${samples}`,
      judged(accepted, samples, LEFT_OUT_BAR),
    ),
  ),
]
