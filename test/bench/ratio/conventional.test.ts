import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type PatternBody, pressesOf } from '../../../bench/peers/pattern.js'
import { createUsualScoring } from '../../../bench/peers/usual-scoring.js'
import { bodyOf } from '../../../bench/ratio/people.js'
import { readTypingPattern } from '../../../src/domain/typing-pattern.js'
import { modelFile, wasmFile } from '../../../src/scoring/artifacts.js'
import { createInlineScoring } from '../../../src/scoring/inline.js'
import { encodeSample } from '../../../src/scoring/sample.js'
import type { ScoringResult, ScoringTask } from '../../../src/scoring/scoring.js'

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
  it('equals the service’s', async () => {
    const scoredByBoth = async (body: string, task: Omit<ScoringTask, 'body'>) => {
      const a = reading(await ours.score({ body: Buffer.from(body), ...task }))
      const b = reading(await usual.score({ body: usual.present(parsed(body)), ...task }))
      expect(b).toEqual(a)
      return b
    }
    let replays = 0
    for (let person = 0; person < 6; person++) {
      // The person's own typing, another person's, and a replay of the last reference; then with the stored template.
      for (const body of [bodyOf(person, 1000), bodyOf(person + 1, 1000), bodyOf(person, 4, 44)]) {
        const { newTemplate, replayOfReference } = await scoredByBoth(body, {
          references: referencesOf(person),
          replayKey,
          returnTemplate: true,
        })
        if (replayOfReference) replays += 1
        if (newTemplate === null) throw new Error('there is no template')
        await scoredByBoth(body, { references: [], template: newTemplate, replayKey })
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
