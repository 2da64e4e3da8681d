import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { errorIntervals, errorsAt } from '../../src/calibration/confidence.js'
import {
  DATA_SETS,
  loadPeople,
  reportedPeople,
  type Subject,
  splitPeople,
  type TypingSession,
} from '../../src/calibration/dataset.js'
import {
  bootstrapIntervals,
  calibrationError,
  type Figures,
  figuresOf,
  type Intervals,
  type PersonScores,
} from '../../src/calibration/metrics.js'
import { type Participant, PROTOCOLS, type ProtocolName, runProtocol } from '../../src/calibration/protocols.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel, type Kernel } from '../../src/scoring/kernel.js'
import { attackFigures, leftOutLines } from './attacks.js'
import { captureFigures } from './capture-lines.js'
import { detCurve } from './det-curve.js'
import { groupFigures } from './groups.js'
import { leftOutFigures } from './left-out.js'
import { movesFigures } from './moves.js'

const HELP = `Measures on open data how well the shipped kernel and model distinguish people.

usage: npm run bench -- accuracy --data <folder> [--json FILE] [--svg FILE] [--people all|untouched] [--model FILE]
       [--only NAMES] [--timer MS] [--attacks] [--captures] [--left-out] [--moves] [--groups]

  --data    folder with the open data sets; protocols whose file is not there are left out
  --json    write the figures with their intervals, as fractions, to FILE
  --svg     write the DET curves to FILE
  --people  untouched (default): the people that no model was fitted on, of KLiCKe the first 500 of them, or all
  --model   another model file than the shipped one
  --only    protocols to run, comma-separated, such as P3,P3_one_hand; all by default
  --timer   simulate a browser clock with this tick, ms, in references and probes
  --attacks also report bots and replays: how many pass, and how many sincere patterns count as one
  --captures report only attackers with captured sign-ins or stolen references, and sincere patterns called a copy or a bot; also
            reads klicke_essays.tsv.gz and gradtype_sentences.tsv.gz (5 minutes; --samples 80 takes one)
  --samples forgeries of each attack model and replays of each kind for --attacks: 2000 (default); the bar needs 10000. Patterns
            of each attacker for --captures: 960 (default)
  --left-out also fit the bot signs without each family of forgers with remembered noise, and report what these pass (20 minutes)
  --groups  report only the errors at confidence 0.5 by fifths of tempo, hold, roll-over, corrections and clock (one minute)
  --moves   also report how accuracy changes with text length, references and shared text, and the errors by person

${Object.entries(PROTOCOLS)
  .map(([name, { says }]) => `${name.padEnd(12)} ${says}`)
  .join('\n')}
Figures: equal error rate with one threshold for all (global) and mean over people (per user), false non-match rate at
1 % and 0.1 % false matches, each with a 95 % bootstrap interval over people. No timer-grid feature is in the model.
The shipped model was fitted on the people of P3, P4 and P6_l2 as published, so its figures on those files are too good.
Reliable figures are those out of fold (model/keystride-5.md), or this bench on people of your own.`

/** Share of genuine attempts at which the shipped model's confidence is a calibrated probability (its card). */
const MODEL_PRIOR = 0.05
/** Decision thresholds of a policy that are reported. */
const THRESHOLDS = [0.5, 0.65, 0.8, 0.9, 0.95, 0.98]
const BOOTSTRAP_DRAWS = 200
const SEED = 20_240_601
/** Columns of the table for a protocol's name. */
const NAME = 14

/** The protocols to run, in the order of the report. Protocols whose source is not in the folder are left out, with a line for each. */
function protocols(data: string, only: string | undefined): ProtocolName[] {
  const all = Object.keys(PROTOCOLS) as ProtocolName[]
  const wanted = only?.split(',') ?? all
  const unknown = wanted.filter((name) => !(name in PROTOCOLS))
  if (unknown.length > 0) throw new Error(`--only ${unknown.join()}: wanted some of ${all.join()}`)
  if (!existsSync(data)) throw new Error(`no folder ${data}: --data wants the folder that holds the open data sets`)
  const chosen = all.filter((name) => wanted.includes(name))
  const fileOf = (name: ProtocolName) => DATA_SETS[PROTOCOLS[name].source].file
  const [found, missing] = [true, false].map((isThere) =>
    chosen.filter((name) => existsSync(join(data, fileOf(name))) === isThere),
  )
  for (const name of missing ?? []) console.error(`${name}: left out, no ${fileOf(name)} in ${data}`)
  if (found === undefined || found.length === 0)
    throw new Error(`${data} has none of ${[...new Set(chosen.map(fileOf))].join(', ')}`)
  return found
}

/** A copy of the participant with times as a clock of that tick gives them: rounded down, without the presses that get no length. */
function coarsened({ references, probes, impostor }: Participant, tickMs: number): Participant {
  const onTick = (ms: number) => Math.floor(ms / tickMs) * tickMs
  const coarse = (session: TypingSession): TypingSession =>
    session
      .map(({ key, pressMs, releaseMs }) => ({ key, pressMs: onTick(pressMs), releaseMs: onTick(releaseMs) }))
      .filter(({ pressMs, releaseMs }) => releaseMs > pressMs)
  return { references: references.map(coarse), probes: probes.map(coarse), impostor: coarse(impostor) }
}

/** A protocol's figures in the JSON file. */
interface Reported extends Figures {
  readonly intervals: Intervals
  /** Share of the sincere probes that count as a bot. */
  readonly called_bots: number
  /** False matches and false non-matches at a confidence of 0.5. */
  readonly at_half: ReturnType<typeof errorsAt> & { readonly intervals: ReturnType<typeof errorIntervals> }
}

const percent = (share: number): string => `${(100 * share).toFixed(2)} %`
const withInterval = (share: number, [low, high]: readonly [number, number]): string =>
  `${percent(share)} [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`.padEnd(24)

function tableRow(name: string, figures: Figures, intervals: Intervals): string {
  const keys = ['global_eer', 'per_user_eer', 'fnmr_at_1pct', 'fnmr_at_01pct'] as const
  return `${name.padEnd(NAME)}${keys.map((key) => withInterval(figures[key], intervals[key])).join('')}${figures.people}`
}

/** Error rates at a confidence of 0.5, and the calibration error at several shares of genuine attempts. */
function calibrationLine(
  name: string,
  { at_half: { fmr, fnmr, intervals } }: Reported,
  people: readonly PersonScores[],
): string {
  const errors = [MODEL_PRIOR, 0.25, 0.5].map(
    (prior) => `${percent(calibrationError(people, prior))} at ${percent(prior)}`,
  )
  const [matches, nonMatches] = [withInterval(fmr, intervals.fmr).trim(), withInterval(fnmr, intervals.fnmr).trim()]
  return `${name}: at confidence 0.5 false matches ${matches}, false non-matches ${nonMatches}; expected calibration error ${errors.join(', ')} genuine attempts`
}

/** False matches / false non-matches at the decision thresholds that a policy may have. */
const thresholdLine = (name: string, people: readonly PersonScores[]): string =>
  `${name}: ${THRESHOLDS.map((threshold) => {
    const { fmr, fnmr } = errorsAt(threshold, people)
    return `${threshold}: ${percent(fmr)} / ${percent(fnmr)}`
  }).join(', ')}`

/** The options; null if help was asked for and printed. */
function readOptions() {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      json: { type: 'string' },
      svg: { type: 'string' },
      people: { type: 'string', default: 'untouched' },
      model: { type: 'string' },
      only: { type: 'string' },
      timer: { type: 'string' },
      attacks: { type: 'boolean', default: false },
      'left-out': { type: 'boolean', default: false },
      captures: { type: 'boolean', default: false },
      samples: { type: 'string' },
      moves: { type: 'boolean', default: false },
      groups: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) {
    console.log(HELP)
    return null
  }
  const { data, people } = values
  if (data === undefined) throw new Error('--data <folder> is required; see --help')
  if (people !== 'all' && people !== 'untouched') throw new Error('--people is all or untouched')
  const tickMs = values.timer === undefined ? 0 : Number(values.timer)
  if (!(tickMs >= 0)) throw new Error('--timer is a number of milliseconds')
  const samples = Number(values.samples ?? (values.captures ? 960 : 2000))
  if (!(samples >= 1)) throw new Error('--samples is a number of forgeries, 1 or more')
  return { ...values, data, tickMs, samples }
}

type Options = NonNullable<ReturnType<typeof readOptions>>

/** Measures the protocols and prints their tables, and at the end the worst share of false matches at a confidence of 0.5. */
function measureProtocols(kernel: Kernel, { data, people: whom, only, tickMs }: Options) {
  const figures: Record<string, Reported> = {}
  const curves: { name: string; people: readonly PersonScores[] }[] = []
  const [calibration, thresholds]: [string[], string[]] = [[], []]
  console.log(
    `${''.padEnd(NAME)}${['global EER', 'per-user EER', 'FNMR at 1 %', 'FNMR at 0.1 %'].map((head) => head.padEnd(24)).join('')}people`,
  )
  let [loaded, people]: [string, readonly Subject[]] = ['', []]
  for (const name of protocols(data, only)) {
    const { source, sitting, of } = PROTOCOLS[name]
    if (source !== loaded) {
      const { says, fitted, terms } = DATA_SETS[source]
      console.log(`${source}: ${says}; ${FITTED[fitted]}; terms: ${terms}`)
      people = whom === 'all' ? loadPeople(data, source) : reportedPeople(data, source)
      loaded = source
    }
    const exact = of(people)
    const participants = tickMs === 0 ? exact : exact.map((participant) => coarsened(participant, tickMs))
    console.error(`${name}: ${participants.length} people`)
    // Confidence is a monotone map of the fused score that loses digits near 0 and 1, so ranks use the fused score.
    const { fused, confidence, bots } = runProtocol(kernel, participants, sitting)
    const measured = figuresOf(fused)
    const intervals = bootstrapIntervals(fused, BOOTSTRAP_DRAWS, SEED)
    const at_half = { ...errorsAt(0.5, confidence), intervals: errorIntervals(0.5, confidence, BOOTSTRAP_DRAWS, SEED) }
    figures[name] = { ...measured, intervals, at_half, called_bots: bots.called / bots.of }
    curves.push({ name, people: fused })
    console.log(tableRow(name, measured, intervals))
    calibration.push(calibrationLine(name, figures[name], confidence))
    thresholds.push(thresholdLine(name, confidence))
  }
  for (const line of calibration) console.log(line)
  console.log('false matches / false non-matches at a decision threshold')
  for (const line of thresholds) console.log(line)
  const called = Object.entries(figures).map(([name, { called_bots }]) => `${name} ${percent(called_bots)}`)
  console.log(`sincere patterns called a bot: ${called.join(', ')}`)
  console.log(worstLine(figures))
  return { figures, curves }
}

const FITTED = {
  some: 'the model was fitted on other people of it',
  all: 'the model was fitted on these people, so the figures are too good',
  none: 'no model was fitted on it',
} as const

/** The highest share of false matches at a confidence of 0.5 of all protocols. */
function worstLine(figures: Readonly<Record<string, Reported>>): string {
  const [name, { at_half }] = Object.entries(figures).reduce((worst, one) =>
    one[1].at_half.fmr > worst[1].at_half.fmr ? one : worst,
  )
  return `worst false-match rate at confidence 0.5: ${withInterval(at_half.fmr, at_half.intervals.fmr).trim()}, ${name}`
}

function main(): void {
  const options = readOptions()
  if (options === null) return
  const { data, samples } = options
  const kernel = createKernel(readBytes(wasmFile()), readBytes(options.model ?? modelFile()))
  const onProgress = (message: string): void => console.error(message)
  if (options.captures) {
    captureFigures({ kernel, data, samples, print: console.log, onProgress })
    return
  }
  if (options.groups) {
    groupFigures(kernel, data, console.log)
    return
  }
  const { figures, curves } = measureProtocols(kernel, options)
  if (options.moves)
    for (const line of movesFigures(kernel, splitPeople(loadPeople(data, 'aalto')).untouched)) console.log(line)
  if (options.attacks) for (const line of attackFigures(kernel, data, samples, onProgress)) console.log(line)
  if (options['left-out'])
    for (const line of leftOutLines(leftOutFigures(kernel, data, samples, onProgress))) console.log(line)
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`)
  if (options.svg !== undefined) writeFileSync(options.svg, detCurve(curves))
}

function readBytes(file: string): Uint8Array {
  return new Uint8Array(readFileSync(file))
}

try {
  main()
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
