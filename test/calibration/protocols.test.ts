import { describe, expect, it } from 'vitest'
import { errorIntervals, errorsAt } from '../../src/calibration/confidence.js'
import type { Subject, TypingSession } from '../../src/calibration/dataset.js'
import { PROTOCOLS, type ProtocolName } from '../../src/calibration/protocols.js'

/** A session whose first press names it, so that a protocol's choice can be read. */
const typed = (name: number, presses = 50): TypingSession =>
  Array.from({ length: presses }, (_, i) => ({
    key: 1 + (i % 26),
    pressMs: 1000 * name + 100 * i,
    releaseMs: 1000 * name + 100 * i + 80,
  }))
const person = (sessions: readonly (readonly [string, TypingSession])[]): Subject => ({
  id: 0,
  sessions: new Map(sessions),
})
const namesOf = (sessions: readonly TypingSession[]) => sessions.map(([first]) => (first?.pressMs ?? Number.NaN) / 1000)
/** The patterns that a protocol chooses of one person. */
function chosen(name: ProtocolName, subject: Subject) {
  const participants = PROTOCOLS[name].of([subject])
  return participants.map(({ references, probes, impostor }) => [
    namesOf(references),
    namesOf(probes),
    namesOf([impostor]),
  ])
}
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

describe('the protocols', () => {
  it.each([
    ['P1', 10, 14],
    ['P5', 10, 14],
    ['P5_late', 15, 19],
    ['P6_gradtype', 10, 14],
  ] as const)('%s enrols 0 to 4 and probes %i to %i', (name, from, to) => {
    const subject = person(range(0, 19).map((i) => [String(i), typed(i)]))
    expect(chosen(name, subject)).toEqual([[range(0, 4), range(from, to), [from]]])
  })

  it('P6_l2 cuts an essay into pieces of 50 presses', () => {
    const essay = range(0, 29).flatMap((piece) => typed(piece))
    expect(chosen('P6_l2', person([['0', essay]]))).toEqual([[range(0, 4), range(10, 24), [10]]])
  })

  it('P7 takes entries without a mistake, and probes of later dates than the references', () => {
    const entry = (date: number, i: number, presses = 19) =>
      [`2021120${date}-00000${i % 10}`, typed(i, presses)] as const
    const first = [entry(1, 0), entry(1, 1), entry(1, 2, 21), entry(1, 3), entry(1, 4)]
    const later = [entry(2, 5), entry(2, 6), ...range(7, 9).map((i) => entry(3, i))]
    expect(chosen('P7', person([...later, ...first]))).toEqual([[[0, 1, 3, 4, 5], [7, 8, 9], [7]]])
    expect(chosen('P7', person(first))).toEqual([])
  })

  it('P8 probes the same sitting, P8_later the later ones', () => {
    const repetitions = (sitting: number, from: number, to: number) =>
      range(from, to).map((i) => [`s${sitting}-r${i}`, typed(i)] as const)
    const subject = person([...repetitions(0, 0, 21), ...repetitions(2, 30, 60)])
    expect(chosen('P8', subject)).toEqual([[range(0, 4), range(5, 19), [5]]])
    expect(chosen('P8_later', subject)).toEqual([[range(0, 4), range(30, 49), [30]]])
  })
})

it('an interval of errors contains the error, and is wider for fewer people', () => {
  const people = (n: number) =>
    range(1, n).map((i) => ({ genuine: [0.9, i % 2 === 0 ? 0.9 : 0.1], impostor: [0.1, i % 4 === 0 ? 0.9 : 0.1] }))
  const [few, many] = [people(8), people(400)].map((all) => {
    const { fmr, fnmr } = errorIntervals(0.5, all, 200, 1)
    expect(errorsAt(0.5, all)).toEqual({ fmr: 0.125, fnmr: 0.25 })
    for (const [[low, high], error] of [
      [fmr, 0.125],
      [fnmr, 0.25],
    ] as const)
      expect(low <= error && error <= high).toBe(true)
    return fmr[1] - fmr[0]
  })
  expect(many).toBeLessThan(few ?? 0)
})
