import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createScorer } from '../../../bench/peers/scoring/scorer.js'
import { exp32, log32 } from '../../../bench/peers/scoring/single.js'
import { ATTACK_MODEL_NAMES, type Captured, capturedFrom, synthesize } from '../../../src/calibration/attack-models.js'
import { seededRandom } from '../../../src/calibration/random.js'
import type { KeyPress } from '../../../src/domain/key-press.js'
import { keyOf } from '../../../src/domain/key-table.js'
import { suggestWords } from '../../../src/domain/typing-words.js'
import { modelFile, wasmFile } from '../../../src/scoring/artifacts.js'
import { createKernel } from '../../../src/scoring/kernel.js'
import { encodeSample } from '../../../src/scoring/sample.js'
import { person } from '../../../src/typist/made-up-person.js'
import { typedBy } from '../../scoring/typists.js'

const model = new Uint8Array(readFileSync(modelFile()))
const kernel = createKernel(readFileSync(wasmFile()), model)
const scorer = createScorer(model)

type Presses = readonly KeyPress[]

const PEOPLE = 48
const REFERENCES = [5, 10, 5, 10, 5, 10, 1, 2, 16]
/** Presses after the 128th are not compared; 15 are the fewest of a pattern. */
const LENGTHS = [31, 44, 15, 62, 127, 200, 33, 128, 20, 129]
const ATTEMPTS_A_PERSON = 20

/** Whole ms with repeated sentences, or tenths of a ms with new words: both kinds of timers and habits. */
function typing(who: number, session: number, presses: number): Presses {
  if (who % 2 === 0 && presses <= 62) return typedBy(who, session, presses)
  let text = ''
  for (let seed = session; text.length < presses; seed += 7919)
    text += `${text === '' ? '' : ' '}${suggestWords('en', seed).join(' ')}`
  return person(who)
    .keys(text.slice(0, presses).replace(/ $/, 'e'), session)
    .map(([letter, pressMs, releaseMs]) => ({
      key: letter === ' ' ? 37 : keyOf({ c: `Key${letter.toUpperCase()}` }),
      pressMs,
      releaseMs,
    }))
}

/** Random keys of the whole table at random times within bounds: Shift, Backspace, overlapping keys, pauses. */
function anyPresses(n: number, random: () => number): Presses {
  let now = 0
  return Array.from({ length: n }, () => {
    now += random() * 900
    return { key: Math.floor(random() * 128), pressMs: now, releaseMs: now + 0.5 + random() * 2000 }
  })
}

/** A replay of a pattern: unchanged, jittered, or faster. */
function again(presses: Presses, how: number, random: () => number): Presses {
  const jitter = how % 3 === 1 ? () => 4 * random() - 2 : () => 0
  const scale = how % 3 === 2 ? 0.97 : 1
  return presses.map(({ key, pressMs, releaseMs }, i) => ({
    key,
    pressMs: i === 0 ? 0 : scale * pressMs + jitter(),
    releaseMs: scale * releaseMs + jitter(),
  }))
}

/** An attempt against a person's references: own typing, a stranger's, a replay, one of every attack model, or noise. */
function probeOf(
  who: number,
  n: number,
  references: readonly Presses[],
  stocks: readonly Captured[],
  random: () => number,
): Presses {
  const length = LENGTHS[(who + n) % LENGTHS.length] ?? 31
  if (n < 6) return typing(who, 100 + n, length)
  if (n < 10) return typing(who + 2 * n, 100 + n, length)
  if (n < 13) return again(references[n % references.length] ?? [], n, random)
  if (n === 19) return anyPresses(length, random)
  const attackModel = ATTACK_MODEL_NAMES[(who * 6 + n) % ATTACK_MODEL_NAMES.length] ?? 'S1'
  const stock = stocks[n % stocks.length] ?? capturedFrom(references)
  return synthesize(attackModel, typing(who, 200 + n, length), stock, n % 3 === 0 ? 0.1 : 1, random)
}

const masked = (presses: Presses): Presses => presses.map((press) => ({ ...press, key: 0 }))

/** Every attempt scored by both; a third of the people type in password fields. */
function* scoredTwice(of = scorer, people = PEOPLE) {
  for (let who = 0; who < people; who++) {
    const random = seededRandom(who + 1)
    const mode = who % 3 === 2 ? 'sensitive' : 'visible'
    const asTyped = mode === 'sensitive' ? masked : (presses: Presses) => presses
    const length = LENGTHS[(7 * who) % LENGTHS.length] ?? 44
    const references = Array.from({ length: REFERENCES[who % REFERENCES.length] ?? 5 }, (_, n) =>
      typing(who, n, Math.min(length, who % 4 === 0 ? 44 : 200)),
    )
    const samples = references.map((presses) => encodeSample(asTyped(presses), mode))
    kernel.score(samples[0] ?? new Uint8Array(), samples)
    const kept = kernel.keep(samples.length)
    const template = of.readTemplate(kept)
    const stocks = [capturedFrom(references), capturedFrom([typing(who + 1, 7, 62)])]
    for (let n = 0; n < ATTEMPTS_A_PERSON; n++) {
      const presses = asTyped(probeOf(who, n, references, stocks, random))
      const byKernel = kernel.scoreKept(encodeSample(presses, mode), kept)
      yield { what: `person ${who}, attempt ${n}`, byKernel, byScript: of.score(presses, template) }
    }
  }
}

describe("the conventional peer's scoring", () => {
  it('equals the kernel’s for every attempt, to the last bit before calibration', () => {
    const both = [...scoredTwice()]
    const apart = both.filter(
      ({ byKernel, byScript }) => byKernel.fused !== byScript.fused || byKernel.liveness !== byScript.liveness,
    )
    expect(apart).toEqual([])
    // The remaining difference is the exponential of the curves, which the engine and the kernel round differently.
    const largest = (difference: (each: (typeof both)[number]) => number) => Math.max(...both.map(difference))
    const confidence = largest(({ byKernel, byScript }) => Math.abs((byKernel.confidence ?? -1) - byScript.confidence))
    const bot = largest(({ byKernel, byScript }) => Math.abs(byKernel.botLikelihood - byScript.botLikelihood))
    expect(confidence).toBeLessThan(1e-15)
    expect(bot).toBeLessThan(1e-15)
    // The attempts are significant: every outcome occurs many times.
    const count = (holds: (each: (typeof both)[number]) => boolean) => both.filter(holds).length
    expect(both.length).toBe(960)
    expect(count(({ byScript }) => byScript.confidence > 0.5)).toBeGreaterThan(80)
    expect(count(({ byScript }) => byScript.confidence < 0.5)).toBeGreaterThan(80)
    expect(count(({ byScript }) => byScript.botLikelihood > 0.5)).toBeGreaterThan(80)
    expect(count(({ byScript }) => byScript.botLikelihood < 0.5)).toBeGreaterThan(80)
    expect(count(({ byScript }) => byScript.botLikelihood === 1)).toBeGreaterThan(8)
  })

  it('changes if one mean of the population changes by a hundredth', () => {
    // The first of the means follows the header and both tables of contexts (assembly/model.ts).
    const at = 64 + 2 * 128 + 2 * 128 * 128
    const changed = model.slice()
    const view = new DataView(changed.buffer)
    view.setFloat32(at, view.getFloat32(at, true) + 0.01, true)
    const apart = [...scoredTwice(createScorer(changed), 3)].filter(
      ({ byKernel, byScript }) => byKernel.fused !== byScript.fused,
    )
    expect(apart.length).toBeGreaterThan(10)
  })

  it('takes logarithms and exponentials of times to single precision', () => {
    for (let ms = 5; ms <= 3000; ms += 0.7) {
      const float = Math.fround(ms)
      expect(Math.abs(log32(float) / Math.log(float) - 1)).toBeLessThan(2 ** -23)
      expect(Math.abs(exp32(log32(float)) / Math.exp(log32(float)) - 1)).toBeLessThan(2 ** -23)
    }
  })
})
