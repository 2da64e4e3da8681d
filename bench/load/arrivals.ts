import { randomFrom } from '../../src/typist/made-up-person.js'

/** How arrivals are spread: by chance, or on a fixed beat. */
export const ARRIVALS = ['poisson', 'even'] as const
export type Arrivals = (typeof ARRIVALS)[number]

/** The arrivals of one worker out of `workers`. */
interface Schedule {
  readonly arrivals: Arrivals
  /** Arrivals a second, of all workers together. */
  readonly rate: number
  readonly seconds: number
  readonly workers: number
  /** This one of them, from 0. */
  readonly worker: number
  readonly seed: number
}

/**
 * The times, in ms from the start, at which one worker begins something. Even: every n-th of the common beat. Poisson: a
 * stream of its own at its share of the rate, since streams of chance add up to one of the sum. The schedule is fixed
 * before anything is sent, so a slow service cannot thin it out.
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

/** The rates of a ramp, `from:to:step`, both ends included where the step meets them; a sentence where it is none. */
export function rampRates(text: string): readonly number[] | string {
  const [from = Number.NaN, to = Number.NaN, step = Number.NaN, ...more] = text.split(':').map(Number)
  if (more.length > 0 || !(from > 0) || !(to >= from) || !(step > 0)) {
    return 'wanted from:to:step in sign-ins a second, such as 50:500:50'
  }
  const rates = Array.from({ length: Math.floor((to - from) / step + 1e-9) + 1 }, (_, i) => from + i * step)
  return rates.length > 1000 ? 'wanted 1,000 steps at the most' : rates
}
