import {
  isUntouchedWriter,
  loadPeople,
  type Subject,
  splitPeople,
  type TypingSession,
} from '../../src/calibration/dataset.js'
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
import {
  AIMED_EDITS,
  DROWNING_EDIT_BAR,
  DROWNING_EDITS,
  EDIT_BAR,
  EDITS,
  MISPLACING_EDITS,
  MOVING_EDITS,
  STRONGER_EDITS,
} from './edits.js'
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
  readonly oneText: boolean
}

/** An attacker; `bar` is the percent of its patterns that may be authenticated. */
interface Row {
  readonly name: string
  readonly attacker: Attacker
  readonly bar: number
  /** The attacker makes many patterns for each one sent, so a larger number of samples is cut to this one. */
  readonly samplesMax?: number
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

const CHOSEN_SAMPLES = 240
const choosers = (bar: number): Row[] => rowsOf(BEST_OF_48, bar).map((row) => ({ ...row, samplesMax: CHOSEN_SAMPLES }))

const ONE_CAPTURE: readonly (readonly [name: string, edit: Edit, bar: number])[] = [
  ...[EDITS, STRONGER_EDITS, MOVING_EDITS, MISPLACING_EDITS].flatMap((edits) =>
    Object.entries(edits).map(([name, edit]) => [name, edit, EDIT_BAR] as const),
  ),
  ...Object.entries(DROWNING_EDITS).map(([name, edit]) => [name, edit, DROWNING_EDIT_BAR] as const),
]

const unchanged: Edit = (pattern) => pattern
/** Edits that do not change the keys, for a capture whose times are moved to demanded words. */
const CARRIED: Readonly<Record<string, Edit>> = { unchanged, ...MOVING_EDITS, ...DROWNING_EDITS }
const editedBy = (edits: Readonly<Record<string, Edit>>, bar: number, carry = byPair): Row[] =>
  Object.entries(edits).map(([name, edit]) => ({ name, attacker: edited([edit], carry), bar }))

const SECTIONS: readonly Section[] = [
  {
    title: 'one capture, edited',
    rows: ONE_CAPTURE.map(([name, edit, bar]) => ({ name, attacker: edited([edit]), bar })),
    captures: 1,
  },
  { title: 'one capture, further edits', rows: editedBy(AIMED_EDITS, EDIT_BAR), captures: 1 },
  { title: 'two captures', rows: rowsOf(TWO_CAPTURES, 5), captures: 2 },
  { title: 'eight captures, spliced', rows: rowsOf(EIGHT_CAPTURES_SPLICED, 15), captures: 8 },
  {
    title: 'eight captures, synthesis',
    rows: [...rowsOf(EIGHT_CAPTURES_SYNTHESIZED, 30), ...choosers(30)],
    captures: 8,
  },
  { title: 'references stolen', rows: rowsOf(STOLEN_REFERENCES, 5), from: 'enrolled', captures: 5 },
  {
    title: 'references stolen, best of 48',
    rows: choosers(30),
    from: 'enrolled',
    captures: 5,
  },
  {
    title: 'words demanded, one capture by position',
    rows: editedBy(CARRIED, 3, byPosition),
    text: 'demanded',
    captures: 1,
  },
  { title: 'words demanded, one capture by key pair', rows: editedBy(CARRIED, 3), text: 'demanded', captures: 1 },
  { title: 'words demanded, two captures', rows: rowsOf(TWO_CAPTURES, 5), text: 'demanded', captures: 2 },
  {
    title: 'words demanded, eight captures',
    rows: [
      // Whole words of captures are other words than the demanded ones.
      ...rowsOf(EIGHT_CAPTURES_SPLICED, 15).filter(({ name }) => name !== 'spliced by word'),
      ...rowsOf(EIGHT_CAPTURES_SYNTHESIZED, 15),
      ...choosers(15),
    ],
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
const misses = ({ authenticated, samples }: Count, bar: number): boolean => (100 * authenticated) / samples > bar
const judged = (bar: number | string, missed: boolean): string[] => [`${bar}`.padEnd(5), missed ? 'missed' : '']

interface Options {
  readonly kernel: Kernel
  readonly data: string
  readonly samples: number
  readonly print: (line: string) => void
  readonly onProgress: (message: string) => void
}

export function captureFigures({ kernel, data, samples, print, onProgress }: Options): void {
  onProgress('reading the data')
  const people = readPeople(data, samples)
  const columns = columnsOf(kernel, people)
  print('authenticated in percent [upper end of the 95 % interval], called a copy, called a bot')
  const heads = columns.map(({ name, targets }) => `${name}, ${targets.length} people`)
  print(line('', heads, 'bar'))
  const owners = columns.map(({ targets }) => countLater(kernel, targets, samples))
  print(line("the owners' next patterns", owners.map(countCell)))
  for (const section of SECTIONS) {
    print('')
    print(section.title)
    for (const { name, attacker, bar, samplesMax = samples } of section.rows) {
      onProgress(`${section.title}: ${name}`)
      const how = { ...section, samples: Math.min(samples, samplesMax) }
      const counts = columns.map((column) =>
        suits(column, section) ? countAttack(kernel, column.targets, attacker, how) : null,
      )
      const cells = counts.map((count) => (count === null ? '-' : countCell(count)))
      const missed = counts.some((count) => count !== null && misses(count, bar))
      print(line(`  ${name}`, cells, ...judged(bar, missed)))
    }
    if (section !== SECTIONS[0]) continue
    onProgress('each two edits together')
    for (const each of pairLines(kernel, columns, samples)) print(each)
    onProgress(`one capture ${USES} times`)
    for (const each of reuseLines(kernel, columns, samples)) print(each)
  }
  onProgress('sincere patterns')
  for (const each of sincereLines(kernel, people)) print(each)
  for (const each of sameWordsLines(kernel, people, samples)) print(each)
}

/** In a collection with one text people have no other words, and too few captures for some attackers. */
const suits = ({ oneText }: Column, { captures, text }: Section): boolean =>
  !(oneText && (text === 'demanded' || captures === CAPTURES_OF_EIGHT))

interface People {
  readonly aalto: readonly Subject[]
  readonly klicke: readonly Subject[]
  readonly gradtype: readonly Subject[]
  readonly nislab: readonly Subject[]
}

/** With this many samples or more the sincere patterns of more people are judged. */
const SAMPLES_WHOLE = 900

function readPeople(data: string, samples: number): People {
  const writersMax = samples >= SAMPLES_WHOLE ? 4 * WRITERS_MAX : WRITERS_MAX
  return {
    aalto: splitPeople(loadPeople(data, 'aalto')).untouched,
    klicke: loadPeople(data, 'klicke', (person) => person < writersMax && isUntouchedWriter(person)),
    gradtype: loadPeople(data, 'gradtype'),
    nislab: loadPeople(data, 'nislab'),
  }
}

function columnsOf(kernel: Kernel, { aalto, klicke, nislab }: People): Column[] {
  const eight = (people: readonly Subject[]): Target[] =>
    targetsOf(kernel, sessionsOf(people.slice(0, 2 * VICTIMS_MAX)))
      .filter(({ captures }) => captures.patterns.length === CAPTURES_OF_EIGHT)
      .slice(0, VICTIMS_MAX)
  return [
    { name: 'Aalto', targets: eight(aalto), oneText: false },
    { name: 'KLiCKe', targets: eight(klicke), oneText: false },
    { name: 'NISLAB, same text', targets: targetsOf(kernel, joinedPhrases(nislab)), oneText: true },
  ]
}

/** Share of the samples for each pair of edits: there are hundreds of pairs. */
const PAIR_SHARE = 0.25
const PAIRS_SHOWN = 10

/** Pairs of edits: those with the most authenticated patterns, and how many miss their bar. */
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
    const missed = counted.filter(({ count, bar }) => misses(count, bar)).length
    const shareOf = ({ count }: (typeof counted)[number]) => count.authenticated / count.samples
    const worst = [...counted].sort((a, b) => shareOf(b) - shareOf(a)).slice(0, PAIRS_SHOWN)
    const mean = counted.reduce((sum, one) => sum + 100 * shareOf(one), 0) / counted.length
    return [
      `two edits, ${name}: ${missed} of ${pairs.length} pairs miss their bar, mean ${mean.toFixed(1)} %; the worst of them:`,
      ...worst.map(({ name: pair, count, bar }) =>
        line(`  ${pair}`.padEnd(2 * NAME_WIDTH), [countCell(count)], ...judged(bar, misses(count, bar))),
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
      const missed = counts.some(({ most }) => most > REUSES_MAX)
      return line(`  ${name}`, cells, ...judged(REUSES_MAX, missed))
    }),
  ]
}

const COPY_BAR = 0.1
const BOT_BAR = 0.5

/** How many sincere patterns are called a copy or a bot, when each person's patterns arrive in order. */
function sincereLines(kernel: Kernel, { aalto, klicke, gradtype, nislab }: People): string[] {
  const rows: readonly (readonly [string, readonly (readonly TypingSession[])[]])[] = [
    ['Aalto', sessionsOf(aalto)],
    ['KLiCKe', sessionsOf(klicke)],
    ['KLiCKe, no key in half of the presses', sessionsOf(klicke).map((sessions) => sessions.filter(isText))],
    ['gradtype', sessionsOf(gradtype)],
    ['NISLAB, one passphrase', [...passphrases(nislab, 'h2'), ...passphrases(nislab, 'h1')]],
    ['NISLAB, 60 presses', joinedPhrases(nislab)],
  ]
  return [
    '',
    line('sincere', ['called a copy', 'called a bot', 'patterns'], 'bars'),
    ...rows.map(([name, people]) => {
      const { patterns: n, copies, bots } = countInOrder(kernel, people)
      const missed = 100 * copies > COPY_BAR * n || 100 * bots > BOT_BAR * n
      return line(`  ${name}`, [fine(copies, n), fine(bots, n), `${n}`], ...judged(`${COPY_BAR}, ${BOT_BAR} `, missed))
    }),
  ]
}

/** Some pieces of an essay are runs of an arrow key or of Backspace, whose times repeat. */
function isText(session: TypingSession): boolean {
  const counts = new Map<number, number>()
  for (const { key } of session) counts.set(key, (counts.get(key) ?? 0) + 1)
  return 2 * Math.max(...counts.values()) < session.length
}

/** Typings of the same words called a copy of an earlier one. */
function sameWordsLines(kernel: Kernel, { aalto, nislab }: People, samples: number): string[] {
  const [people, typings] = samples >= SAMPLES_WHOLE ? [20, 500] : [4, 200]
  return (
    [
      ['Aalto', sentenceTypists(aalto.slice(0, people))],
      ['NISLAB', phraseTypists(nislab.slice(0, people))],
    ] as const
  ).map(([name, typists]) => {
    const { typings: n, called } = countSameWords(kernel, typists, typings)
    const missed = 100 * called > COPY_BAR * n
    return line(
      `  ${name}, the same words ${typings} times`,
      [fine(called, n), '', `${n}`],
      ...judged(COPY_BAR, missed),
    )
  })
}

const fine = (count: number, of: number): string =>
  `${((100 * count) / of).toFixed(3)} [${upperPercent(count, of).toFixed(3)}]`
