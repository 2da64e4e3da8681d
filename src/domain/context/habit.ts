/** How often successes had a value: `[value, times, when last in epoch ms]`, the latest first. */
export type Counted = readonly (readonly [value: string, times: number, at: number])[]

/** Values kept of one signal: somebody's devices and networks of a while. No measurement behind it. */
const VALUES_MAX = 6
/** From here on all counts are halved, so that what somebody did last year gives way to what they do now. */
const TIMES_MAX = 60

/** Nothing is said before this many successes: one or two are no habit. No measurement behind it. */
export const HABIT_MIN = 3

/**
 * How familiar something is that `times` successes had: 0 never seen, 0.75 once, 0.94 twice, towards 1. Takes fractions.
 * No measurement behind the curve: it is to forgive a second device soon, and a never seen one not.
 */
export const familiarity = (times: number): number => 1 - 0.25 ** times

/** How often a value was seen; 0 for one that was not, or is no longer kept. */
const timesOf = (counted: Counted, value: string): number => counted.find(([known]) => known === value)?.[1] ?? 0

/** The value seen most, of equals the latest; null where there is none. */
export function usual(counted: Counted): string | null {
  let best: Counted[number] | undefined
  for (const one of counted) if (best === undefined || one[1] > best[1]) best = one
  return best?.[0] ?? null
}

/** The counts after one success more with this value. */
export function counting(counted: Counted, value: string, at: number): Counted {
  const after: Counted = [[value, timesOf(counted, value) + 1, at], ...counted.filter(([known]) => known !== value)]
  const halved = after.some(([, times]) => times > TIMES_MAX)
    ? after.map(halfOf).filter(([, times]) => times > 0)
    : after
  return halved.slice(0, VALUES_MAX)
}

const halfOf = ([value, times, at]: Counted[number]): Counted[number] => [value, Math.floor(times / 2), at]

/** One signal of a value that successes are counted by: null where the value, or any habit, is missing. */
export function outcomeOf(counted: Counted | undefined, value: string | null): number | null {
  if (value === null || counted === undefined || counted.length === 0) return null
  return familiarity(timesOf(counted, value))
}
