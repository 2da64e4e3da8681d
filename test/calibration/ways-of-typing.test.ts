import { describe, expect, it } from 'vitest'
import type { Session } from '../../src/calibration/dataset.js'
import { seededRandom } from '../../src/calibration/random.js'
import { type Change, otherDay, otherWay } from '../../src/calibration/ways-of-typing.js'
import { typedBy } from '../scoring/typists.js'

const sessions: readonly Session[] = [0, 1, 2, 3, 4].map((session) => typedBy(1, session, 50))
const changes = (of: typeof otherDay) => Array.from({ length: 400 }, (_, seed) => of(seededRandom(seed)))
const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const spreadOf = (values: readonly number[]) => Math.sqrt(meanOf(values.map((value) => (value - meanOf(values)) ** 2)))
/** Mean logarithms of the holds and of the intervals. */
const logHold = (session: Session) => meanOf(session.map(({ pressMs, releaseMs }) => Math.log(releaseMs - pressMs)))
const logTempo = (session: Session) => Math.log(session.at(-1)?.pressMs ?? 0)

describe.each([
  ['another day', otherDay],
  ['another way', otherWay],
])('%s', (_, of) => {
  it('keeps the number of presses, their order and a length of at least a millisecond; equal seeds give equal sessions', () => {
    for (const [seed, change] of changes(of).entries())
      for (const session of sessions) {
        const changed = change(session)
        expect(changed).toHaveLength(session.length)
        expect(changed[0]?.pressMs).toBe(0)
        for (const [i, { pressMs, releaseMs }] of changed.entries()) {
          expect(pressMs).toBeGreaterThanOrEqual(changed[i - 1]?.pressMs ?? 0)
          expect(releaseMs - pressMs).toBeGreaterThanOrEqual(1)
        }
        expect(of(seededRandom(seed))(session)).toEqual(changed)
      }
  })

  it('is the same for each session that it changes', () => {
    const [session = []] = sessions
    for (const change of changes(of)) expect(change(session)).toEqual(change(session))
  })
})

describe('another day', () => {
  const drifts = (what: (session: Session) => number): number[] => {
    const [session = []] = sessions
    return changes(otherDay).map((change: Change) => what(change(session)) - what(session))
  }

  it('keeps the keys, and moves holds by 0.2 and the tempo by 0.06 in the logarithm', () => {
    const [session = []] = sessions
    for (const change of changes(otherDay))
      expect(change(session).map(({ key }) => key)).toEqual(session.map(({ key }) => key))
    expect(spreadOf(drifts(logHold))).toBeGreaterThan(0.17)
    expect(spreadOf(drifts(logHold))).toBeLessThan(0.25)
    expect(spreadOf(drifts(logTempo))).toBeGreaterThan(0.04)
    expect(spreadOf(drifts(logTempo))).toBeLessThan(0.09)
  })
})
