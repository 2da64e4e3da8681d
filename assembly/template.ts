/**
 * The per-user model from one to sixteen references. A normalised time is
 *   user offset + first-key effect + second-key effect + pair effect + session offset + residual,
 * each a zero-mean normal with a variance from the population (`variances`). Effects are best linear unbiased predictions,
 * found by two rounds of backfitting: the effect of a rare key shrinks towards zero, the effect of an unseen key is zero.
 * The four kinds of time share their keys, so four lanes compute them together.
 * Source: Searle, Casella and McCulloch, Variance Components (1992), chapter 7.
 */
import {
  COMPARED_MAX, CONTEXTS_MAX, EFFECTS, KEY_KINDS, LANES, PLACES, SEEN, SUMS, TEMPLATE, countOf, firstKeyOf, keyAt, lanesAt, lanesOf, pairContextAt,
} from './layout'
import { Component, variances } from './model'

const ROUNDS: i32 = 2
/** EFFECTS holds the pairs, then the first keys, then the second keys. */
const FIRST_KEYS: i32 = CONTEXTS_MAX
const SECOND_KEYS: i32 = CONTEXTS_MAX + KEY_KINDS
/** Levels of effects, as bytes in an entry of PLACES. */
const PAIR: usize = 0
const FIRST: usize = 2
const SECOND: usize = 4

/** TEMPLATE's rows, four lanes each. */
export const enum TemplateRow { offset = 0, offsetVariance = 1, mean = 2, deviation = 3, events = 4, sessions = 5 }

// @ts-ignore: decorator
@inline
export function templateAt(which: TemplateRow): v128 {
  return v128.load(TEMPLATE + (<usize>which << 4))
}

function setTemplate(which: TemplateRow, value: v128): void {
  v128.store(TEMPLATE + (<usize>which << 4), value)
}

// @ts-ignore: decorator
@inline
function effect(at: i32): v128 {
  return v128.load(EFFECTS + (<usize>at << 4))
}

// @ts-ignore: decorator
@inline
function seen(at: i32): v128 {
  return v128.load(SEEN + (<usize>at << 4))
}

/** Occurrences in the references of the press's key, for the hold, and of its key pair, for the other times. */
export function timesSeen(slot: i32, press: i32): v128 {
  const held = f32x4.extract_lane(seen(SECOND_KEYS + keyAt(slot, press)), 0)
  return f32x4.replace_lane(seen(pairContextAt(slot, press)), 0, held)
}

/** The expected times of the user at a press, in population standard deviations. */
// @ts-ignore: decorator
@inline
export function expected(slot: i32, press: i32): v128 {
  const keys = f32x4.add(effect(FIRST_KEYS + firstKeyOf(slot, press)), effect(SECOND_KEYS + keyAt(slot, press)))
  return f32x4.add(f32x4.add(templateAt(TemplateRow.offset), keys), effect(pairContextAt(slot, press)))
}

// @ts-ignore: decorator
@inline
function remaining(variance: v128, noise: v128, times: v128): v128 {
  return f32x4.div(f32x4.mul(variance, noise), f32x4.add(f32x4.mul(times, variance), noise))
}

/** Variance of a press from `expected`, without the session's own offset. */
export function expectedVariance(slot: i32, press: i32): v128 {
  const residual = variances(Component.residual)
  const pair = variances(Component.pair)
  const first = variances(Component.firstKey)
  const second = variances(Component.secondKey)
  const noise = f32x4.add(residual, pair)
  const fixed = f32x4.add(residual, templateAt(TemplateRow.offsetVariance))
  const ofPair = remaining(pair, residual, seen(pairContextAt(slot, press)))
  const ofFirst = remaining(first, f32x4.add(noise, second), seen(FIRST_KEYS + firstKeyOf(slot, press)))
  const ofSecond = remaining(second, f32x4.add(noise, first), seen(SECOND_KEYS + keyAt(slot, press)))
  return f32x4.add(f32x4.add(fixed, ofPair), f32x4.add(ofFirst, ofSecond))
}

/** Presses that the effects in EFFECTS and SEEN are fitted to: the entries of PLACES. */
let fitted: i32 = 0

/** Builds the template from slots 1 to `references` except `without`, which is 0 to leave out none. */
export function buildTemplate(references: i32, without: i32): void {
  clearEffects()
  offset(references, without)
  listPlaces(references, without)
  const pair = variances(Component.pair)
  const first = variances(Component.firstKey)
  const second = variances(Component.secondKey)
  for (let round = 0; round < ROUNDS; round++) {
    refitLevel(SECOND, second, f32x4.add(pair, first), round == 0)
    refitLevel(FIRST, first, f32x4.add(pair, second), round == 0)
    refitLevel(PAIR, pair, f32x4.splat(0), round == 0)
  }
}

/** Zeroes the effects of the last fit: about 250 of the 1,280. */
function clearEffects(): void {
  const zero = f32x4.splat(0)
  for (let i = 0; i < fitted; i++) {
    for (let level: usize = PAIR; level <= SECOND; level += 2) {
      const at = placeOf(i, level)
      v128.store(EFFECTS + at, zero)
      v128.store(SEEN + at, zero)
    }
  }
}

/** Lists the effects of each press. */
function listPlaces(references: i32, without: i32): void {
  fitted = 0
  for (let slot = 1; slot <= references; slot++) {
    if (slot == without) continue
    const n = countOf(slot)
    for (let i = 0; i < n; i++) {
      const at = PLACES + (<usize>fitted << 3)
      store<u16>(at, <u16>(pairContextAt(slot, i) << 4), PAIR)
      store<u16>(at, <u16>((FIRST_KEYS + firstKeyOf(slot, i)) << 4), FIRST)
      store<u16>(at, <u16>((SECOND_KEYS + keyAt(slot, i)) << 4), SECOND)
      store<u16>(at, <u16>(slot * COMPARED_MAX + i), 6)
      fitted++
    }
  }
}

// @ts-ignore: decorator
@inline
function placeOf(i: i32, level: usize): usize {
  return <usize>load<u16>(PLACES + (<usize>i << 3) + level)
}

function offset(references: i32, without: i32): void {
  let presses = 0
  let sessions = 0
  let sum = f32x4.splat(0)
  let squares = f32x4.splat(0)
  for (let slot = 1; slot <= references; slot++) {
    if (slot == without) continue
    const n = countOf(slot)
    for (let i = 0; i < n; i++) {
      const z = v128.load(lanesAt(slot, i))
      sum = f32x4.add(sum, z)
      squares = f32x4.add(squares, f32x4.mul(z, z))
    }
    presses += n
    sessions++
  }
  const transitions = <f32>max(presses - sessions, 1)
  const events = f32x4.replace_lane(f32x4.splat(transitions), 0, <f32>max(presses, 1))
  const mean = f32x4.div(sum, events)
  const user = variances(Component.user)
  const keys = f32x4.add(variances(Component.firstKey), variances(Component.secondKey))
  const within = f32x4.add(f32x4.add(variances(Component.residual), variances(Component.pair)), keys)
  const noise = f32x4.add(f32x4.div(variances(Component.session), f32x4.splat(<f32>max(sessions, 1))), f32x4.div(within, events))
  const spread = f32x4.sub(f32x4.div(squares, events), f32x4.mul(mean, mean))
  setTemplate(TemplateRow.offset, f32x4.div(f32x4.mul(mean, user), f32x4.add(user, noise)))
  setTemplate(TemplateRow.offsetVariance, f32x4.div(f32x4.mul(user, noise), f32x4.add(user, noise)))
  setTemplate(TemplateRow.mean, mean)
  setTemplate(TemplateRow.deviation, f32x4.sqrt(f32x4.max(spread, f32x4.splat(0))))
  setTemplate(TemplateRow.events, events)
  setTemplate(TemplateRow.sessions, f32x4.splat(<f32>sessions))
}

/**
 * Refits the effects of one level to what the other levels leave. `rest` is the variance of the others, noise for this level.
 * Inlined with a constant `level`, so that no press costs a test of the level.
 */
// @ts-ignore: decorator
@inline
function refitLevel(level: usize, variance: v128, rest: v128, count: bool): void {
  const one = f32x4.splat(1)
  const common = templateAt(TemplateRow.offset)
  for (let i = 0; i < fitted; i++) {
    const press = placeOf(i, 6)
    const lanes = (press & (COMPARED_MAX - 1)) == 0 ? lanesOf(0) : one
    const keys = f32x4.add(v128.load(EFFECTS + placeOf(i, FIRST)), v128.load(EFFECTS + placeOf(i, SECOND)))
    const all = f32x4.add(f32x4.add(common, keys), v128.load(EFFECTS + placeOf(i, PAIR)))
    const at = placeOf(i, level)
    const own = f32x4.add(f32x4.sub(v128.load(LANES + (press << 4)), all), v128.load(EFFECTS + at))
    v128.store(SUMS + at, f32x4.add(v128.load(SUMS + at), f32x4.mul(own, lanes)))
    if (count) v128.store(SEEN + at, f32x4.add(v128.load(SEEN + at), lanes))
  }
  const noise = f32x4.add(variances(Component.residual), rest)
  // The list contains a place once per press. After the first time its sum is zero, and it is skipped.
  for (let i = 0; i < fitted; i++) {
    const at = placeOf(i, level)
    const sum = v128.load(SUMS + at)
    if (!v128.any_true(sum)) continue
    v128.store(EFFECTS + at, f32x4.div(f32x4.mul(variance, sum), f32x4.add(f32x4.mul(v128.load(SEEN + at), variance), noise)))
    v128.store(SUMS + at, f32x4.splat(0))
  }
}
