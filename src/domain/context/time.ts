import type { Circumstances, Habits } from './circumstances.js'
import { familiarity } from './habit.js'
import type { Signal, SignalWeights } from './signal.js'

export const TIME_WEIGHTS = { hour_of_week: 1 } as const

const HOUR_MS = 3_600_000
const WEEK_HOURS = 168
/** 1970-01-01 was a Thursday. */
const EPOCH_HOUR = 72
/** Weights of a success at the same hour, one hour off, and two hours off; `OTHER_DAY` is a factor for another day. */
const NEAR_HOURS = [1, 0.7, 0.3]
const OTHER_DAY = 0.4
/** Above this total, the counts of all hours are halved. */
const TIMES_MAX = 120

/** Hours since Monday 0:00 UTC. Our choice: UTC, because a device's time zone is not trustworthy. */
const hourOfWeek = (at: number): number => (Math.floor(at / HOUR_MS) + EPOCH_HOUR) % WEEK_HOURS

/** The signal of how usual the hour is for the member. Neighbouring hours, and the same hour on other days, count in part. */
export function timeSignals({ at }: Circumstances, { hours = [] }: Habits, weights: SignalWeights): Signal[] {
  const hour = hourOfWeek(at)
  const times = hours.reduce((sum, [known, n]) => sum + n * nearness(hour, known), 0)
  const most = hours.reduce<readonly [number, number] | null>(
    (best, one) => (best && best[1] >= one[1] ? best : one),
    null,
  )
  return [
    {
      signal: 'hour_of_week',
      value: hour,
      reference: most?.[0] ?? null,
      weight: weights.hour_of_week ?? 0,
      computedOutcome: hours.length === 0 ? null : familiarity(times),
    },
  ]
}

function nearness(a: number, b: number): number {
  const off = (range: number) => {
    const apart = Math.abs((a % range) - (b % range))
    return Math.min(apart, range - apart)
  }
  const sameDay = off(WEEK_HOURS) < NEAR_HOURS.length
  return (NEAR_HOURS[off(24)] ?? 0) * (sameDay ? 1 : OTHER_DAY)
}

/** The hours after one more success. */
export function hoursAfter(hours: NonNullable<Habits['hours']>, at: number): NonNullable<Habits['hours']> {
  const hour = hourOfWeek(at)
  const times = (hours.find(([known]) => known === hour)?.[1] ?? 0) + 1
  const after = [...hours.filter(([known]) => known !== hour), [hour, times] as const]
  const all = after.reduce((sum, [, n]) => sum + n, 0)
  if (all <= TIMES_MAX) return after
  return after.map(([known, n]) => [known, Math.floor(n / 2)] as const).filter(([, n]) => n > 0)
}
