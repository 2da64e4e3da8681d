import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import Benchmark from 'benchmark'
import { person } from '../src/cli/made-up-person.js'
import { suggestWords } from '../src/domain/typing-words.js'
import { modelFile, wasmFile } from '../src/scoring/artifacts.js'
import { createKernel } from '../src/scoring/kernel.js'
import { scoreTask } from '../src/scoring/score.js'

/**
 * What one attempt costs a scoring thread, in one run: parsing its JSON, reading it whole (schema and bounds), scoring it
 * against five references, and all of that as the worker does it.
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

process.stdout.write(
  `${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}, body of ${body.length} bytes\n`,
)
new Benchmark.Suite()
  .add('JSON.parse of the body', () => JSON.parse(body.toString()))
  .add('read the pattern (parse, schema, bounds, replay mark, bot signs)', () =>
    scoreTask(kernel, { body, references: [], replayKey }),
  )
  .add('score a sample against 5 references (WASM)', () => kernel.score(probe, references))
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
