import type { KeyPress } from '../../src/domain/key-press.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { patternMetadata } from '../../src/scoring/pattern-metadata.js'
import { decodeSample, encodeSample } from '../../src/scoring/sample.js'
import { BOT_LIKELIHOOD, REPLAY_DISTANCE_MS } from '../../src/scoring/score.js'
import type { ProfileTemplate, Scoring } from '../../src/scoring/scoring.js'
import { type PatternBody, pressesOf } from './pattern.js'
import { nearestReplay, timesOf } from './scoring/near-replay.js'
import { createMarker } from './scoring/replay-mark.js'
import { createScorer } from './scoring/scorer.js'
import type { Template } from './scoring/template.js'

/** Scoring of parsed bodies. */
interface UsualScoring extends Scoring {
  /** Returns the token that represents a body in the flow. */
  present(body: PatternBody): Uint8Array
}

/** References after parsing. */
interface Held {
  readonly template: Template
  readonly times: readonly Float64Array[]
}

/**
 * The complete result of the service's scoring, in JavaScript. The kernel makes a person's template once, on the person's first
 * attempt. Without adaptive references.
 */
export function createUsualScoring(wasm: Uint8Array, model: Uint8Array): UsualScoring {
  const kernel = createKernel(wasm, model)
  const scorer = createScorer(model)
  const mark = createMarker()
  const bodies = new WeakMap<Uint8Array, PatternBody>()
  const held = new WeakMap<ProfileTemplate, Held>()

  function read(samples: readonly Uint8Array[]): { kept: ProfileTemplate; references: Held } | null {
    const [first] = samples
    if (first === undefined) return null
    kernel.score(first, samples)
    const kept = { bytes: kernel.keep(samples.length), n: samples.length }
    const times = samples.map((sample) => timesOf(decodeSample(sample)?.presses ?? []))
    const references = { template: scorer.readTemplate(kept.bytes), times }
    held.set(kept, references)
    return { kept, references }
  }

  function judge(presses: readonly KeyPress[], references: Held | undefined) {
    if (references === undefined) throw new Error('the peer scores nobody without references')
    const replayDistanceMs = nearestReplay(timesOf(presses), references.times)
    return { ...scorer.score(presses, references.template), replayDistanceMs }
  }

  return {
    present(body) {
      const token = new Uint8Array()
      bodies.set(token, body)
      return token
    },
    async score({ body: token, references, template, replayKey, keep }) {
      const body = bodies.get(token)
      const presses = body === undefined ? null : pressesOf(body)
      if (body === undefined || presses === null)
        return { ok: false, message: 'too few presses, too many, or no order' }
      const made = template === undefined ? read(references) : null
      const found = judge(presses, template === undefined ? made?.references : held.get(template))
      const replayOfReference = found.replayDistanceMs < REPLAY_DISTANCE_MS
      const { mode } = body.agent
      return {
        ok: true,
        reading: {
          sample: encodeSample(presses, mode),
          nKeydowns: presses.length,
          mode,
          ip: body.ip ?? null,
          memberRef: body.member_ref ?? null,
          metadata: patternMetadata(body),
          replayMark: mark(presses, replayKey),
          botLikelihood: found.botLikelihood,
          bot: found.botLikelihood > BOT_LIKELIHOOD && !replayOfReference,
          replayOfReference,
          copy: null,
          sketch: new Uint8Array(1),
          replayDistanceMs: found.replayDistanceMs,
          confidence: found.confidence,
          confidenceAdapted: null,
          nReferencesUsed: template?.n ?? references.length,
          kept: keep === true ? (made?.kept ?? null) : null,
          warnings: null,
        },
      }
    },
    memoryBytes: () => kernel.memoryBytes(),
    close: async () => {},
  }
}
