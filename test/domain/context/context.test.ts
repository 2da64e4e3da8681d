import { describe, expect, it } from 'vitest'
import type { Circumstances, Device, Habits, Place } from '../../../src/domain/context/circumstances.js'
import { contextConfidence, habitsAfter, judgeContext } from '../../../src/domain/context/context.js'
import { CONTEXT_INDICATORS, type ContextIndicator } from '../../../src/domain/context/signal.js'

const HOUR = 3_600_000
/** Monday 2026-06-15, 9:00 UTC: hour 9 of the week. */
const MONDAY_9 = Date.UTC(2026, 5, 15, 9)
const LAPTOP: Device = {
  ...{ browser: 'Firefox', os: 'Linux', kind: 'desktop', screen: '1920x1080@1', time_zone: 'Europe/Paris' },
  ...{ language: 'fr', gpu: 'Mesa', fonts: 'aaaa (3)', cpu_threads: '8' },
}
const deviceOf = (text: string) =>
  Object.fromEntries(Object.keys(LAPTOP).map((key) => [key, text])) as unknown as Device
/** The outcome of a signal that was seen `n` times. */
const seen = (n: number) => 1 - 0.25 ** n
const PARIS: Place = { latitude: 48.8566, longitude: 2.3522, accuracyKm: 20, country: 'FR', city: 'Paris' }
const SYDNEY: Place = { latitude: -33.8688, longitude: 151.2093, accuracyKm: 50, country: 'AU', city: 'Sydney' }
const usual: Circumstances = {
  at: MONDAY_9,
  ip: '203.0.113.7',
  network: { asn: 64500, organization: 'Example' },
  anonymizer: false,
  place: PARIS,
  device: LAPTOP,
}

/** Habits after a number of equal sign-ins, a week apart. */
function habitsOf(times: number, circumstances: Circumstances = usual): Habits {
  let habits: Habits = {}
  for (let week = times; week > 0; week--)
    habits = habitsAfter(habits, { ...circumstances, at: circumstances.at - week * 168 * HOUR })
  return habits
}
const judge = (
  circumstances: Partial<Circumstances>,
  habits = habitsOf(3),
  rules = {},
  enabled = [...CONTEXT_INDICATORS],
) => judgeContext({ ...usual, ...circumstances }, habits, rules, enabled)
const scores = (circumstances: Partial<Circumstances>, habits?: Habits) =>
  Object.fromEntries(judge(circumstances, habits).indicators.map(({ indicator, score }) => [indicator, score]))
const signal = (name: string, indicator: ContextIndicator, circumstances: Partial<Circumstances>, habits?: Habits) =>
  judge(circumstances, habits)
    .indicators.find((one) => one.indicator === indicator)
    ?.signals.find((one) => one.signal === name)

describe('the context', () => {
  it('has no score before three successes, and null is not 0', () => {
    const { confidence, indicators } = judge({}, habitsOf(2))
    expect(confidence).toBeNull()
    expect(scores({}, habitsOf(2))).toMatchObject({ network: null, location: null, device: null, time: null })
    expect(indicators.map(({ indicator }) => indicator)).toEqual(CONTEXT_INDICATORS)
  })

  it('has the familiarity of three successes after three equal ones: 1 - 1/64', () => {
    const found = scores({})
    for (const indicator of ['network', 'device', 'time']) expect(found[indicator]).toBeCloseTo(seen(3), 10)
    // country (weight 3) and city (1) by familiarity, nearest (2) is 1: (4 x 0.984375 + 2) / 6
    expect(found.location).toBeCloseTo((4 * seen(3) + 2) / 6, 10)
    expect(judge({}).confidence).toBeGreaterThan(0.98)
  })

  it('scores 0 for network, location, device and time if all are new', () => {
    const network = { asn: 64501, organization: null }
    const elsewhere = { ip: '198.51.100.1', network, place: SYDNEY, device: deviceOf('other') }
    const found = scores({ at: MONDAY_9 + 12 * HOUR, ...elsewhere })
    expect(found).toMatchObject({ network: 0, location: 0, device: 0, time: 0 })
  })

  it('leaves out unknown signals', () => {
    const found = judge({ ip: null, network: null, anonymizer: null, place: null, device: null })
    expect(found.indicators.map(({ score }) => score)).toEqual([null, null, null, null, expect.closeTo(seen(3))])
    expect(found.confidence).toBeCloseTo(seen(3), 10)
  })

  it('is the weighted mean of the indicators with a score', () => {
    const scored = [
      { weight: 3, score: 1 },
      { weight: 1, score: 0 },
      { weight: 5, score: null },
    ]
    expect(contextConfidence(scored)).toBe(0.75)
    expect(contextConfidence([{ weight: 0, score: 1 }])).toBeNull()
  })

  it('has the weights of the policy', () => {
    const rules = { device: { weight: 0 }, time: { weight: 10 }, network: { signals: { address: 0, prefix: 0 } } }
    const { indicators } = judge({ ip: '198.51.100.1' }, habitsOf(3), rules)
    expect(indicators.map(({ weight }) => weight)).toEqual([2, 2, 1, 0, 10])
    // Only the operator of the network (asn) has weight.
    expect(indicators[0]?.score).toBeCloseTo(seen(3), 10)
  })

  it('ignores an indicator that is not enabled platform-wide, regardless of the policy', () => {
    const far = { at: MONDAY_9 + HOUR, place: SYDNEY }
    const { indicators, confidence, impossibleTravel } = judge(far, habitsAfter(habitsOf(3), usual), {}, ['device'])
    expect(indicators.filter(({ weight }) => weight > 0).map(({ indicator }) => indicator)).toEqual(['device'])
    expect(indicators.filter(({ score }) => score !== null).map(({ indicator }) => indicator)).toEqual(['device'])
    expect(confidence).toBeCloseTo(seen(4), 10)
    expect(impossibleTravel).toBe(false)
  })
})

describe('network', () => {
  it('gives a new address of a known operator a partial score', () => {
    // address (weight 1) and prefix (2) unseen, asn (3) seen three times: 3 x 0.984375 / 6
    expect(scores({ ip: '198.51.100.1' }).network).toBeCloseTo((3 * seen(3)) / 6, 10)
  })

  it('counts an anonymizer against a person who never used one, and gives other addresses no outcome', () => {
    expect(signal('anonymizer', 'network', {})).toMatchObject({ value: false, computedOutcome: null })
    expect(signal('anonymizer', 'network', { anonymizer: true })).toMatchObject({ value: true, computedOutcome: 0 })
    const always = habitsOf(3, { ...usual, anonymizer: true })
    expect(signal('anonymizer', 'network', { anonymizer: true }, always)?.computedOutcome).toBeCloseTo(seen(3))
  })
})

describe('location', () => {
  it('subtracts the accuracy of both places from the distance', () => {
    // Brussels is 264 km from Paris; less 20 km of accuracy for each place: 224 km, (1000 - 224) / 950
    const brussels = { latitude: 50.8503, longitude: 4.3517, accuracyKm: 20, country: 'BE', city: 'Brussels' }
    expect(signal('nearest', 'location', { place: brussels })?.value).toBe(224)
    expect(signal('nearest', 'location', { place: brussels })?.computedOutcome).toBeCloseTo((1000 - 224) / 950, 2)
    expect(signal('nearest', 'location', { place: { ...brussels, accuracyKm: 300 } })?.computedOutcome).toBe(1)
  })
})

describe('impossible travel', () => {
  const after = (hours: number, place: Place) => ({ at: MONDAY_9 + hours * HOUR, place })
  const last = habitsAfter({}, usual)

  it('is Paris to Sydney in an hour, not in a day', () => {
    // 16,960 km less 70 km of accuracy
    expect(judge(after(1, SYDNEY), last)).toMatchObject({ impossibleTravel: true })
    expect(scores(after(1, SYDNEY), last)['impossible-travel']).toBe(0)
    expect(judge(after(24, SYDNEY), last).impossibleTravel).toBe(false)
    // 16,890 km in 24 h are 704 km/h: (1000 - 704) / 500
    expect(scores(after(24, SYDNEY), last)['impossible-travel']).toBeCloseTo((1000 - 16_890 / 24) / 500, 1)
  })

  it('is never within the accuracy of the database', () => {
    const vague = { ...SYDNEY, accuracyKm: 17_000 }
    expect(judge(after(0, vague), last).impossibleTravel).toBe(false)
    expect(judge(after(0, { ...PARIS, latitude: 49.9 }), last).impossibleTravel).toBe(false)
  })

  it('is judged from the first success on, has measurements without outcomes, and is no evidence alone', () => {
    const found = judge(after(1, PARIS), last)
    expect(found.confidence).toBeNull()
    const travel = found.indicators.find(({ indicator }) => indicator === 'impossible-travel')
    expect(travel?.score).toBe(1)
    expect(travel?.signals.map((one) => [one.signal, one.value, one.computedOutcome])).toEqual([
      ['distance', 0, null],
      ['time', 3600, null],
      ['speed', 0, null],
    ])
  })

  it('has no score if the clock was set back by more than 5 minutes since the last success', () => {
    const LONDON: Place = { ...PARIS, latitude: 51.5074, longitude: -0.1278, country: 'GB', city: 'London' }
    for (const hours of [-24, -1 / 12 - 1 / 3600]) {
      const at = after(hours, LONDON)
      expect(judge(at, last).impossibleTravel).toBe(false)
      expect(scores(at, last)['impossible-travel']).toBeNull()
      const values = ['distance', 'time', 'speed'].map((name) => signal(name, 'impossible-travel', at, last)?.value)
      expect(values).toEqual([304, null, null])
    }
    for (const hours of [-1 / 12, -1 / 3600]) {
      expect(judge(after(hours, LONDON), last).impossibleTravel).toBe(true)
      expect(scores(after(hours, LONDON), last)['impossible-travel']).toBe(0)
    }
  })

  it('has no score without an earlier place', () => {
    expect(scores(after(1, SYDNEY), {})['impossible-travel']).toBeNull()
    expect(scores({ place: null }, last)['impossible-travel']).toBeNull()
  })
})

describe('device', () => {
  it('weighs the known signals of a device', () => {
    // browser (weight 2) and screen (1) differ, of a total weight of 16.
    expect(scores({ device: { ...LAPTOP, browser: 'Chrome', screen: '1x1@1' } }).device).toBeCloseTo(
      (seen(3) * 13) / 16,
      10,
    )
  })

  it('learns a second device, and keeps the first', () => {
    const phone: Device = { ...LAPTOP, os: 'Android', kind: 'mobile' }
    const habits = habitsAfter(habitsOf(3), { ...usual, device: phone })
    expect(signal('os', 'device', { device: phone }, habits)?.computedOutcome).toBe(0.75)
    expect(signal('os', 'device', {}, habits)).toMatchObject({ reference: 'Linux' })
    expect(signal('os', 'device', {}, habits)?.computedOutcome).toBeCloseTo(seen(3), 10)
  })

  it('halves old counts', () => {
    let habits = habitsAfter({}, { ...usual, device: { ...LAPTOP, os: 'Windows' } })
    for (let n = 0; n < 61; n++) habits = habitsAfter(habits, usual)
    expect(habits.values?.os).toEqual([['Linux', 30, MONDAY_9]])
  })
})

describe('time', () => {
  it('scores a known hour of the week; neighbouring hours and the same hour on other days score less', () => {
    const at = (hours: number) => scores({ at: MONDAY_9 + hours * HOUR }).time
    expect(at(1)).toBeCloseTo(seen(3 * 0.7), 10)
    expect(at(24)).toBeCloseTo(seen(3 * 0.4), 10)
    expect(at(25)).toBeCloseTo(seen(3 * 0.4 * 0.7), 10)
    expect(at(12)).toBe(0)
    expect(signal('hour_of_week', 'time', {})).toMatchObject({ value: 9, reference: 9 })
  })

  it('wraps at the end of the week', () => {
    const sunday = { ...usual, at: Date.UTC(2026, 5, 14, 23) }
    expect(scores({ at: Date.UTC(2026, 5, 15, 0) }, habitsOf(3, sunday)).time).toBeCloseTo(seen(3 * 0.7), 10)
  })
})

describe('habits', () => {
  it('stay below 8,000 characters for any movements', () => {
    let habits: Habits = {}
    for (let n = 0; n < 500; n++) {
      const text = `${n}`.repeat(10)
      const place = { ...PARIS, latitude: (n * 7) % 80, country: text, city: text }
      habits = habitsAfter(habits, { ...usual, at: MONDAY_9 + n * HOUR, ip: text, device: deviceOf(text), place })
    }
    expect(JSON.stringify(habits).length).toBeLessThan(8000)
    expect(habits.n).toBe(500)
  })
})
