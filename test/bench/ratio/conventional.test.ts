import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type PatternBody, pressesOf } from '../../../bench/peers/pattern.js'
import { createUsualScoring } from '../../../bench/peers/usual-scoring.js'
import { bodyOf } from '../../../bench/ratio/people.js'
import { readTypingPattern } from '../../../src/domain/typing-pattern.js'
import { modelFile, wasmFile } from '../../../src/scoring/artifacts.js'
import { createInlineScoring } from '../../../src/scoring/inline.js'
import { encodeSample } from '../../../src/scoring/sample.js'
import type { ScoringResult } from '../../../src/scoring/scoring.js'

const usual = createUsualScoring(readFileSync(wasmFile()), readFileSync(modelFile()))
const ours = createInlineScoring({ wasmFile: wasmFile(), modelFile: modelFile() })
const replayKey = new Uint8Array(32).fill(7)

const parsed = (body: string) => JSON.parse(body) as PatternBody
function readBody(body: string) {
  const read = readTypingPattern(Buffer.from(body))
  if (!read.ok) throw new Error(read.message)
  return read
}
const sampleOf = (body: string) => {
  const { presses, pattern } = readBody(body)
  return encodeSample(presses, pattern.agent.mode)
}
const referencesOf = (person: number) => [0, 1, 2, 3, 4].map((n) => sampleOf(bodyOf(person, n, 44)))
const reading = (result: ScoringResult) => {
  if (!result.ok) throw new Error(result.message)
  return result.reading
}

describe("the conventional peer's reading of an attempt", () => {
  it('equals the service’s, except for the marks, the sketch and the exponential of the curves', async () => {
    let replays = 0
    for (let person = 0; person < 6; person++) {
      const references = referencesOf(person)
      const task = { references, replayKey, keep: true }
      // The person's own typing, another person's, and a replay of the last reference.
      const bodies = [bodyOf(person, 1000), bodyOf(person + 1, 1000), bodyOf(person, 4, 44)]
      let held: { ours: ScoringResult; usual: ScoringResult } | null = null
      for (const body of bodies) {
        const token = () => usual.present(parsed(body))
        const both = {
          ours: await ours.score({ body: Buffer.from(body), ...task }),
          usual: await usual.score({ body: token(), ...task }),
        }
        const [a, b] = [reading(both.ours), reading(both.usual)]
        // The peer keeps no sketches: it does not look for edited copies.
        const { replayMark, kept, confidence, botLikelihood, replayDistanceMs, sketch, ...rest } = a
        expect(b).toMatchObject(rest)
        expect(b.confidence).toBeCloseTo(confidence ?? -1, 12)
        expect(b.botLikelihood).toBeCloseTo(botLikelihood, 12)
        if (Number.isFinite(replayDistanceMs)) expect(b.replayDistanceMs).toBeCloseTo(replayDistanceMs, 6)
        else expect(b.replayDistanceMs).toBe(replayDistanceMs)
        expect(b.kept?.n).toBe(kept?.n)
        if (a.replayOfReference) replays += 1
        // And the next attempt, against the stored template.
        held ??= both
        const template = reading(held.usual).kept
        if (template === null) throw new Error('nothing was kept')
        const again = reading(await usual.score({ body: token(), references: [], template, replayKey }))
        expect({ ...again, kept: null }).toEqual({ ...b, kept: null })
        expect(replayMark.bands).toHaveLength(again.replayMark.bands.length)
      }
    }
    expect(replays).toBe(6)
  })

  it('finds the presses that the service finds', () => {
    for (let i = 0; i < 40; i++) {
      const body = bodyOf(i, i * 31, 15 + 3 * i)
      expect(pressesOf(parsed(body))).toEqual(readBody(body).presses)
    }
  })

  it('refuses too few presses and a clock that runs backwards', async () => {
    const whole = parsed(bodyOf(1, 1, 15))
    const few = { ...whole, kevt: whole.kevt.slice(0, 8) }
    expect(pressesOf(few)).toBeNull()
    expect(pressesOf({ ...whole, kevt: [...whole.kevt].reverse() })).toBeNull()
    const task = { body: usual.present(few), references: referencesOf(1), replayKey }
    expect(await usual.score(task)).toMatchObject({ ok: false })
  })
})
