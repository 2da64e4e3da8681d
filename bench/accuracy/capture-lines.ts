import { isUntouchedWriter, loadPeople, splitPeople } from '../../src/calibration/dataset.js'
import type { Kernel } from '../../src/scoring/kernel.js'
import {
  BEST_OF_48,
  byPair,
  byPosition,
  EIGHT_CAPTURES_SPLICED,
  EIGHT_CAPTURES_SYNTHESIZED,
  edited,
  STOLEN_REFERENCES,
  TWO_CAPTURES,
} from './attackers.js'
import { upperPercent } from './attacks.js'
import { type Attacker, type Count, countAttack, countInOrder, countLater, countReuses, type Text } from './captures.js'
import type { Edit } from './durations.js'
import { DROWNING_EDIT_BAR, DROWNING_EDITS, EDIT_BAR, EDITS, MOVING_EDITS, STRONGER_EDITS } from './edits.js'
import { countSameWords, phraseTypists, sentenceTypists } from './same-words.js'
import { passphrases } from './sincere.js'
import { joinedPhrases, sessionsOf, type Target, targetsOf } from './targets.js'

const VICTIMS_MAX = 120
/** Numbers of KLiCKe's people that are read; half of them are untouched. */
const WRITERS_MAX = 260
const CAPTURES_OF_EIGHT = 8

/** A collection under attack. */
interface Column {
  readonly name: string
  readonly targets: readonly Target[]
}

/** Attackers with a bar, percent authenticated. */
interface Row {
  readonly name: string
  readonly attacker: Attacker
  readonly bar: number
}

interface Section {
  readonly title: string
  readonly rows: readonly Row[]
  readonly text?: Text
  readonly from?: 'captures' | 'enrolled'
  /** Patterns that the attacker needs of a target. */
  readonly captures: 1 | 2 | 5 | 8
}

const rowsOf = (attackers: Readonly<Record<string, Attacker>>, bar: number): Row[] =>
  Object.entries(attackers).map(([name, attacker]) => ({ name, attacker, bar }))

const ONE_CAPTURE: readonly (readonly [name: string, edit: Edit, bar: number])[] = [
  ...[EDITS, STRONGER_EDITS, MOVING_EDITS].flatMap((edits) =>
    Object.entries(edits).map(([name, edit]) => [name, edit, EDIT_BAR] as const),
  ),
  ...Object.entries(DROWNING_EDITS).map(([name, edit]) => [name, edit, DROWNING_EDIT_BAR] as const),
]

const unchanged: Edit = (pattern) => pattern
/** Edits of a capture that is carried to demanded words. */
const CARRIED: Readonly<Record<string, Edit>> = { unchanged, ...MOVING_EDITS, ...DROWNING_EDITS }
const carried = (carry: typeof byPair): Row[] =>
  rowsOf(Object.fromEntries(Object.entries(CARRIED).map(([name, edit]) => [name, edited([edit], carry)])), 3)

const SECTIONS: readonly Section[] = [
  {
    title: 'one capture, edited',
    rows: ONE_CAPTURE.map(([name, edit, bar]) => ({ name, attacker: edited([edit]), bar })),
    captures: 1,
  },
  { title: 'two captures', rows: rowsOf(TWO_CAPTURES, 5), captures: 2 },
  { title: 'eight captures, spliced', rows: rowsOf(EIGHT_CAPTURES_SPLICED, 15), captures: 8 },
  {
    title: 'eight captures, synthesis',
    rows: [...rowsOf(EIGHT_CAPTURES_SYNTHESIZED, 30), ...rowsOf(BEST_OF_48, 30)],
    captures: 8,
  },
  { title: 'references stolen', rows: rowsOf(STOLEN_REFERENCES, 5), from: 'enrolled', captures: 5 },
  {
    title: 'references stolen, best of 48',
    rows: rowsOf(BEST_OF_48, 30),
    from: 'enrolled',
    captures: 5,
  },
  { title: 'words demanded, one capture by position', rows: carried(byPosition), text: 'demanded', captures: 1 },
  { title: 'words demanded, one capture by key pair', rows: carried(byPair), text: 'demanded', captures: 1 },
  { title: 'words demanded, two captures', rows: rowsOf(TWO_CAPTURES, 15), text: 'demanded', captures: 2 },
  {
    title: 'words demanded, eight captures',
    rows: [EIGHT_CAPTURES_SPLICED, EIGHT_CAPTURES_SYNTHESIZED, BEST_OF_48]
      .flatMap((all) => rowsOf(all, 15))
      // Whole words of captures are other words than the demanded ones.
      .filter(({ name }) => name !== 'spliced by word'),
    text: 'demanded',
    captures: 8,
  },
]

const NAME_WIDTH = 44
const CELL_WIDTH = 30
const percent = (count: number, of: number): string => ((100 * count) / of).toFixed(1)
const shareCell = (count: number, of: number): string => `${percent(count, of)} [${upperPercent(count, of).toFixed(1)}]`
const countCell = ({ samples, authenticated, copies, bots }: Count): string =>
  `${shareCell(authenticated, samples)}, ${percent(copies, samples)}, ${percent(bots, samples)}`
const line = (name: string, cells: readonly string[], ...rest: readonly string[]): string =>
  [name.padEnd(NAME_WIDTH), ...cells.map((cell) => cell.padEnd(CELL_WIDTH)), ...rest].join('').trimEnd()
const misses = (counts: readonly Count[], bar: number): boolean =>
  counts.some(({ authenticated, samples }) => (100 * authenticated) / samples > bar)

interface Options {
  readonly kernel: Kernel
  readonly data: string
  readonly samples: number
  readonly print: (line: string) => void
  readonly onProgress: (message: string) => void
}

export function captureFigures({ kernel, data, samples, print, onProgress }: Options): void {
  const columns = columnsOf(kernel, data, onProgress)
  print('authenticated in percent [upper end of the 95 % interval], called a copy, called a bot')
  const heads = columns.map(({ name, targets }) => `${name}, ${targets.length} people`)
  print(line('', heads, 'bar'))
  const owners = columns.map(({ targets }) => countLater(kernel, targets, samples))
  print(line("the owners' next patterns", owners.map(countCell)))
  for (const section of SECTIONS) {
    print('')
    print(section.title)
    for (const { name, attacker, bar } of section.rows) {
      onProgress(`${section.title}: ${name}`)
      const counts = columns.map(({ targets }) =>
        enough(targets, section.captures) ? countAttack(kernel, targets, attacker, { samples, ...section }) : null,
      )
      const cells = counts.map((count) => (count === null ? '-' : countCell(count)))
      const missed = misses(
        counts.filter((count) => count !== null),
        bar,
      )
      print(line(`  ${name}`, cells, `${bar}`.padEnd(5), missed ? 'missed' : ''))
    }
    if (section.captures === 1 && section.text === undefined)
      for (const one of [pairLines, reuseLines]) for (const each of one(kernel, columns, samples)) print(each)
  }
  for (const each of sincereLines({ kernel, data, samples, onProgress })) print(each)
}

const enough = (targets: readonly Target[], captures: number): boolean =>
  captures < CAPTURES_OF_EIGHT || targets.every((target) => target.captures.patterns.length >= captures)

function columnsOf(kernel: Kernel, data: string, onProgress: (message: string) => void): Column[] {
  onProgress('reading the data')
  const { untouched } = splitPeople(loadPeople(data, 'aalto'))
  const writers = loadPeople(data, 'klicke', (person) => person < WRITERS_MAX && isUntouchedWriter(person))
  const eight = (targets: readonly Target[]): Target[] =>
    targets.filter(({ captures }) => captures.patterns.length === CAPTURES_OF_EIGHT).slice(0, VICTIMS_MAX)
  return [
    { name: 'Aalto', targets: eight(targetsOf(kernel, sessionsOf(untouched))) },
    { name: 'KLiCKe', targets: eight(targetsOf(kernel, sessionsOf(writers))) },
    { name: 'NISLAB, same text', targets: targetsOf(kernel, joinedPhrases(loadPeople(data, 'nislab'))) },
  ]
}

/** Share of the samples that each two edits together get: there are hundreds of them. */
const PAIR_SHARE = 0.25
const PAIRS_SHOWN = 10

/** Each two edits together: those with the most authenticated patterns, and how many miss their bar. */
function pairLines(kernel: Kernel, columns: readonly Column[], samples: number): string[] {
  const pairs = ONE_CAPTURE.flatMap(([first, one, bar], i) =>
    ONE_CAPTURE.slice(i + 1).map(([second, other, otherBar]) => ({
      name: `${first} + ${second}`,
      attacker: edited([one, other]),
      bar: Math.max(bar, otherBar),
    })),
  )
  const n = Math.ceil(PAIR_SHARE * samples)
  return columns.flatMap(({ name, targets }) => {
    const counted = pairs.map((pair) => ({
      ...pair,
      count: countAttack(kernel, targets, pair.attacker, { samples: n }),
    }))
    const missed = counted.filter(({ count, bar }) => misses([count], bar)).length
    const shareOf = ({ count }: (typeof counted)[number]) => count.authenticated / count.samples
    const worst = [...counted].sort((a, b) => shareOf(b) - shareOf(a)).slice(0, PAIRS_SHOWN)
    const mean = counted.reduce((sum, one) => sum + 100 * shareOf(one), 0) / counted.length
    return [
      `two edits, ${name}: ${missed} of ${pairs.length} pairs miss their bar, mean ${mean.toFixed(1)} %; the worst of them:`,
      ...worst.map(({ name: pair, count, bar }) =>
        line(
          `  ${pair}`.padEnd(2 * NAME_WIDTH),
          [countCell(count)],
          `${bar}`.padEnd(5),
          misses([count], bar) ? 'missed' : '',
        ),
      ),
    ]
  })
}

const USES = 20
const REUSED = ['one pause longer by 60 to 500 ms', 'x 0.89 or 1.11 at random', 'noise 0.20', 'noise 0.30'] as const
const REUSES_MAX = 1

function reuseLines(kernel: Kernel, columns: readonly Column[], samples: number): string[] {
  return [
    `one capture used ${USES} times: uses authenticated, mean, the most, captures with more than one`,
    ...REUSED.map((name) => {
      const edit = ONE_CAPTURE.find(([each]) => each === name)?.[1] ?? unchanged
      const counts = columns.map(({ targets }) =>
        countReuses(kernel, targets.slice(0, Math.max(10, Math.ceil(samples / 8))), edited([edit]), USES),
      )
      const cells = counts.map(
        ({ mean, most, repeated, captures }) => `${mean.toFixed(2)}, ${most}, ${percent(repeated, captures)} %`,
      )
      return line(
        `  ${name}`,
        cells,
        `${REUSES_MAX}`.padEnd(5),
        counts.some(({ most }) => most > REUSES_MAX) ? 'missed' : '',
      )
    }),
  ]
}

const COPY_BAR = 0.1
const BOT_BAR = 0.5
/** With this many samples or more the sincere patterns of all people are judged. */
const SAMPLES_WHOLE = 900

/** Sincere patterns called a copy or a bot: people's patterns in order, and the same words typed 500 times. */
function sincereLines({ kernel, data, samples, onProgress }: Omit<Options, 'print'>): string[] {
  onProgress('sincere patterns')
  const whole = samples >= SAMPLES_WHOLE
  const { untouched } = splitPeople(loadPeople(data, 'aalto'))
  const writersMax = whole ? 4 * WRITERS_MAX : WRITERS_MAX
  const writers = loadPeople(data, 'klicke', (person) => person < writersMax && isUntouchedWriter(person))
  const nislab = loadPeople(data, 'nislab')
  const lines = ['', line('sincere', ['called a copy', 'called a bot', 'patterns'])]
  for (const [name, people] of [
    ['Aalto', sessionsOf(untouched)],
    ['KLiCKe', sessionsOf(writers)],
    ['gradtype', sessionsOf(loadPeople(data, 'gradtype'))],
    ['NISLAB, one passphrase', [...passphrases(nislab, 'h2'), ...passphrases(nislab, 'h1')]],
    ['NISLAB, 60 presses', joinedPhrases(nislab)],
  ] as const) {
    const { patterns: n, copies, bots } = countInOrder(kernel, people)
    const missed = 100 * copies > COPY_BAR * n || 100 * bots > BOT_BAR * n
    const cells = [fine(copies, n), fine(bots, n), `${n}`]
    lines.push(line(`  ${name}`, cells, `${COPY_BAR}, ${BOT_BAR} `, missed ? 'missed' : ''))
  }
  const [typists, typings] = whole ? [20, 500] : [4, 200]
  for (const [name, of] of [
    ['Aalto', sentenceTypists(untouched.slice(0, typists))],
    ['NISLAB', phraseTypists(nislab.slice(0, typists))],
  ] as const) {
    onProgress(`the same words: ${name}`)
    const { typings: n, called } = countSameWords(kernel, of, typings)
    const missed = 100 * called > COPY_BAR * n
    const cells = [fine(called, n), '', `${n}`]
    lines.push(
      line(`  ${name}, the same words ${typings} times`, cells, `${COPY_BAR}`.padEnd(9), missed ? 'missed' : ''),
    )
  }
  return lines
}

const fine = (count: number, of: number): string =>
  `${((100 * count) / of).toFixed(3)} [${upperPercent(count, of).toFixed(3)}]`
