import { createKernel, type Kernel } from '../../src/scoring/kernel.js'
import { patternMetadata } from '../../src/scoring/pattern-metadata.js'
import { type PatternRead, pressTimes } from '../../src/scoring/read-pattern.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { scoreTask } from '../../src/scoring/score.js'
import { scoringId } from '../../src/scoring/scorer.js'
import type { Scoring } from '../../src/scoring/scoring.js'
import { type PatternBody, pressesOf } from './pattern.js'

/** Scoring of parsed bodies. */
interface UsualScoring extends Scoring {
  /** Returns the token that represents a body in the flow. */
  present(body: PatternBody): Uint8Array
}

/** The service's scoring on the caller's thread, by the shipped kernel, of bodies that fastify has parsed and validated. */
export function createUsualScoring(wasm: Uint8Array, model: Uint8Array): UsualScoring {
  const bodies = new WeakMap<Uint8Array, PatternBody>()
  const scan: Kernel['scan'] = (token) => {
    const body = bodies.get(token)
    return body === undefined ? null : readPattern(body)
  }
  const kernel: Kernel = { ...createKernel(wasm, model), scan }
  return {
    present(body) {
      const token = new Uint8Array()
      bodies.set(token, body)
      return token
    },
    id: scoringId(wasm, model),
    score: async (task) => scoreTask(kernel, task),
    memoryBytes: kernel.memoryBytes,
    close: async () => {},
  }
}

/** Null if there are too few or too many presses, or times decrease. */
function readPattern(body: PatternBody): PatternRead | null {
  const presses = pressesOf(body)
  if (presses === null) return null
  const { mode } = body.agent
  return {
    ok: true,
    sample: encodeSample(presses, mode),
    nKeydowns: presses.length,
    mode,
    ip: body.ip ?? null,
    memberRef: body.member_ref ?? null,
    metadata: patternMetadata(body),
    times: pressTimes(presses),
    warnings: null,
  }
}
