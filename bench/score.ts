import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import Benchmark from 'benchmark'
import { person } from '../src/cli/made-up-person.js'
import { TypingPattern } from '../src/domain/typing-pattern.js'
import { suggestWords } from '../src/domain/typing-words.js'
import { modelFile, wasmFile } from '../src/scoring/artifacts.js'
import { createKernel } from '../src/scoring/kernel.js'
import { readByContract } from '../src/scoring/read-pattern.js'
import { scoreTask } from '../src/scoring/score.js'

/**
 * What one attempt costs a scoring thread, in one run: reading its bytes by the scanner and by JSON.parse and schema, taking
 * turns so that a busy machine slows all alike; then scoring it against five references, and all of it as the worker does.
 */
const kernel = createKernel(readFileSync(wasmFile()), readFileSync(modelFile()))
const replayKey = new Uint8Array(32).fill(5)
const bodyOf = (session: number) =>
  Buffer.from(JSON.stringify(person(3).types(suggestWords('en', session).join(' '), session)))
const sampleOf = (session: number): Uint8Array => {
  const result = scoreTask(kernel, { body: bodyOf(session), references: [], replayKey })
  if (!result.ok) throw new Error(result.message)
  return result.reading.sample
}
const references = [1, 2, 3, 4, 5].map(sampleOf)
const adaptive = [7, 8, 9].map(sampleOf)
const body = bodyOf(6)
const probe = sampleOf(6)

/** 14 kB: what design and the scanner's bar speak of. */
const pattern = Buffer.from(JSON.stringify(person(3).types(suggestWords('en', 6).join(' ').slice(0, 32), 6)))
const read = readByContract(pattern)
if (!read.ok || kernel.scan(pattern) === null) throw new Error('the bench needs a pattern that is accepted')
/** The scan and the features it feeds may take this share of parse and schema. */
const SCAN_SHARE_MAX = 0.25

/** Median microseconds a call of each, over `rounds` in which all take turns. */
function medians(
  calls: Readonly<Record<string, () => unknown>>,
  rounds = 61,
  callsARound = 20,
): Record<string, number> {
  const times = Object.keys(calls).map((): number[] => [])
  // The first ten rounds compile.
  for (let round = -10; round < rounds; round++) {
    for (const [i, call] of Object.values(calls).entries()) {
      const begun = process.hrtime.bigint()
      for (let n = 0; n < callsARound; n++) call()
      if (round >= 0) times[i]?.push(Number(process.hrtime.bigint() - begun) / 1000 / callsARound)
    }
  }
  return Object.fromEntries(
    Object.keys(calls).map((name, i) => [name, times[i]?.sort((a, b) => a - b)[rounds >> 1] ?? Number.NaN]),
  )
}

process.stdout.write(
  `${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}, body of ${body.length} bytes\n`,
)
const found = medians({
  'scan (WASM)': () => kernel.scan(pattern),
  'scan and features (WASM)': () => kernel.read(0, kernel.scan(pattern)?.sample ?? read.sample),
  'JSON.parse': () => JSON.parse(pattern.toString()),
  'JSON.parse and zod': () => TypingPattern.parse(JSON.parse(pattern.toString())),
  'the contract (JSON.parse, zod, bounds, sample)': () => readByContract(pattern),
  'the replay mark': () => kernel.mark(read.times, replayKey),
})
process.stdout.write(`a pattern of ${pattern.length} bytes, medians of 61 rounds in turn:\n`)
for (const [name, us] of Object.entries(found)) process.stdout.write(`${us.toFixed(1).padStart(8)} us  ${name}\n`)
const share = (found['scan and features (WASM)'] ?? 1) / (found['JSON.parse and zod'] ?? 1)
process.stdout.write(
  `${share <= SCAN_SHARE_MAX ? 'ok' : 'MISSED'}: scan and features take ${share.toFixed(2)} of JSON.parse and zod (${SCAN_SHARE_MAX} at most)\n\n`,
)
kernel.score(probe, references)
const template = kernel.keep(references.length)
new Benchmark.Suite()
  .add('read the pattern (scan, replay mark, bot signs)', () => scoreTask(kernel, { body, references: [], replayKey }))
  .add('score a sample against 5 references (WASM)', () => kernel.score(probe, references))
  .add('the same against the template kept of them', () => kernel.scoreKept(probe, template))
  .add('the whole attempt, as the worker does it', () => scoreTask(kernel, { body, references, replayKey }))
  .add('the same with 3 adaptive references besides', () =>
    scoreTask(kernel, { body, references, adaptive, replayKey }),
  )
  .on('cycle', (event: Benchmark.Event) => {
    // Sound: the library sends a suite's cycle events from its benchmarks; its types say less.
    const { name, hz, stats } = event.target as unknown as Benchmark
    const us = ((stats?.mean ?? Number.NaN) * 1e6).toFixed(1).padStart(8)
    process.stdout.write(`${us} us ±${(stats?.rme ?? Number.NaN).toFixed(1)} %  ${Math.round(hz ?? 0)}/s  ${name}\n`)
  })
  .run()
