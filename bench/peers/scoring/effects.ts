import {
  CONTEXTS_MAX,
  FIRST_KEY,
  KEY_KINDS,
  KINDS,
  type Model,
  PAIR,
  RESIDUAL,
  SECOND_KEY,
  SESSION,
  USER,
  varianceOf,
} from './model.js'
import type { Pattern } from './pattern.js'

const { fround } = Math

/** Places of effects: pair contexts, then first keys, then second keys. */
export const FIRST = CONTEXTS_MAX
export const SECOND = CONTEXTS_MAX + KEY_KINDS
export const PLACES = CONTEXTS_MAX + 2 * KEY_KINDS
const ROUNDS = 2

/** Columns of a user, one value a kind: offset, its variance, mean, deviation and number of the references' times. */
export interface Columns {
  readonly offset: Float32Array
  readonly offsetVariance: Float32Array
  readonly mean: Float32Array
  readonly deviation: Float32Array
  readonly events: Float32Array
}

/** A user's effects at the places that the references have: `kind x places.length +` number of the place. */
export interface Effects {
  readonly columns: Columns
  readonly places: Uint16Array
  readonly effects: Float32Array
  readonly seen: Float32Array
}

/** The references' presses, and the place number of each of their effects. The numbers of a level are contiguous. */
interface Levels {
  readonly references: readonly Pattern[]
  readonly places: Uint16Array
  readonly pairs: Uint16Array
  readonly firsts: Uint16Array
  readonly seconds: Uint16Array
  readonly firstFrom: number
  readonly secondFrom: number
}

const numbers = new Uint16Array(PLACES)

/**
 * Fits the model of `assembly/template.ts` to the references, which are windows of `rows`: a time is a user's offset and effects
 * of first key, second key and pair, each shrunk towards 0 by its variance, fitted by two rounds of backfitting.
 */
export function fitEffects(model: Model, rows: Pattern, references: readonly Pattern[]): Effects {
  const levels = numbered(rows, references)
  const { places, pairs, firsts, seconds, firstFrom, secondFrom } = levels
  const columns = columnsOf()
  const effects = new Float32Array(KINDS * places.length)
  const seen = new Float32Array(KINDS * places.length)
  const sums = new Float32Array(places.length)
  for (let kind = 0; kind < KINDS; kind++) {
    offsetOf(model, references, kind, columns)
    const mine = effects.subarray(kind * places.length, (kind + 1) * places.length)
    const times = seen.subarray(kind * places.length, (kind + 1) * places.length)
    const [residual, first, second, pair] = [RESIDUAL, FIRST_KEY, SECOND_KEY, PAIR].map((which) =>
      varianceOf(model, kind, which),
    ) as [number, number, number, number]
    const noises = [fround(pair + first), fround(pair + second), 0].map((rest) => fround(residual + rest))
    const level = (at: Uint16Array, from: number, to: number, variance: number, noise: number, count: boolean) => {
      leave(levels, kind, columns.offset[kind] ?? 0, mine, at, sums)
      if (count) countPlaces(references, kind, at, times)
      for (let p = from; p < to; p++) {
        const drawn = fround(fround((times[p] ?? 0) * variance) + noise)
        mine[p] = fround(variance * (sums[p] ?? 0)) / drawn
        sums[p] = 0
      }
    }
    for (let round = 0; round < ROUNDS; round++) {
      level(seconds, secondFrom, places.length, second, noises[0] ?? 0, round === 0)
      level(firsts, firstFrom, secondFrom, first, noises[1] ?? 0, round === 0)
      level(pairs, 0, firstFrom, pair, noises[2] ?? 0, round === 0)
    }
  }
  return { columns, places, effects, seen }
}

const columnsOf = (): Columns => ({
  offset: new Float32Array(KINDS),
  offsetVariance: new Float32Array(KINDS),
  mean: new Float32Array(KINDS),
  deviation: new Float32Array(KINDS),
  events: new Float32Array(KINDS),
})

/** Numbers the places of the references, level by level. */
function numbered({ stride, keys, contexts }: Pattern, references: readonly Pattern[]): Levels {
  const places: number[] = []
  const number = (place: number): number => {
    const known = numbers[place] ?? 0
    if (known > 0) return known - 1
    numbers[place] = places.push(place)
    return places.length - 1
  }
  const pairs = new Uint16Array(stride).map((_, e) => number(contexts[e] ?? 0))
  const firstFrom = places.length
  const starts = new Set(references.map(({ at }) => at))
  const firsts = new Uint16Array(stride).map((_, e) => number(FIRST + (starts.has(e) ? 0 : (keys[e - 1] ?? 0))))
  const secondFrom = places.length
  const seconds = new Uint16Array(stride).map((_, e) => number(SECOND + (keys[e] ?? 0)))
  for (const place of places) numbers[place] = 0
  return { references, places: Uint16Array.from(places), pairs, firsts, seconds, firstFrom, secondFrom }
}

function offsetOf(model: Model, references: readonly Pattern[], kind: number, columns: Columns): void {
  let events = 0
  let sum = 0
  let squares = 0
  for (const { at, n, stride, z } of references) {
    const from = kind * stride + at
    // The first press has only a hold: its other times are 0.
    for (let i = from; i < from + n; i++) {
      const value = z[i] ?? 0
      sum = fround(sum + value)
      squares = fround(squares + fround(value * value))
    }
    events += kind === 0 ? n : n - 1
  }
  const mean = fround(sum / events)
  const user = varianceOf(model, kind, USER)
  const keys = fround(varianceOf(model, kind, FIRST_KEY) + varianceOf(model, kind, SECOND_KEY))
  const within = fround(fround(varianceOf(model, kind, RESIDUAL) + varianceOf(model, kind, PAIR)) + keys)
  const noise = fround(fround(varianceOf(model, kind, SESSION) / references.length) + fround(within / events))
  const spread = fround(fround(squares / events) - fround(mean * mean))
  columns.offset[kind] = fround(mean * user) / fround(user + noise)
  columns.offsetVariance[kind] = fround(user * noise) / fround(user + noise)
  columns.mean[kind] = mean
  columns.deviation[kind] = Math.sqrt(Math.max(spread, 0))
  columns.events[kind] = events
}

/** Adds the remainders of the presses after the other levels to the sums of their places. */
function leave(
  { references, pairs, firsts, seconds }: Levels,
  kind: number,
  offset: number,
  effects: Float32Array,
  places: Uint16Array,
  sums: Float32Array,
): void {
  for (const { at, n, stride, z } of references) {
    const row = kind * stride
    for (let e = kind === 0 ? at : at + 1; e < at + n; e++) {
      const keys = fround((effects[firsts[e] ?? 0] ?? 0) + (effects[seconds[e] ?? 0] ?? 0))
      const expected = fround(fround(offset + keys) + (effects[pairs[e] ?? 0] ?? 0))
      const place = places[e] ?? 0
      sums[place] = (sums[place] ?? 0) + fround(fround((z[row + e] ?? 0) - expected) + (effects[place] ?? 0))
    }
  }
}

function countPlaces(references: readonly Pattern[], kind: number, places: Uint16Array, seen: Float32Array): void {
  for (const { at, n } of references) {
    for (let e = kind === 0 ? at : at + 1; e < at + n; e++) {
      const place = places[e] ?? 0
      seen[place] = (seen[place] ?? 0) + 1
    }
  }
}

/** The effects of the compared user by place: `kind x PLACES + place`. All 0 between scores. */
export const effectAt = new Float32Array(KINDS * PLACES)
export const seenAt = new Float32Array(KINDS * PLACES)

/** Writes a user's effects by place. */
export function placeEffects({ places, effects, seen }: Effects): void {
  for (let kind = 0; kind < KINDS; kind++) {
    const row = kind * places.length
    for (let p = 0; p < places.length; p++) {
      const to = kind * PLACES + (places[p] ?? 0)
      effectAt[to] = effects[row + p] ?? 0
      seenAt[to] = seen[row + p] ?? 0
    }
  }
}

/** Resets them to 0. */
export function clear({ places }: Effects): void {
  for (let kind = 0; kind < KINDS; kind++) {
    for (let p = 0; p < places.length; p++) {
      const to = kind * PLACES + (places[p] ?? 0)
      effectAt[to] = 0
      seenAt[to] = 0
    }
  }
}
