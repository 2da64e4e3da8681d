/** Number of successes with each value: `[value, times, time of the last one in epoch ms]`, latest first. */
export type CountedValues = readonly (readonly [value: string, times: number, at: number])[]

/** Values kept per signal: a person's recent devices or networks. Not measured. */
const VALUES_MAX = 6
/** Above this count all counts of the signal are halved, so that recent behaviour outweighs old behaviour. */
const TIMES_MAX = 60

/** Successes needed before habits count: one or two are not a habit. Not measured. */
export const HABIT_MIN = 3

/**
 * Familiarity of a value that `times` successes had: 0 never seen, 0.75 once, 0.94 twice, approaching 1. Accepts fractions.
 * The curve is not measured: a second device becomes familiar soon, and a new one scores 0.
 */
export const familiarity = (times: number): number => 1 - 0.25 ** times

/** How often a value was seen; 0 if never or no longer kept. */
const timesOf = (counted: CountedValues, value: string): number => counted.find(([known]) => known === value)?.[1] ?? 0

/** The most frequent value, the latest of equals; null if none. */
export function usual(counted: CountedValues): string | null {
  let best: CountedValues[number] | undefined
  for (const one of counted) if (best === undefined || one[1] > best[1]) best = one
  return best?.[0] ?? null
}

/** The counts after one more success with this value. */
export function counting(counted: CountedValues, value: string, at: number): CountedValues {
  const after: CountedValues = [
    [value, timesOf(counted, value) + 1, at],
    ...counted.filter(([known]) => known !== value),
  ]
  const halved = after.some(([, times]) => times > TIMES_MAX)
    ? after.map(halfOf).filter(([, times]) => times > 0)
    : after
  return halved.slice(0, VALUES_MAX)
}

const halfOf = ([value, times, at]: CountedValues[number]): CountedValues[number] => [value, Math.floor(times / 2), at]

/** The outcome of a counted signal, 0 to 1: null if the value is unknown or there is no habit. */
export function outcomeOf(counted: CountedValues | undefined, value: string | null): number | null {
  if (value === null || counted === undefined || counted.length === 0) return null
  return familiarity(timesOf(counted, value))
}
