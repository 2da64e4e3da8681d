/**
 * The per-user model from one to sixteen references. A normalised time is
 *   user offset + first-key effect + second-key effect + pair effect + session offset + residual,
 * each a zero-mean normal with a variance from the population (`variances`). Effects are best linear unbiased predictions,
 * found by two rounds of backfitting: the effect of a rare key shrinks towards zero, the effect of an unseen key is zero.
 * The four kinds of time share their keys, so four lanes compute them together.
 * Source: Searle, Casella and McCulloch, Variance Components (1992), chapter 7.
 */
import {
  CONTEXTS_MAX, EFFECTS, KEY_KINDS, SEEN, SUMS, TEMPLATE, TOUCHED, countOf, firstKeyOf, keyAt, lanesAt, lanesOf, pairContextAt,
} from './layout'
import { Component, variances } from './model'

const ROUNDS: i32 = 2
const SHAPE: i32 = CONTEXTS_MAX + 2 * KEY_KINDS
const FIRST: i32 = CONTEXTS_MAX
const SECOND: i32 = CONTEXTS_MAX + KEY_KINDS

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
  const held = f32x4.extract_lane(seen(SECOND + keyAt(slot, press)), 0)
  return f32x4.replace_lane(seen(pairContextAt(slot, press)), 0, held)
}

/** The expected times of the user at a press, in population standard deviations. */
// @ts-ignore: decorator
@inline
export function expected(slot: i32, press: i32): v128 {
  const keys = f32x4.add(effect(FIRST + firstKeyOf(slot, press)), effect(SECOND + keyAt(slot, press)))
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
  const ofFirst = remaining(first, f32x4.add(noise, second), seen(FIRST + firstKeyOf(slot, press)))
  const ofSecond = remaining(second, f32x4.add(noise, first), seen(SECOND + keyAt(slot, press)))
  return f32x4.add(f32x4.add(fixed, ofPair), f32x4.add(ofFirst, ofSecond))
}

/** Builds the template from slots 1 to `references` except `without` (0: none). */
export function buildTemplate(references: i32, without: i32): void {
  memory.fill(EFFECTS, 0, <usize>SHAPE << 4)
  memory.fill(SEEN, 0, <usize>SHAPE << 4)
  offset(references, without)
  const pair = variances(Component.pair)
  const first = variances(Component.firstKey)
  const second = variances(Component.secondKey)
  for (let round = 0; round < ROUNDS; round++) {
    refitLevel(references, without, SECOND, second, f32x4.add(pair, first), round == 0)
    refitLevel(references, without, FIRST, first, f32x4.add(pair, second), round == 0)
    refitLevel(references, without, 0, pair, f32x4.splat(0), round == 0)
  }
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

// @ts-ignore: decorator
@inline
function place(slot: i32, press: i32, base: i32): i32 {
  if (base == FIRST) return FIRST + firstKeyOf(slot, press)
  return base == SECOND ? SECOND + keyAt(slot, press) : pairContextAt(slot, press)
}

/** Adds the remainder of one press, without the other levels, to the sum of its place. Returns the place. */
// @ts-ignore: decorator
@inline
function addRemainder(slot: i32, press: i32, lanes: v128, base: i32, count: bool): i32 {
  const at = place(slot, press, base)
  const own = f32x4.add(f32x4.sub(v128.load(lanesAt(slot, press)), expected(slot, press)), effect(at))
  const sums = SUMS + (<usize>(at - base) << 4)
  v128.store(sums, f32x4.add(v128.load(sums), f32x4.mul(own, lanes)))
  if (count) v128.store(SEEN + (<usize>at << 4), f32x4.add(seen(at), lanes))
  return at
}

/**
 * Refits the effects of one level to what the other levels leave. `rest` is the variance of the others, noise for this level.
 * Inlined with a constant `base`, so that no press costs a test of the level.
 */
// @ts-ignore: decorator
@inline
function refitLevel(references: i32, without: i32, base: i32, variance: v128, rest: v128, count: bool): void {
  let touched: usize = TOUCHED
  const one = f32x4.splat(1)
  for (let slot = 1; slot <= references; slot++) {
    if (slot == without) continue
    store<u16>(touched, <u16>addRemainder(slot, 0, lanesOf(0), base, count))
    touched += 2
    const n = countOf(slot)
    for (let i = 1; i < n; i++) {
      store<u16>(touched, <u16>addRemainder(slot, i, one, base, count))
      touched += 2
    }
  }
  const noise = f32x4.add(variances(Component.residual), rest)
  // The list contains a place once per press. After the first time its sum is zero, and it is skipped.
  while (touched > TOUCHED) {
    touched -= 2
    const at = <i32>load<u16>(touched)
    const sums = SUMS + (<usize>(at - base) << 4)
    const sum = v128.load(sums)
    if (!v128.any_true(sum)) continue
    v128.store(EFFECTS + (<usize>at << 4), f32x4.div(f32x4.mul(variance, sum), f32x4.add(f32x4.mul(seen(at), variance), noise)))
    v128.store(sums, f32x4.splat(0))
  }
}
