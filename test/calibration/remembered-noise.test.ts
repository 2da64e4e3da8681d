import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/calibration/random.js'
import { forgeWithMemory, MEMORY_MODEL_NAMES, meansOf, strangersOf } from '../../src/calibration/remembered-noise.js'
import { boundsProblem } from '../../src/domain/typing-pattern.js'
import { typedBy } from '../scoring/typists.js'

const references = [0, 1, 2, 3, 4].map((session) => typedBy(1, session))
const victim = meansOf(references)
const strangers = strangersOf(
  [2, 3, 4].map((id) => ({
    id,
    sessions: new Map([0, 1, 2].map((session) => [String(session), typedBy(id, session)])),
  })),
)
const text = typedBy(1, 6)

describe('forgers whose noise has a memory', () => {
  it.each(MEMORY_MODEL_NAMES)('%s types the text within the bounds of a pattern, equal for equal seeds', (model) => {
    const forge = (seed: number) => forgeWithMemory(model, text, victim, strangers, 1, seededRandom(seed))
    for (let seed = 1; seed <= 20; seed++) expect(boundsProblem(forge(seed))).toBeNull()
    expect(forge(3).map(({ key }) => key)).toEqual(text.map(({ key }) => key))
    expect(forge(3)).toEqual(forge(3))
    expect(forge(3)).not.toEqual(forge(4))
  })

  it('types the means of the key pair if the noise is 0', () => {
    const still = { ...victim, spread: [0, 0] as const }
    const forged = forgeWithMemory('S7drift', text, still, strangers, 0.001, seededRandom(1))
    for (let i = 1; i < text.length; i++) {
      const [press, before] = [forged[i], forged[i - 1]]
      if (press === undefined || before === undefined || press.key === before.key) continue
      const [hold, interval] = victim.of(before.key, press.key)
      expect(press.pressMs - before.pressMs).toBeCloseTo(Math.exp(interval), 2)
      if (forged[i + 1]?.key !== press.key) expect(press.releaseMs - press.pressMs).toBeCloseTo(Math.exp(hold), 2)
    }
  })

  it('shrinks the means of rare pairs towards those of the key', () => {
    const pairs = text.flatMap(({ key }, i) => (i > 0 ? [[text[i - 1]?.key, key] as const] : []))
    const key = pairs.map(([, second]) => victim.of(undefined, second)[1])
    const own = pairs.map(([first, second]) => victim.of(first, second)[1])
    const shrunk = pairs.map(([first, second]) => victim.of(first, second, true)[1])
    const distance = (from: readonly number[]) => from.reduce((sum, at, i) => sum + Math.abs(at - (key[i] ?? 0)), 0)
    expect(distance(own)).toBeGreaterThan(0)
    expect(distance(shrunk)).toBeLessThan(0.9 * distance(own))
  })
})
