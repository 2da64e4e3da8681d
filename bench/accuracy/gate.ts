import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { errorsAt } from '../../src/calibration/confidence.js'
import { loadPeople, reportedPeople, splitPeople, type TypingSession } from '../../src/calibration/dataset.js'
import { figuresOf } from '../../src/calibration/metrics.js'
import { PROTOCOLS, type ProtocolName, runProtocol } from '../../src/calibration/protocols.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel, type Kernel } from '../../src/scoring/kernel.js'
import { EIGHT_CAPTURES_SPLICED, edited } from './attackers.js'
import { type Attacker, countAttack, countInOrder } from './captures.js'
import { MISPLACING_EDITS, MOVING_EDITS } from './edits.js'
import { sessionsOf, type Target, targetsOf } from './targets.js'

const HELP = `Measures the accuracy and the search for copies on few people of the open data, and fails if a figure is above its limit in
bench/accuracy/gate.json.

usage: npm run bench -- gate --data <folder>

The limits leave room for the few people, not for a worse model: "npm run bench -- accuracy" measures all people, with intervals.`

const FIGURES = ['global_eer', 'per_user_eer', 'fnmr_at_1pct', 'false_matches_at_half', 'called_bots'] as const

/** The contents of `gate.json`. */
interface Limits {
  /** People of each protocol, the first in the file. */
  readonly people: number
  /** The highest value of each figure, as a fraction, by protocol. */
  readonly most: Readonly<Record<string, Partial<Record<(typeof FIGURES)[number], number>>>>
  /** The highest share of patterns that are authenticated, by attacker with captured sign-ins, and of sincere ones called a copy. */
  readonly copies: Readonly<Record<string, number>>
}

const ATTACKERS: Readonly<Record<string, Attacker>> = {
  'x 0.89 or 1.11 at random': edited([MOVING_EDITS['x 0.89 or 1.11 at random']]),
  'noise 0.15': edited([MOVING_EDITS['noise 0.15']]),
  'keys relabelled': edited([MISPLACING_EDITS['keys relabelled']]),
  'spliced by word': EIGHT_CAPTURES_SPLICED['spliced by word'],
}
const SINCERE = 'sincere, called a copy'
/** Patterns of each attacker for one target. */
const TRIES = 3

const bytes = (file: string) => new Uint8Array(readFileSync(file))

/** Prints a figure next to its limit. Returns whether the limit holds; a figure that is NaN fails, because it compares as false. */
function held(name: string, found: number, limit: number, of: string): boolean {
  const holds = found <= limit
  console.log(
    `  ${holds ? 'holds' : 'FAILS'}  ${name} ${(100 * found).toFixed(2)} %, limit ${(100 * limit).toFixed(1)} %, ${of}`,
  )
  return holds
}

/** Measures the protocols. Returns the number of figures above their limit. */
function measure(kernel: Kernel, data: string, { people, most }: Limits): number {
  let above = 0
  for (const [protocol, limits] of Object.entries(most)) {
    if (!(protocol in PROTOCOLS))
      throw new Error(`gate.json names ${protocol}: wanted one of ${Object.keys(PROTOCOLS).join()}`)
    // Sound: checked above.
    const { source, sitting, of } = PROTOCOLS[protocol as ProtocolName]
    const participants = of(reportedPeople(data, source).slice(0, people))
    const { fused, confidence, bots } = runProtocol(kernel, participants, sitting)
    const found = {
      ...figuresOf(fused),
      false_matches_at_half: errorsAt(0.5, confidence).fmr,
      called_bots: bots.called / bots.of,
    }
    for (const figure of FIGURES) {
      const limit = limits[figure]
      if (limit === undefined) continue
      if (!held(`${protocol} ${figure}`, found[figure], limit, `${participants.length} people`)) above += 1
    }
  }
  return above
}

/** Measures attackers with captured sign-ins. Returns the number of shares above their limit. */
function measureCopies(kernel: Kernel, data: string, { people, copies }: Limits): number {
  const sessions = sessionsOf(splitPeople(loadPeople(data, 'aalto')).untouched.slice(0, people))
  const targets = targetsOf(kernel, sessions)
  let above = 0
  for (const [name, limit] of Object.entries(copies)) {
    const attacker = ATTACKERS[name]
    if (attacker === undefined && name !== SINCERE)
      throw new Error(`gate.json names ${name}: wanted ${SINCERE} or one of ${Object.keys(ATTACKERS)}`)
    const { of, n } = attacker === undefined ? sincere(kernel, sessions) : authenticated(kernel, targets, attacker)
    if (!held(name, of / n, limit, `${n} patterns`)) above += 1
  }
  return above
}

function sincere(kernel: Kernel, sessions: readonly (readonly TypingSession[])[]) {
  const { copies, patterns } = countInOrder(kernel, sessions)
  return { of: copies, n: patterns }
}

function authenticated(kernel: Kernel, targets: readonly Target[], attacker: Attacker) {
  const found = countAttack(kernel, targets, attacker, { samples: TRIES * targets.length })
  return { of: found.authenticated, n: found.samples }
}

function main(): void {
  const { values } = parseArgs({
    options: { data: { type: 'string' }, help: { type: 'boolean', short: 'h', default: false } },
  })
  if (values.help) {
    console.log(HELP)
    return
  }
  const { data } = values
  if (data === undefined) throw new Error('--data <folder> is required; see --help')
  const file = fileURLToPath(new URL('../../../bench/accuracy/gate.json', import.meta.url))
  const limits = JSON.parse(readFileSync(file, 'utf8')) as Limits // the file of this repository
  const kernel = createKernel(bytes(wasmFile()), bytes(modelFile()))
  const above = measure(kernel, data, limits) + measureCopies(kernel, data, limits)
  if (above > 0) throw new Error(`${above} figures are above their limit`)
}

try {
  main()
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
