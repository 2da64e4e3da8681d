/**
 * The memory map. Every region is static (`memory.data`), the memory is fixed at 48 pages (3 MiB) and nothing is
 * allocated at run time; the host reads the exported addresses and never guesses one.
 *
 * | region   | bytes                          | written by  | holds                                                     |
 * |----------|--------------------------------|-------------|-----------------------------------------------------------|
 * | MODEL    | 2 MiB at the most              | host        | the model file, verbatim (`model.ts` has its table)       |
 * | SAMPLES  | 17 slots x 4,608               | host        | slot 0 the probe, slots 1 to 16 the references            |
 * | COUNTS   | 17 x u32                       | features    | key presses compared of each slot                         |
 * | KEYS     | 17 x 128 x u8                  | features    | key indices                                               |
 * | PAIRS    | 17 x 128 x u16                 | features    | pair context of press i and press i + 1                   |
 * | RAW      | 17 x 4 x 128 x f32             | features    | hold, press-press, release-press, release-release, logs   |
 * | Z        | 17 x 4 x 128 x f32             | features    | the same in population standard deviations                |
 * | SUMMARY  | 17 x 32 x f32                  | summary     | one pattern in 28 numbers                                 |
 * | VECTOR   | 17 x 80 x f32                  | summary     | one pattern for the two-covariance model                  |
 * | PROJECTED| 17 x 80 x f32                  | two-cov.    | the same in the model's own axes                          |
 * | EFFECTS  | 4 x (1,024 + 128 + 128) x f32  | template    | the user's effects per pair context, first and second key |
 * | SEEN     | the same shape                 | template    | how often the references hold each                        |
 * | SUMS     | 1,024 x f32                    | template    | scratch of one fitting pass                               |
 * | TEMPLATE | 4 x 8 x f32                    | template    | offset, its variance, mean, deviation, events             |
 * | SORTED   | 128 x f32                      | all         | scratch for quantiles                                     |
 * | SCRATCH  | 3 x 128 x f32                  | compare     | expectation, variance and deviation of each probe event   |
 * | FEATURES | 192 x f32                      | compare     | the comparison in numbers, input of the fusion trees      |
 * | LIVENESS | 64 x f32                       | liveness    | the probe's bot signs, input of the liveness trees        |
 * | RESULT   | 8 x f64                        | index       | what `score` found (`index.ts` has its table)             |
 *
 * A host checks LAYOUT_VERSION before it trusts any of this.
 */
export const LAYOUT_VERSION: i32 = 1

/** A profile is full at 10; 16 leaves room for an organization that raises the target. */
export const REFERENCES_MAX: i32 = 16
export const SLOTS: i32 = REFERENCES_MAX + 1
/** Bound of a typing pattern (decisions, Typing pattern). */
export const KEYS_MAX: i32 = 500
/** Presses compared: the open data are fitted at 25 to 50, and past 128 the means hardly move (no measurement behind it). */
export const COMPARED_MAX: i32 = 128
export const KEY_KINDS: i32 = 128
export const CONTEXTS_MAX: i32 = 1024
export const FEATURE_KINDS: i32 = 4
export const SUMMARY_SIZE: i32 = 28
export const SUMMARY_STRIDE: i32 = 32
/** Filled dimensions of VECTOR, a multiple of four for SIMD. */
export const VECTOR_SIZE: i32 = 76
export const VECTOR_STRIDE: i32 = 80
export const FEATURES_MAX: i32 = 192
export const LIVENESS_MAX: i32 = 64

/** 4 + 500 x 9 bytes, rounded up to a multiple of 512. */
export const SAMPLE_BYTES: i32 = 4608
export const MODEL_BYTES_MAX: i32 = 2 * 1024 * 1024

export const MODEL: usize = memory.data(2097152, 16)
export const SAMPLES: usize = memory.data(78336, 16)
export const COUNTS: usize = memory.data(68, 16)
export const KEYS: usize = memory.data(2176, 16)
export const PAIRS: usize = memory.data(4352, 16)
export const RAW: usize = memory.data(34816, 16)
export const Z: usize = memory.data(34816, 16)
export const SUMMARY: usize = memory.data(2176, 16)
export const VECTOR: usize = memory.data(5440, 16)
export const PROJECTED: usize = memory.data(5440, 16)
export const EFFECTS: usize = memory.data(20480, 16)
export const SEEN: usize = memory.data(20480, 16)
export const SUMS: usize = memory.data(4096, 16)
export const TEMPLATE: usize = memory.data(128, 16)
export const SORTED: usize = memory.data(512, 16)
export const SCRATCH: usize = memory.data(1536, 16)
export const FEATURES: usize = memory.data(768, 16)
export const LIVENESS: usize = memory.data(256, 16)
export const RESULT: usize = memory.data(64, 16)

// @ts-ignore: decorator
@inline
export function f32At(base: usize, index: i32): f32 {
  return load<f32>(base + ((<usize>index) << 2))
}

// @ts-ignore: decorator
@inline
export function setF32(base: usize, index: i32, value: f32): void {
  store<f32>(base + ((<usize>index) << 2), value)
}

/** Row of RAW or Z: one feature kind of one slot. */
// @ts-ignore: decorator
@inline
export function row(base: usize, slot: i32, kind: i32): usize {
  return base + (<usize>((slot * FEATURE_KINDS + kind) * COMPARED_MAX) << 2)
}

// @ts-ignore: decorator
@inline
export function countOf(slot: i32): i32 {
  return load<i32>(COUNTS + ((<usize>slot) << 2))
}

// @ts-ignore: decorator
@inline
export function keyAt(slot: i32, index: i32): i32 {
  return <i32>load<u8>(KEYS + <usize>(slot * COMPARED_MAX + index))
}

// @ts-ignore: decorator
@inline
export function pairAt(slot: i32, index: i32): i32 {
  return <i32>load<u16>(PAIRS + ((<usize>(slot * COMPARED_MAX + index)) << 1))
}

/** Events of a kind: as many holds as presses, one fewer of the rest. */
// @ts-ignore: decorator
@inline
export function eventsOf(slot: i32, kind: i32): i32 {
  return kind == 0 ? countOf(slot) : countOf(slot) - 1
}

/** The event's second key: the key held, or the key a transition arrives at. */
// @ts-ignore: decorator
@inline
export function secondKey(slot: i32, kind: i32, event: i32): i32 {
  return keyAt(slot, kind == 0 ? event : event + 1)
}

/** The event's first key: the one pressed before; 0 before the first press. */
// @ts-ignore: decorator
@inline
export function firstKey(slot: i32, kind: i32, event: i32): i32 {
  if (kind == 0) return event == 0 ? 0 : keyAt(slot, event - 1)
  return keyAt(slot, event)
}

/** The event's pair context; 0 (all) before the first press. */
// @ts-ignore: decorator
@inline
export function pairContext(slot: i32, kind: i32, event: i32): i32 {
  if (kind == 0) return event == 0 ? 0 : pairAt(slot, event - 1)
  return pairAt(slot, event)
}
