import { describe, expect, it } from 'vitest'
import { ATTACK_MODEL_NAMES, capturedFrom, disturbance, synthesize } from '../../src/calibration/attack-models.js'
import { seededRandom } from '../../src/calibration/random.js'
import type { KeyPress } from '../../src/domain/key-press.js'
import { typedBy } from '../scoring/typists.js'

const captured = [0, 1, 2].map((session) => typedBy(3, session))
const stock = capturedFrom(captured)
const text = typedBy(3, 3)
const holdsOf = (presses: readonly KeyPress[]) => presses.map(({ pressMs, releaseMs }) => releaseMs - pressMs)
const flightsOf = (presses: readonly KeyPress[]) =>
  presses.slice(1).map(({ pressMs }, i) => pressMs - (presses[i]?.pressMs ?? 0))

describe('a forger', () => {
  it.each(ATTACK_MODEL_NAMES)(
    'types the requested keys in order, and releases a key before it presses it again: %s',
    (attackModel) => {
      const random = seededRandom(1)
      const doubled = [...text.slice(0, 20), ...text.slice(19)]
      for (let i = 0; i < 20; i++) {
        const forged = synthesize(attackModel, doubled, stock, 1, random)
        expect(forged.map(({ key }) => key)).toEqual(doubled.map(({ key }) => key))
        for (const flight of flightsOf(forged)) expect(flight).toBeGreaterThanOrEqual(5)
        for (const hold of holdsOf(forged)) expect(hold).toBeGreaterThan(0)
        forged.forEach(({ key, releaseMs }, at) => {
          const next = forged[at + 1]
          if (next?.key === key) expect(releaseMs).toBeLessThanOrEqual(next.pressMs)
        })
      }
    },
  )

  it('gives the same times for the same seed', () => {
    const once = synthesize('S6splice', text, stock, 1, seededRandom(5))
    expect(synthesize('S6splice', text, stock, 1, seededRandom(5))).toEqual(once)
  })

  it('that splices gives each captured pair the hold and the flight of one captured press', () => {
    const recorded = new Set(
      captured.flatMap((session) =>
        session.slice(1).map(({ key, pressMs, releaseMs }, i) => {
          const before = session[i]
          return [before?.key, key, pressMs - (before?.pressMs ?? 0), releaseMs - pressMs].join()
        }),
      ),
    )
    const pairs = new Set([...recorded].map((press) => press.split(',').slice(0, 2).join()))
    const forged = synthesize('S6splice', text, stock, 1, seededRandom(2))
    let glued = 0
    forged.slice(1).forEach(({ key, pressMs, releaseMs }, i) => {
      const before = forged[i]
      if (!pairs.has([before?.key, key].join()) || before?.key === key) return
      glued++
      expect(recorded).toContain([before?.key, key, pressMs - (before?.pressMs ?? 0), releaseMs - pressMs].join())
    })
    expect(glued).toBeGreaterThan(10)
  })

  it('that averages gives a captured pair the same times for any seed', () => {
    const forged = [1, 2].map((seed) => synthesize('S6pairAverage', text, stock, 1, seededRandom(seed)))
    expect(forged[0]).toEqual(forged[1])
  })

  it('that knows only a mean types with equal flights', () => {
    expect(new Set(flightsOf(synthesize('S1', text, stock, 1, seededRandom(1))))).toHaveProperty('size', 1)
  })
})

describe('a disturbance', () => {
  it('makes the same change to every session, and keeps holds and flights positive', () => {
    for (let seed = 0; seed < 50; seed++) {
      const change = disturbance(seededRandom(seed))
      const changed = change(text)
      expect(change(text)).toEqual(changed)
      for (const hold of holdsOf(changed)) expect(hold).toBeGreaterThanOrEqual(0)
      for (const flight of flightsOf(changed)) expect(flight).toBeGreaterThanOrEqual(0)
    }
  })
})
