import { readFileSync } from 'node:fs'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { readByContract } from '../../src/scoring/read-pattern.js'
import { scoreTask } from '../../src/scoring/score.js'
import { inTurn } from '../path/scan-over-parse.js'
import { bodyOf } from '../ratio/people.js'
import type { Spread } from '../shared/spread.js'

/** Cost of an attempt on a scoring thread, by length. */
interface KeysCost {
  readonly keys: number
  readonly references: number
  readonly body_bytes: number
  readonly scan_us: Spread
  /** Scan, signs, marks, and score against a cached template. */
  readonly attempt_us: Spread
}

const KEYS = [15, 30, 50, 100, 200, 500]
const REFERENCES = [5, 10]
const CALLS = 10
/** Rounds before the measurement, until the code is fully compiled. */
const WARM_UP = 50

/** Patterns of 15 to 500 keys against 5 and 10 references of the same length. */
export function measureKeys(rounds: number): KeysCost[] {
  const kernel = createKernel(readFileSync(wasmFile()), readFileSync(modelFile()))
  const replayKey = new Uint8Array(32).fill(5)
  const warm = Buffer.from(bodyOf(3, 6))
  inTurn({ warm: () => scoreTask(kernel, { body: warm, references: [], replayKey }) }, WARM_UP, CALLS)
  return REFERENCES.flatMap((n) =>
    KEYS.map((keys): KeysCost => {
      const body = Buffer.from(bodyOf(3, 6, keys))
      const samples = Array.from({ length: n }, (_, i) => {
        const read = readByContract(Buffer.from(bodyOf(3, 10 + i, keys)))
        if (!read.ok) throw new Error(read.message)
        return read.sample
      })
      kernel.score(samples[0] ?? new Uint8Array(), samples)
      const template = { bytes: kernel.templateOf(n), n }
      const us = inTurn(
        {
          scan: () => kernel.scan(body),
          attempt: () => scoreTask(kernel, { body, references: [], template, replayKey }),
        },
        Math.max(5, rounds),
        CALLS,
      )
      return { keys, references: n, body_bytes: body.length, scan_us: us.scan, attempt_us: us.attempt }
    }),
  )
}
