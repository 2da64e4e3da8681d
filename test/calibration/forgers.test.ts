import { describe, expect, it } from 'vitest'
import { ATTACK_MODEL_NAMES, capturedFrom, disturbance, synthesize } from '../../src/calibration/attack-models.js'
import { normal, seededRandom } from '../../src/calibration/random.js'
import {
  CAPTURE_MODEL_NAMES,
  forgeWithMemory,
  MEMORY_MODEL_NAMES,
  meansOf,
  residualsOf,
  strangersOf,
} from '../../src/calibration/remembered-noise.js'
import type { KeyPress } from '../../src/domain/key-press.js'
import { boundsProblem } from '../../src/domain/typing-pattern.js'
import { typedBy } from '../scoring/typists.js'

const captured = [0, 1, 2, 3, 4].map((session) => typedBy(3, session))
const stock = capturedFrom(captured)
const victim = meansOf(captured)
const strangers = strangersOf(
  [1, 2, 4].map((id) => ({ id, sessions: new Map([0, 1, 2].map((nth) => [String(nth), typedBy(id, nth)])) })),
)
const text = typedBy(3, 7)
const keysOf = (presses: readonly KeyPress[]) => presses.map(({ key }) => key)
const holdsOf = (presses: readonly KeyPress[]) => presses.map(({ pressMs, releaseMs }) => releaseMs - pressMs)
const flightsOf = (presses: readonly KeyPress[]) =>
  presses.slice(1).map(({ pressMs }, i) => pressMs - (presses[i]?.pressMs ?? 0))

const averageOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
/** Sessions of standard normal residuals whose holds and intervals correlate. */
const jointResiduals = (correlation: number) => {
  const random = seededRandom(9)
  return Array.from({ length: 8 }, () =>
    Array.from({ length: 50 }, () => {
      const interval = normal(random)
      return [correlation * interval + Math.sqrt(1 - correlation ** 2) * normal(random), interval] as const
    }),
  )
}

describe('a forger', () => {
  it.each(ATTACK_MODEL_NAMES)(
    'types the requested keys in order, and releases a key before it presses it again: %s',
    (attackModel) => {
      const random = seededRandom(1)
      const doubled = [...text.slice(0, 20), ...text.slice(19)]
      for (let i = 0; i < 20; i++) {
        const forged = synthesize(attackModel, doubled, stock, { gridMs: 1, random })
        expect(keysOf(forged)).toEqual(keysOf(doubled))
        expect(Math.min(...flightsOf(forged))).toBeGreaterThanOrEqual(5)
        expect(Math.min(...holdsOf(forged))).toBeGreaterThan(0)
        const held = forged.filter(({ key, releaseMs }, at) => {
          const next = forged[at + 1]
          return next?.key === key && releaseMs > next.pressMs
        })
        expect(held).toEqual([])
      }
    },
  )

  it.each([...MEMORY_MODEL_NAMES, ...CAPTURE_MODEL_NAMES])(
    '%s types the text within the bounds of a pattern, equal for equal seeds',
    (model) => {
      const forge = (seed: number) =>
        forgeWithMemory(model, text, { victim, strangers }, { gridMs: 1, random: seededRandom(seed) })
      for (let seed = 1; seed <= 20; seed++) expect(boundsProblem(forge(seed))).toBeNull()
      expect(keysOf(forge(3))).toEqual(keysOf(text))
      expect(forge(3)).toEqual(forge(3))
      expect(forge(3)).not.toEqual(forge(4))
    },
  )

  it('that draws from a kernel density keeps the spread of the residuals and their correlation between hold and interval', () => {
    const joint = { ...victim, residuals: jointResiduals(0.8) }
    const forged = Array.from({ length: 60 }, (_, seed) =>
      forgeWithMemory(
        'S8kernelDensity',
        text,
        { victim: joint, strangers: [] },
        { gridMs: 0.001, random: seededRandom(seed) },
      ),
    )
    const residuals = forged.flatMap((one) => residualsOf(one, victim)).filter(([, interval]) => Math.abs(interval) < 4)
    const spread = Math.sqrt(averageOf(residuals.map(([hold]) => hold ** 2)))
    expect(spread).toBeGreaterThan(0.7)
    expect(spread).toBeLessThan(1.4)
    const correlation = averageOf(residuals.map(([hold, interval]) => hold * interval))
    expect(correlation).toBeGreaterThan(0.5)
  })

  it('that redraws half of a session leaves about half of its residuals', () => {
    const still = {
      ...victim,
      residuals: [Array.from({ length: 100 }, () => [0, 0] as const), jointResiduals(0).flat()],
    }
    const forged = Array.from({ length: 40 }, (_, seed) =>
      forgeWithMemory(
        'S8halfRedrawn',
        text,
        { victim: still, strangers: [] },
        { gridMs: 0.001, random: seededRandom(seed) },
      ),
    )
    const kept = forged.map((one) => {
      const all = residualsOf(one, victim)
      return all.filter(([, interval]) => Math.abs(interval) < 0.01).length / all.length
    })
    const ofStill = kept.filter((share) => share > 0.25)
    expect(ofStill.length).toBeGreaterThan(10)
    expect(averageOf(ofStill)).toBeLessThan(0.9)
  })

  it('that splices gives each captured pair the hold and the flight of one captured press', () => {
    const pressesOf = (presses: readonly KeyPress[]) =>
      flightsOf(presses).map((flight, i) => {
        const pair = `${presses[i]?.key} ${presses[i + 1]?.key}`
        return {
          pair,
          press: `${pair} ${flight} ${holdsOf(presses)[i + 1]}`,
          twice: presses[i]?.key === presses[i + 1]?.key,
        }
      })
    const recorded = captured.flatMap(pressesOf)
    const [presses, pairs] = [new Set(recorded.map(({ press }) => press)), new Set(recorded.map(({ pair }) => pair))]
    const forged = pressesOf(synthesize('S6splice', text, stock, { gridMs: 1, random: seededRandom(2) }))
    const glued = forged.filter(({ pair, twice }) => pairs.has(pair) && !twice)
    expect(glued.length).toBeGreaterThan(10)
    expect(glued.filter(({ press }) => !presses.has(press))).toEqual([])
  })

  it('that averages gives a captured pair the same times for any seed', () => {
    const forged = [1, 2].map((seed) =>
      synthesize('S6pairAverage', text, stock, { gridMs: 1, random: seededRandom(seed) }),
    )
    expect(forged[0]).toEqual(forged[1])
  })

  it('that remembers types the means of the key pair if the noise is 0', () => {
    const still = { ...victim, spread: [0, 0] as const }
    const forged = forgeWithMemory(
      'S7drift',
      text,
      { victim: still, strangers },
      { gridMs: 0.001, random: seededRandom(1) },
    )
    for (const [i, press] of forged.entries()) {
      const before = forged[i - 1]
      if (before === undefined || press.key === before.key) continue
      const [hold, interval] = victim.of(before.key, press.key)
      expect(press.pressMs - before.pressMs).toBeCloseTo(Math.exp(interval), 2)
      if (forged[i + 1]?.key !== press.key) expect(press.releaseMs - press.pressMs).toBeCloseTo(Math.exp(hold), 2)
    }
  })
})

it('a disturbance makes the same change to every session, and keeps holds and flights positive', () => {
  for (let seed = 0; seed < 50; seed++) {
    const change = disturbance(seededRandom(seed))
    const changed = change(text)
    expect(change(text)).toEqual(changed)
    expect(Math.min(...holdsOf(changed), ...flightsOf(changed))).toBeGreaterThanOrEqual(0)
  }
})
