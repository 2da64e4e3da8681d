import { randomFrom } from '../../src/typist/made-up-person.js'

/** Distribution of arrivals: random, or at fixed intervals. */
export const ARRIVALS = ['poisson', 'even'] as const
export type Arrivals = (typeof ARRIVALS)[number]

/** The arrivals of one worker out of `workers`. */
interface Schedule {
  readonly arrivals: Arrivals
  /** Arrivals a second, over all workers. */
  readonly rate: number
  readonly seconds: number
  readonly workers: number
  /** Index of this worker, from 0. */
  readonly worker: number
  readonly seed: number
}

/**
 * The times, in ms from the start, at which one worker begins sign-ins. Even: every n-th of the common intervals. Poisson:
 * an own stream at its share of the rate; the sum of Poisson streams is a Poisson stream of the summed rate. The schedule
 * is fixed before anything is sent, so a slow service does not reduce the load.
 */
export function* arrivalTimes({ arrivals, rate, seconds, workers, worker, seed }: Schedule): Generator<number> {
  const end = seconds * 1000
  if (arrivals === 'even') {
    for (let n = worker; (n * 1000) / rate < end; n += workers) yield (n * 1000) / rate
    return
  }
  const random = randomFrom(seed * 64 + worker)
  const meanMs = (1000 * workers) / rate
  for (let at = -Math.log(random()) * meanMs; at < end; at += -Math.log(random()) * meanMs) yield at
}

/** The rates of a ramp `from:to:step`, both ends included if the steps reach them; else a sentence with the fault. */
export function rampRates(text: string): readonly number[] | string {
  const [from = Number.NaN, to = Number.NaN, step = Number.NaN, ...more] = text.split(':').map(Number)
  if (more.length > 0 || !(from > 0) || !(to >= from) || !(step > 0)) {
    return 'expected from:to:step in sign-ins a second, such as 50:500:50'
  }
  const rates = Array.from({ length: Math.floor((to - from) / step + 1e-9) + 1 }, (_, i) => from + i * step)
  return rates.length > 1000 ? 'expected at most 1,000 steps' : rates
}
