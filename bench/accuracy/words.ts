import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { reportedPeople, type Subject } from '../../src/calibration/dataset.js'
import { loadSources } from '../../src/calibration/fitted-sources.js'
import { PAIR_KEYS, type PairFigures, pairFigures } from '../../src/calibration/key-pairs.js'
import { bootstrapIntervals, type Figures, figuresOf, type PersonScores } from '../../src/calibration/metrics.js'
import { seededRandom, shuffled } from '../../src/calibration/random.js'
import { coveringWords, type PairWorth, pairsOf, pairWorth, worthiestWords } from '../../src/domain/suggested-words.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel, type Kernel } from '../../src/scoring/kernel.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { glued, takeWords, type WordPiece, wordPieces } from './word-pieces.js'

const HELP = `Measures the benefit of choosing suggested words, on people that no model was fitted on.

usage: npm run bench -- words --data <folder> [--people fitting|untouched] [--table FILE]

  --data    folder with aalto_desktop.tsv.gz and klicke_essays.tsv.gz
  --people  untouched (default): people that no model was fitted on, 329 of Aalto and 500 of KLiCKe; fitting: the first 500 of the others, for tuning
  --table   write the information of each key pair, from all fitting people, to FILE and stop

Nobody in the data typed suggested words. So the bench joins whole words that a person typed, with their timings, into
patterns of 25 or 50 presses: five references from the first ten sentences or pieces, probes from the next five. An impostor types
words of their own next five, chosen by the same rule for the victim. Rules:
  random      any words
  telling     words of the pairs with the most information about anybody, in references and probes
  home        references of the pairs worth most for their owner, probes of words whose pairs the references have
  chosen      like the service: references whose pairs cover most of the worth of all words, probes of words whose pairs they have
`

const SOURCES = ['aalto', 'klicke'] as const
type Source = (typeof SOURCES)[number]
/** Fitting people of each source for tuning. */
const FITTING_MAX = 500
/** Draws of words for each person and rule; false matches and non-matches of all draws are pooled. */
const ROUNDS = 3
const BOOTSTRAP_DRAWS = 200
const SEED = 20_261_121
/** Typed presses, in pattern lengths, that leave a choice of words for references and two probes. */
const ROOM = { references: 5.6, probes: 2.3 }

interface Typist {
  readonly name: string
  readonly enroll: readonly WordPiece[]
  readonly probe: readonly WordPiece[]
}

/** Words from the best to the worst; null if any order will do. */
type Order = (words: readonly string[]) => readonly string[]
interface Rule {
  readonly references: (typist: Typist) => Order | null
  readonly probe: (typist: Typist, held: ReadonlySet<number>) => Order | null
}

const byWorth =
  (worth: PairWorth): Order =>
  (words) =>
    worthiestWords(words, worth, words.length)
/** The words that cover most worth together, then the others. */
const byCover =
  (worth: PairWorth): Order =>
  (words) => {
    const covering = coveringWords(words, worth, 5).flat()
    return [...covering, ...words.filter((word) => !covering.includes(word))]
  }
const byHeld =
  (worth: PairWorth) =>
  (held: ReadonlySet<number>): Order =>
    byWorth(Array.from(worth, (one, pair) => (held.has(pair) ? one : 0)))

const anybody = pairWorth('', 0)
const RULES: Readonly<Record<string, Rule>> = {
  random: { references: () => null, probe: () => null },
  telling: { references: () => byWorth(anybody), probe: () => byWorth(anybody) },
  home: {
    references: ({ name }) => byWorth(pairWorth(name)),
    probe: ({ name }, held) => byHeld(pairWorth(name))(held),
  },
  chosen: {
    references: ({ name }) => byCover(pairWorth(name)),
    probe: ({ name }, held) => byHeld(pairWorth(name))(held),
  },
}

function typists(people: readonly Subject[], presses: number): Typist[] {
  const room = (pieces: readonly WordPiece[]) => pieces.reduce((sum, piece) => sum + piece.presses.length, 0) / presses
  return people
    .map((person) => ({
      name: String(person.id),
      enroll: wordPieces(person, 0, 10),
      probe: wordPieces(person, 10, 15),
    }))
    .filter(({ enroll, probe }) => room(enroll) > ROOM.references && room(probe) > ROOM.probes)
}

/** The pieces in a rule's order of preference. */
function inOrder(pieces: readonly WordPiece[], order: Order | null, seed: number): WordPiece[] {
  const drawn = shuffled(pieces, seededRandom(seed))
  if (order === null) return drawn
  const words = [...new Set(drawn.map(({ word }) => word))]
  const rank = new Map(order(words).map((word, i) => [word, i]))
  return drawn.sort((a, b) => (rank.get(a.word) ?? 0) - (rank.get(b.word) ?? 0))
}

/** Scores of every typist's probes and everybody else's by one rule, and the share of the owners' pairs that the references have. */
function scoresOf(kernel: Kernel, all: readonly Typist[], rule: Rule, presses: number) {
  let [pairs, shared] = [0, 0]
  const sample = (pieces: readonly WordPiece[]) => encodeSample(glued(pieces).slice(0, presses + 10), 'visible')
  const scores = all.map((typist, own): PersonScores => {
    const genuine: number[] = []
    const impostor: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const seed = SEED + 1000 * own + round
      const held = new Set<number>()
      const order = rule.references(typist)
      let left: readonly WordPiece[] = inOrder(typist.enroll, order, seed)
      for (let slot = 1; slot <= 5; slot++) {
        const taken = takeWords(left, presses)
        for (const { word } of taken) for (const pair of pairsOf(word)) held.add(pair)
        left = left.filter((piece) => !taken.includes(piece))
        kernel.read(slot, sample(taken))
      }
      const probes = rule.probe(typist, held)
      /** Uses half of a person's words, so that two probes have none in common. */
      const scored = ({ probe }: Typist, half: number): number => {
        const pieces = shuffled(probe, seededRandom(seed)).filter((_, i) => i % 2 === half)
        const taken = takeWords(inOrder(pieces, probes, seed), presses)
        if (probe === typist.probe) {
          const typed = taken.flatMap(({ word }) => pairsOf(word))
          pairs += typed.length
          shared += typed.filter((pair) => held.has(pair)).length
        }
        kernel.read(0, sample(taken))
        return kernel.scoreRead(5).fused
      }
      genuine.push(scored(typist, 0), scored(typist, 1))
      for (const [i, other] of all.entries()) if (i !== own && i % ROUNDS === round) impostor.push(scored(other, 0))
    }
    return { genuine, impostor }
  })
  return { scores, shared: shared / pairs }
}

const percent = (share: number): string => (100 * share).toFixed(2)
const MEASURED = ['global_eer', 'per_user_eer', 'fnmr_at_1pct'] as const

/** Difference of a rule's figures from those at random: 95 % intervals over the same draws of people. */
function differences(random: readonly PersonScores[], chosen: readonly PersonScores[]): string {
  const next = seededRandom(SEED)
  const drawn = Array.from({ length: BOOTSTRAP_DRAWS }, () => {
    const people = random.map(() => Math.floor(next() * random.length))
    const of = (scores: readonly PersonScores[]) => figuresOf(people.flatMap((i) => scores[i] ?? []))
    const [before, after] = [of(random), of(chosen)]
    return MEASURED.map((key) => after[key] - before[key])
  })
  const [before, after] = [figuresOf(random), figuresOf(chosen)]
  return MEASURED.map((key, at) => {
    const sorted = drawn.map((row) => row[at] ?? 0).sort((a, b) => a - b)
    const [low, high] = [0.025, 0.975].map((share) => sorted[Math.floor(share * sorted.length)] ?? 0)
    return `${percent(after[key] - before[key])} [${percent(low ?? 0)}, ${percent(high ?? 0)}]`
  }).join(' | ')
}

function report(kernel: Kernel, source: string, people: readonly Subject[], presses: number): void {
  const all = typists(people, presses)
  console.log(`${source}, ${presses} presses, ${all.length} people who typed enough words, %`)
  console.log('| words | global EER | per-user EER | FNMR at 1 % FMR |\n|---|---|---|---|')
  let random: readonly PersonScores[] | null = null
  for (const [name, rule] of Object.entries(RULES)) {
    const { scores, shared } = scoresOf(kernel, all, rule, presses)
    const [figures, intervals]: [Figures, ReturnType<typeof bootstrapIntervals>] = [
      figuresOf(scores),
      bootstrapIntervals(scores, BOOTSTRAP_DRAWS, SEED),
    ]
    const cells = MEASURED.map((key) => `${percent(figures[key])} [${intervals[key].map(percent).join(', ')}]`)
    console.log(`| ${name}, ${percent(shared)} of the pairs shared | ${cells.join(' | ')} |`)
    if (random !== null) console.log(`| ${name}, less random | ${differences(random, scores)} |`)
    random ??= scores
  }
}

function tableOf(pairs: readonly PairFigures[], people: Readonly<Record<Source, readonly Subject[]>>): string {
  const rows = Array.from({ length: PAIR_KEYS }, (_, first) =>
    pairs
      .slice(first * PAIR_KEYS, (first + 1) * PAIR_KEYS)
      .map(({ nats }) => Math.min(35, Math.round(14 * nats)).toString(36))
      .join(''),
  )
  return `/**
 * Information that one typing of each key pair gives about its typist, in fourteenths of a nat, as base-36 digits. Row: first
 * key; column: second key; a to z, then Space. Generated by \`npm run bench -- words --data <folder> --table <this file>\` from
 * the variances between and within ${people.aalto.length} people of the 136M Keystrokes data set (Dhakal et al., CHI 2018) and
 * ${people.klicke.length} writers of KLiCKe, see src/calibration/key-pairs.ts. Pairs that few of them typed twice are shrunk to the mean. It contains no person's typing.
 */
export const TELLING_PAIRS = \`
${rows.join('\n')}
\`
`
}

function main(): void {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      people: { type: 'string', default: 'untouched' },
      table: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) {
    console.log(HELP)
    return
  }
  if (values.data === undefined) throw new Error('--data <folder> is required; see --help')
  if (values.people !== 'fitting' && values.people !== 'untouched') throw new Error('--people is fitting or untouched')
  const kernel = createKernel(readFileSync(wasmFile()), readFileSync(modelFile()))
  const { data } = values
  if (values.table !== undefined) {
    const { aalto, klicke } = loadSources({ data, without: null, peopleMax: Number.POSITIVE_INFINITY })
    if (aalto.length === 0 || klicke.length === 0)
      throw new Error('--table wants aalto_desktop.tsv.gz and klicke_essays.tsv.gz')
    writeFileSync(values.table, tableOf(pairFigures(kernel, [...aalto, ...klicke]), { aalto, klicke }))
    return
  }
  const fitting = loadSources({ data, without: null, peopleMax: FITTING_MAX })
  for (const source of SOURCES) {
    const people = values.people === 'fitting' ? fitting[source] : reportedPeople(data, source)
    for (const presses of [25, 50]) report(kernel, source, people, presses)
  }
}

try {
  main()
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
