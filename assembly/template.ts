/**
 * The per-user model from one to sixteen references: a normalised time is
 *   user offset + first-key effect + second-key effect + pair effect + session offset + residual,
 * each a zero-mean normal whose variance the population gives (`components`). Effects are best linear unbiased
 * predictions, found by two rounds of backfitting: what is seen twice says something, what was never seen says nothing.
 * Source: Searle, Casella and McCulloch, Variance Components (1992), chapter 7.
 */
import { CONTEXTS_MAX, EFFECTS, FEATURE_KINDS, KEY_KINDS, SEEN, SUMS, TEMPLATE, Z, eventsOf, f32At, firstKey, pairContext, row, secondKey, setF32 } from './layout'
import { Component, component, contexts } from './model'

const ROUNDS: i32 = 2
const SHAPE: i32 = CONTEXTS_MAX + 2 * KEY_KINDS
const FIRST: i32 = CONTEXTS_MAX
const SECOND: i32 = CONTEXTS_MAX + KEY_KINDS

/** TEMPLATE's columns. */
export const enum Column { offset = 0, offsetVariance = 1, mean = 2, deviation = 3, events = 4, sessions = 5 }

export function templateAt(kind: i32, column: Column): f32 {
  return f32At(TEMPLATE, kind * 8 + column)
}

function effectsOf(kind: i32): usize {
  return EFFECTS + <usize>((kind * SHAPE) << 2)
}

function seenOf(kind: i32): usize {
  return SEEN + <usize>((kind * SHAPE) << 2)
}

/** How often the references hold the event's pair. */
export function timesSeen(kind: i32, slot: i32, event: i32): f32 {
  return f32At(seenOf(kind), kind == 0 ? SECOND + secondKey(slot, kind, event) : pairContext(slot, kind, event))
}

/** What the user is expected to do at a probe's event, in population standard deviations. */
export function expected(kind: i32, slot: i32, event: i32): f32 {
  const effects = effectsOf(kind)
  return templateAt(kind, Column.offset) + f32At(effects, FIRST + firstKey(slot, kind, event)) +
    f32At(effects, SECOND + secondKey(slot, kind, event)) + f32At(effects, pairContext(slot, kind, event))
}

// @ts-ignore: decorator
@inline
function left(variance: f32, noise: f32, times: f32): f32 {
  return variance * noise / (times * variance + noise)
}

/** Variance of an event about `expected`, without the session's own offset. */
export function expectedVariance(kind: i32, slot: i32, event: i32): f32 {
  const seen = seenOf(kind)
  const residual = component(kind, Component.residual)
  const pair = component(kind, Component.pair)
  const first = component(kind, Component.firstKey)
  const second = component(kind, Component.secondKey)
  return residual + templateAt(kind, Column.offsetVariance) +
    left(pair, residual, f32At(seen, pairContext(slot, kind, event))) +
    left(first, residual + pair + second, f32At(seen, FIRST + firstKey(slot, kind, event))) +
    left(second, residual + pair + first, f32At(seen, SECOND + secondKey(slot, kind, event)))
}

/** Builds the template from slots 1 to `references`. */
export function enroll(references: i32): void {
  for (let kind = 0; kind < FEATURE_KINDS; kind++) {
    memory.fill(effectsOf(kind), 0, <usize>SHAPE << 2)
    memory.fill(seenOf(kind), 0, <usize>SHAPE << 2)
    offset(kind, references)
    for (let round = 0; round < ROUNDS; round++) {
      level(kind, references, SECOND, KEY_KINDS, component(kind, Component.secondKey), component(kind, Component.pair) + component(kind, Component.firstKey), round == 0)
      level(kind, references, FIRST, KEY_KINDS, component(kind, Component.firstKey), component(kind, Component.pair) + component(kind, Component.secondKey), round == 0)
      level(kind, references, 0, contexts, component(kind, Component.pair), 0, round == 0)
    }
  }
}

function offset(kind: i32, references: i32): void {
  let n: f32 = 0, sum: f32 = 0, squares: f32 = 0
  for (let slot = 1; slot <= references; slot++) {
    const events = eventsOf(slot, kind)
    const z = row(Z, slot, kind)
    for (let i = 0; i < events; i++) {
      const value = f32At(z, i)
      sum += value
      squares += value * value
    }
    n += <f32>events
  }
  const mean = n > 0 ? sum / n : 0
  const user = component(kind, Component.user)
  const noise = component(kind, Component.session) / <f32>references +
    (component(kind, Component.residual) + component(kind, Component.pair) + component(kind, Component.firstKey) + component(kind, Component.secondKey)) / max(n, 1)
  const at = TEMPLATE + <usize>((kind * 8) << 2)
  setF32(at, Column.offset, mean * user / (user + noise))
  setF32(at, Column.offsetVariance, user * noise / (user + noise))
  setF32(at, Column.mean, mean)
  setF32(at, Column.deviation, n > 0 ? sqrt<f32>(max(squares / n - mean * mean, 0)) : 0)
  setF32(at, Column.events, n)
  setF32(at, Column.sessions, <f32>references)
}

// @ts-ignore: decorator
@inline
function place(kind: i32, slot: i32, event: i32, base: i32): i32 {
  if (base == FIRST) return FIRST + firstKey(slot, kind, event)
  return base == SECOND ? SECOND + secondKey(slot, kind, event) : pairContext(slot, kind, event)
}

/** Refits the effects of one level to what the other levels leave over. `rest`: variance of the others, noise to this one. */
function level(kind: i32, references: i32, base: i32, size: i32, variance: f32, rest: f32, count: bool): void {
  const effects = effectsOf(kind)
  const seen = seenOf(kind)
  memory.fill(SUMS, 0, <usize>size << 2)
  for (let slot = 1; slot <= references; slot++) {
    const events = eventsOf(slot, kind)
    const z = row(Z, slot, kind)
    for (let i = 0; i < events; i++) {
      const at = place(kind, slot, i, base)
      const own = f32At(z, i) - expected(kind, slot, i) + f32At(effects, at)
      setF32(SUMS, at - base, f32At(SUMS, at - base) + own)
      if (count) setF32(seen, at, f32At(seen, at) + 1)
    }
  }
  const noise = component(kind, Component.residual) + rest
  for (let i = 0; i < size; i++) {
    const times = f32At(seen, base + i)
    setF32(effects, base + i, times > 0 ? variance * f32At(SUMS, i) / (times * variance + noise) : 0)
  }
}
