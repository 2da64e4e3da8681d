import { readFileSync, writeFileSync } from 'node:fs'
import { table } from '../../src/cli/table.js'
import { TypingPattern } from '../../src/domain/typing-pattern.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { readByContract } from '../../src/scoring/read-pattern.js'
import { scoreTask } from '../../src/scoring/score.js'
import { confirmed, sketchOf } from '../../src/scoring/sketch.js'
import { type PatternBody, pressesOf } from '../peers/pattern.js'
import { createScorer } from '../peers/scoring/scorer.js'
import { bodyOf } from '../ratio/people.js'
import { machine } from '../shared/machine.js'
import { benchOptions, runBench } from '../shared/options.js'
import { inTurn } from './scan-over-parse.js'

const HELP = `Cost of the parts of one attempt on a scoring thread, and of their alternatives.

  npm run bench -- micro [options]

  --rounds N        rounds in which all calls alternate; medians are reported (61)
  --calls N         calls of each in a round (20)
  --presses N       key presses of the pattern (31: 14 kB)
  --references N    references in the score (5)
  --json FILE       also write the figures to a file

No server is started. A C bound for scanning, as published and not measured here: simdjson reads 2 to 3 GB/s, 5 to 7 µs for 14 kB,
and keeps nothing.
`

/** Known patterns of a member who has signed in often: all that are kept. */
const KNOWN_MAX = 64
/** Maximum share of parse and schema that the scan with its features may take. */
const SCAN_SHARE_MAX = 0.25

await runBench('micro', () => {
  const defaults = { rounds: 61, calls: 20, presses: 31, references: 5 }
  const { numbers: options, files } = benchOptions('micro', HELP, defaults)
  const facts = machine()
  const kernel = createKernel(readFileSync(wasmFile()), readFileSync(modelFile()))
  const replayKey = new Uint8Array(32).fill(5)
  const body = Buffer.from(bodyOf(3, 6, options.presses))
  const sampleOf = (ordinal: number): Uint8Array => {
    const read = kernel.scan(Buffer.from(bodyOf(3, ordinal, options.presses)))
    if (read === null) throw new Error('the scanner declined a pattern of its own recorder')
    return read.sample
  }
  const references = Array.from({ length: options.references }, (_, i) => sampleOf(10 + i))
  const adaptive = [30, 31, 32].map(sampleOf)
  const probe = sampleOf(6)
  const sketch = sketchOf(probe)
  const known = [Buffer.concat(Array.from({ length: KNOWN_MAX }, (_, i) => confirmed(sketchOf(sampleOf(40 + i)))))]
  const read = readByContract(body)
  if (!read.ok) throw new Error(read.message)
  kernel.score(probe, references)
  const template = { bytes: kernel.keep(references.length), n: references.length }
  const scorer = createScorer(readFileSync(modelFile()))
  const presses = pressesOf(JSON.parse(body.toString()) as PatternBody) ?? []
  const readBefore = scorer.readTemplate(template.bytes)
  const us = inTurn(
    {
      'scan (WASM)': () => kernel.scan(body),
      'scan and features (WASM)': () => kernel.read(0, kernel.scan(body)?.sample ?? probe),
      'JSON.parse': () => JSON.parse(body.toString()),
      'JSON.parse and zod': () => TypingPattern.parse(JSON.parse(body.toString())),
      'the contract: JSON.parse, zod, bounds, sample': () => readByContract(body),
      'features of a sample (WASM)': () => kernel.read(0, probe),
      'replay mark (WASM)': () => kernel.mark(read.times, replayKey),
      [`search ${KNOWN_MAX} known patterns for a copy (WASM)`]: () => kernel.copies(sketch, known),
      'score against the references (WASM)': () => kernel.score(probe, references),
      'score against the template kept of them': () => kernel.scoreKept(probe, template.bytes),
      'the same in JavaScript': () => scorer.score(presses, scorer.readTemplate(template.bytes)),
      'the same in JavaScript, template read before': () => scorer.score(presses, readBefore),
      'a whole attempt, references read': () => scoreTask(kernel, { body, references, replayKey }),
      'a whole attempt, template kept': () => scoreTask(kernel, { body, references: [], template, replayKey }),
      [`a whole attempt, template kept, ${KNOWN_MAX} known patterns`]: () =>
        scoreTask(kernel, { body, references: [], template, known, replayKey }),
      'a whole attempt with 3 adaptive references': () => scoreTask(kernel, { body, references, adaptive, replayKey }),
    },
    options.rounds,
    options.calls,
  )
  const rows = Object.entries(us).map(([name, { median, min, max }]) => [
    name,
    ...[median, min, max].map((each) => each.toFixed(1)),
    Math.round(1e6 / median).toLocaleString('en'),
  ])
  process.stdout.write(`${facts.cores} x ${facts.cpu}, Node ${facts.node}, a pattern of ${body.length} bytes\n`)
  process.stdout.write(`${table(['call', 'median µs', 'low', 'high', 'a second'], rows)}\n`)
  const share = (us['scan and features (WASM)']?.median ?? 1) / (us['JSON.parse and zod']?.median ?? 1)
  process.stdout.write(
    `${share <= SCAN_SHARE_MAX ? 'ok' : 'MISSED'}: scan and features take ${share.toFixed(2)} of JSON.parse and zod (${SCAN_SHARE_MAX} at most)\n`,
  )
  const brief = Object.fromEntries(
    Object.entries(us).map(([name, { median, min, max }]) => [name, { median, min, max }]),
  )
  const report = { us: brief, body_bytes: body.length, options, machine: facts, at: new Date().toISOString() }
  if (files.json !== undefined) writeFileSync(files.json, `${JSON.stringify(report, null, 2)}\n`)
})
