import { describe, expect, it } from 'vitest'
import { madeUpGeography } from '../../src/demo/locations.js'
import { attackDay, DAYS, monthOf, startOfDay } from '../../src/demo/month.js'
import { MADE_UP_PREFIX, normalizeUserRef } from '../../src/domain/user-ref.js'

const DAY_MS = 86_400_000
const WEEK = Array.from({ length: 7 }, (_, day) => Date.UTC(2026, 10, 23 + day, 10, 30))
const ENDS = [...WEEK, Date.UTC(2028, 1, 29, 0, 1), Date.UTC(2027, 0, 1, 23, 59), Date.UTC(2026, 2, 29, 1, 30)]
const isWorkday = (at: number) => new Date(at).getUTCDay() % 6 !== 0

describe.each(ENDS.map((now) => [new Date(now).toISOString(), now] as const))('a made-up month until %s', (_, now) => {
  const months = [...monthOf(now)]
  const all = months.flatMap(([, moments]) => moments)

  it('is of at most 40 people, whose references say that they are made up', () => {
    expect(months.length).toBeLessThanOrEqual(40)
    for (const [{ userRef, displayName }] of months) {
      expect(normalizeUserRef(userRef)).toBe(userRef)
      expect([userRef.startsWith(MADE_UP_PREFIX), displayName.endsWith('(made up)')]).toEqual([true, true])
    }
  })

  it('is over some minutes before its end, and begins with the enrollment of each person', () => {
    for (const [, moments] of months) {
      const times = moments.map(({ at }) => at)
      expect(times).toEqual(times.toSorted((a, b) => a - b))
      expect(moments[0]?.kind).toBe('join')
      expect(times[0]).toBeGreaterThanOrEqual(startOfDay(now) - (DAYS - 1) * DAY_MS)
      expect(times.at(-1)).toBeLessThanOrEqual(now - 5 * 60_000)
    }
  })

  it('has many sign-ins on workdays and few on others, 1,600 at most', () => {
    const signIns = all.filter(({ kind }) => kind === 'sign-in')
    expect(signIns.length).toBeLessThan(1600)
    for (let day = startOfDay(now) - (DAYS - 5) * DAY_MS; day < startOfDay(now); day += DAY_MS) {
      const n = signIns.filter(({ at }) => startOfDay(at) === day).length
      if (isWorkday(day)) expect(n).toBeGreaterThan(25)
      else expect(n).toBeLessThan(15)
    }
  })

  it('has its attacks on one workday of the last week', () => {
    const attacks = all.filter(({ kind }) => ['stranger', 'machine', 'copy'].includes(kind))
    const day = attackDay(now)
    expect(isWorkday(day)).toBe(true)
    expect(now - day).toBeLessThan(6 * DAY_MS)
    expect(new Set(attacks.map(({ at }) => startOfDay(at)))).toEqual(new Set([day]))
    expect(attacks.length).toBeGreaterThan(12)
  })

  it('has addresses of a range that nobody uses, each with a place and a network', () => {
    for (const { address } of all) {
      expect(address).toMatch(/^198\.1[89]\./)
      const { place, network } = madeUpGeography.locate(address)
      expect([place?.city, network?.organization]).toEqual([expect.any(String), expect.stringMatching(/^Example/)])
    }
  })
})

it('an address that is not of the month has no place', () => {
  expect(madeUpGeography.locate('203.0.113.7')).toEqual({ place: null, network: null, anonymizer: null })
})
