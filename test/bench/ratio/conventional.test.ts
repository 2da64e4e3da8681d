import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { PatternBody } from '../../../bench/peers/pattern.js'
import { nearestReplay, timesOf } from '../../../bench/peers/scoring/near-replay.js'
import { BANDS_SHARED, createMarker } from '../../../bench/peers/scoring/replay-mark.js'
import { createUsualScoring } from '../../../bench/peers/usual-scoring.js'
import { bodyOf } from '../../../bench/ratio/people.js'
import { REPLAY_BANDS } from '../../../src/domain/replay.js'
import { readTypingPattern } from '../../../src/domain/typing-pattern.js'
import { modelFile, wasmFile } from '../../../src/scoring/artifacts.js'
import { createInlineScoring } from '../../../src/scoring/inline.js'
import { encodeSample } from '../../../src/scoring/sample.js'
import type { ScoringResult } from '../../../src/scoring/scoring.js'

const usual = createUsualScoring(readFileSync(wasmFile()), readFileSync(modelFile()))
const ours = createInlineScoring({ wasmFile: wasmFile(), modelFile: modelFile() })
const replayKey = new Uint8Array(32).fill(7)

function pressesOf(body: string) {
  const read = readTypingPattern(Buffer.from(body))
  if (!read.ok) throw new Error(read.message)
  return read
}
const sampleOf = (body: string) => {
  const { presses, pattern } = pressesOf(body)
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
    for (let person = 0; person < 12; person++) {
      const references = referencesOf(person)
      const task = { references, replayKey, keep: true }
      // The person's own typing, another person's, and a replay of the last reference.
      const bodies = [bodyOf(person, 1000), bodyOf(person + 1, 1000), bodyOf(person, 4, 44)]
      let held: { ours: ScoringResult; usual: ScoringResult } | null = null
      for (const body of bodies) {
        const token = () => usual.present(JSON.parse(body) as PatternBody)
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
    expect(replays).toBe(12)
  })

  it('refuses too few presses, and scores nobody without references', async () => {
    const few = JSON.parse(bodyOf(1, 1, 15)) as PatternBody
    expect(
      await usual.score({
        body: usual.present({ ...few, kevt: few.kevt.slice(0, 8) }),
        references: referencesOf(1),
        replayKey,
      }),
    ).toMatchObject({ ok: false })
    await expect(usual.score({ body: usual.present(few), references: [], replayKey })).rejects.toThrow(/references/)
  })
})

describe("the conventional peer's replay marks", () => {
  const mark = createMarker()
  const shared = (a: readonly bigint[], b: readonly bigint[]) => a.filter((band) => b.includes(band)).length

  it('recognize a pattern shifted, slightly scaled or jittered, and no other one', () => {
    let jittered = 0
    for (let person = 0; person < 40; person++) {
      const { presses } = pressesOf(bodyOf(person, 1000))
      const moved = (by: (ms: number, i: number) => number) =>
        mark(
          presses.map((press, i) => ({
            ...press,
            pressMs: by(press.pressMs, 2 * i),
            releaseMs: by(press.releaseMs, 2 * i + 1),
          })),
          replayKey,
        )
      const own = mark(presses, replayKey)
      expect(own.bands).toHaveLength(REPLAY_BANDS)
      expect(moved((ms) => ms + 100).exact).toEqual(own.exact)
      expect(shared(moved((ms) => 1.001 * ms).bands, own.bands)).toBeGreaterThanOrEqual(BANDS_SHARED)
      const shaken = moved((ms, i) => (i === 0 ? ms : ms + (i % 2 === 0 ? 1 : -1)))
      if (shared(shaken.bands, own.bands) >= BANDS_SHARED) jittered += 1
      const other = mark(pressesOf(bodyOf(person, 1001)).presses, replayKey)
      expect(other.exact).not.toEqual(own.exact)
      expect(shared(other.bands, own.bands)).toBeLessThan(BANDS_SHARED)
      expect(shared(mark(presses, new Uint8Array(32)).bands, own.bands)).toBe(0)
    }
    expect(jittered).toBeGreaterThanOrEqual(38)
  })

  it('align two patterns for any shift or scale', () => {
    const { presses } = pressesOf(bodyOf(3, 1000))
    const times = timesOf(presses)
    expect(nearestReplay(times, [times.map((ms) => 1.4 * ms + 12)])).toBeLessThan(1e-9)
    expect(nearestReplay(times, [times.map((ms) => 6 * ms)])).toBe(Number.POSITIVE_INFINITY)
    expect(nearestReplay(times, [])).toBe(Number.POSITIVE_INFINITY)
    expect(nearestReplay(times, [timesOf(pressesOf(bodyOf(4, 1000)).presses)])).toBeGreaterThan(8)
  })
})
