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

const FIGURES = ['global_eer', 'per_user_eer', 'fnmr_at_1pct', 'false_matches_at_half'] as const

/** One measurement of a model. */
interface Measurement {
  readonly name: string
  /** People of each protocol, the first in the file; all if absent. */
  readonly people?: number
  /** A model file next to `gate.json`; the shipped model if absent. */
  readonly model?: string
  /** The highest value of each figure, as a fraction, by protocol. */
  readonly most: Readonly<Record<string, Partial<Record<(typeof FIGURES)[number], number>>>>
  /** The highest share of patterns that are authenticated, by attacker with captured sign-ins, and of sincere ones called a copy. */
  readonly copies?: Readonly<Record<string, number>>
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

const beside = (name: string) => fileURLToPath(new URL(`../../../bench/accuracy/${name}`, import.meta.url))
const bytes = (file: string) => new Uint8Array(readFileSync(file))

/** Prints each figure next to its limit. Returns the number of figures above their limit. */
function measure(data: string, { name, people, model, most }: Measurement): number {
  const kernel = createKernel(bytes(wasmFile()), bytes(model === undefined ? modelFile() : beside(model)))
  let above = 0
  console.log(`${name}:`)
  for (const [protocol, limits] of Object.entries(most)) {
    if (!(protocol in PROTOCOLS))
      throw new Error(`gate.json names ${protocol}: wanted one of ${Object.keys(PROTOCOLS).join()}`)
    // Sound: checked above.
    const { source, sitting, of } = PROTOCOLS[protocol as ProtocolName]
    const participants = of(reportedPeople(data, source).slice(0, people))
    const { fused, confidence } = runProtocol(kernel, participants, sitting)
    const found = { ...figuresOf(fused), false_matches_at_half: errorsAt(0.5, confidence).fmr }
    for (const figure of FIGURES) {
      const limit = limits[figure]
      if (limit === undefined) continue
      // A figure that is NaN fails, because it compares as false.
      const holds = found[figure] <= limit
      if (!holds) above += 1
      const shown = `${(100 * found[figure]).toFixed(2)} %, limit ${(100 * limit).toFixed(1)} %`
      console.log(`  ${holds ? 'holds' : 'FAILS'}  ${protocol} ${figure} ${shown}, ${participants.length} people`)
    }
  }
  return above
}

/** Prints each share next to its limit. Returns the number of shares above their limit. */
function measureCopies(data: string, { people, copies = {} }: Partial<Measurement>): number {
  const kernel = createKernel(bytes(wasmFile()), bytes(modelFile()))
  const sessions = sessionsOf(splitPeople(loadPeople(data, 'aalto')).untouched.slice(0, people))
  const targets = targetsOf(kernel, sessions)
  let above = 0
  for (const [name, limit] of Object.entries(copies)) {
    const attacker = ATTACKERS[name]
    if (attacker === undefined && name !== SINCERE)
      throw new Error(`gate.json names ${name}: wanted ${SINCERE} or one of ${Object.keys(ATTACKERS)}`)
    const { of, n } = attacker === undefined ? sincere(kernel, sessions) : authenticated(kernel, targets, attacker)
    const holds = of / n <= limit
    if (!holds) above += 1
    console.log(
      `  ${holds ? 'holds' : 'FAILS'}  ${name} ${((100 * of) / n).toFixed(2)} %, limit ${(100 * limit).toFixed(1)} %, ${n} patterns`,
    )
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
  const measurements = JSON.parse(readFileSync(beside('gate.json'), 'utf8')) as Measurement[] // the file of this repository
  const above = measurements.reduce((sum, one) => sum + measure(data, one) + measureCopies(data, one), 0)
  if (above > 0) throw new Error(`${above} figures are above their limit`)
}

try {
  main()
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
