import type { Session } from './dataset.js'
import { normal, type Random } from './random.js'

/**
 * Synthetic typists, after the species of the project's yardstick and of Gonzalez et al., KSDSLD (2021): S1 constant, S3
 * uniform jitter, S4 normal, S5 the population's own histogram, S6 the user's own statistics. (S2, all zero, does not
 * pass the bounds of a pattern.) A maker takes the keys of `text`, and times from `source` where the species is drawn
 * from somebody's typing: pooled sessions of the population for S5, of the user for S6.
 */
export type Species = 'S1' | 'S3' | 'S4' | 'S4log' | 'S5' | 'S6average' | 'S6uniform' | 'S6gaussian' | 'S6histogram'
export const SPECIES: readonly Species[] = [
  'S1',
  'S3',
  'S4',
  'S4log',
  'S5',
  'S6average',
  'S6uniform',
  'S6gaussian',
  'S6histogram',
]

interface Times {
  readonly holds: readonly number[]
  readonly flights: readonly number[]
}

/** Holds and press-press times of sessions, ms; flights over two seconds are pauses and left out. */
export function timesOf(sessions: readonly Session[]): Times {
  const holds: number[] = []
  const flights: number[] = []
  for (const session of sessions) {
    session.forEach(({ pressMs, releaseMs }, i) => {
      holds.push(Math.min(releaseMs - pressMs, 1000))
      const before = session[i - 1]
      if (before !== undefined && pressMs - before.pressMs < 2000) flights.push(pressMs - before.pressMs)
    })
  }
  return { holds, flights }
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1)
const deviation = (values: readonly number[]): number => {
  const m = mean(values)
  return Math.sqrt(mean(values.map((value) => (value - m) ** 2)))
}
const draw = (values: readonly number[], random: Random): number => values[Math.floor(random() * values.length)] ?? 100

/** What a species does with one row of times: a way to draw the next one. */
function drawer(species: Species, values: readonly number[], random: Random): () => number {
  const m = mean(values)
  const sd = deviation(values)
  const logs = values.map((value) => Math.log(Math.max(value, 5)))
  const [logMean, logSd] = [mean(logs), deviation(logs)]
  const sorted = [...values].sort((a, b) => a - b)
  const low = sorted[Math.floor(sorted.length * 0.05)] ?? 50
  const high = sorted[Math.floor(sorted.length * 0.95)] ?? 200
  const jitter = 0.05 + 0.6 * random()
  switch (species) {
    case 'S1':
      return () => m
    case 'S3':
      return () => m * (1 + jitter * (2 * random() - 1))
    case 'S6uniform':
      return () => low + (high - low) * random()
    case 'S4':
    case 'S6gaussian':
      return () => m + sd * normal(random)
    case 'S4log':
      return () => Math.exp(logMean + logSd * normal(random))
    case 'S5':
    case 'S6histogram':
      return () => draw(values, random)
    case 'S6average':
      return () => mean([draw(values, random), draw(values, random), draw(values, random), draw(values, random)])
  }
}

/** One synthetic session over the keys of `text`, times rounded to `gridMs`, within the bounds of a typing pattern. */
export function synthesize(species: Species, text: Session, source: Times, gridMs: number, random: Random): Session {
  const hold = drawer(species, source.holds, random)
  const flight = drawer(species, source.flights, random)
  const grid = (ms: number): number => Math.round(ms / gridMs) * gridMs
  let now = 0
  return text.map(({ key }, i) => {
    if (i > 0) now += Math.max(grid(flight()), 5)
    return { key, pressMs: now, releaseMs: now + Math.max(grid(hold()), 5) }
  })
}

/**
 * A sincere session as another keyboard, timer or way of typing might have given it: another speed, a coarse timer, keys
 * that stand elsewhere, no Shift. Keeps what a hand does (habits per key, roll-over, tails) and breaks what only the
 * fitting data have, so that the bot signs do not take one-handed typing of an odd phrase for a machine.
 */
export function disturbed(session: Session, random: Random): Session {
  const scale = Math.exp(0.8 * random() - 0.1)
  const gridMs = [1, 1, 5, 8, 15.6][Math.floor(random() * 5)] ?? 1
  const turn = random() < 0.5 ? 0 : 1 + Math.floor(random() * 25)
  const grid = (ms: number): number => Math.round((ms * scale) / gridMs) * gridMs
  const turned = (key: number): number => (key >= 1 && key <= 26 ? 1 + ((key - 1 + turn) % 26) : key)
  const kept = random() < 0.5 ? session : session.filter(({ key }) => key === 0 || (key >= 1 && key <= 26))
  return kept.map(({ key, pressMs, releaseMs }) => ({
    key: turned(key),
    pressMs: grid(pressMs),
    releaseMs: grid(releaseMs),
  }))
}
