import { describe, expect, it } from 'vitest'
import type { TypingSession } from '../../src/calibration/dataset.js'
import { seededRandom } from '../../src/calibration/random.js'
import { otherDay, otherWay } from '../../src/calibration/ways-of-typing.js'
import { typedBy } from '../scoring/typists.js'

const sessions: readonly TypingSession[] = [0, 1, 2, 3, 4].map((session) => typedBy(1, session, 50))
const SEEDS = Array.from({ length: 100 }, (_, seed) => seed)
const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const spreadOf = (values: readonly number[]) => Math.sqrt(meanOf(values.map((value) => (value - meanOf(values)) ** 2)))
/** Mean logarithms of the holds and of the intervals. */
const logHold = (session: TypingSession) =>
  meanOf(session.map(({ pressMs, releaseMs }) => Math.log(releaseMs - pressMs)))
const logTempo = (session: TypingSession) => Math.log(session.at(-1)?.pressMs ?? 0)

describe.each([
  ['another day', otherDay],
  ['another way', otherWay],
])('%s', (_, of) => {
  it('keeps the number and the order of presses; equal seeds give equal sessions, and one change all sessions', () => {
    for (const seed of SEEDS) {
      const change = of(seededRandom(seed))
      for (const session of sessions) {
        const changed = change(session)
        expect([changed.length, changed[0]?.pressMs]).toEqual([session.length, 0])
        const flights = changed.slice(1).map(({ pressMs }, i) => pressMs - (changed[i]?.pressMs ?? 0))
        expect(Math.min(...flights)).toBeGreaterThanOrEqual(0)
        expect(Math.min(...changed.map(({ pressMs, releaseMs }) => releaseMs - pressMs))).toBeGreaterThanOrEqual(1)
        expect(of(seededRandom(seed))(session)).toEqual(changed)
        expect(change(session)).toEqual(changed)
      }
    }
  })
})

it('another day keeps the keys, and moves holds by 0.2 and the tempo by 0.06 in the logarithm', () => {
  const [session = []] = sessions
  const days = SEEDS.map((seed) => otherDay(seededRandom(seed))(session))
  for (const day of days) expect(day.map(({ key }) => key)).toEqual(session.map(({ key }) => key))
  expect(spreadOf(days.map(logHold))).toBeGreaterThan(0.15)
  expect(spreadOf(days.map(logHold))).toBeLessThan(0.25)
  expect(spreadOf(days.map(logTempo))).toBeGreaterThan(0.04)
  expect(spreadOf(days.map(logTempo))).toBeLessThan(0.09)
})
