/**
 * The memory map. Every region is static (`memory.data`), memory is fixed at 104 pages (6.5 MiB), and nothing is allocated
 * at run time. The host reads the exported addresses and has no constants for them.
 *
 * | region   | bytes                          | written by  | holds                                                     |
 * |----------|--------------------------------|-------------|-----------------------------------------------------------|
 * | MODEL    | 4 MiB                          | host, model | the model file, verbatim (table in `model.ts`), then its packed trees (table in `packed-trees.ts`) |
 * | SAMPLES  | 17 slots x 4,608               | host        | slot 0 the probe, slots 1 to 16 the references            |
 * | COUNTS   | 17 x u32                       | features    | number of compared presses of each slot                   |
 * | KEYS     | 17 x 128 x u8                  | features    | key indices                                               |
 * | PAIRS    | 17 x 128 x u16                 | features    | pair context of press i and press i + 1                   |
 * | RAW      | 17 x 4 x 128 x f32             | features    | hold, press-press, release-press, release-release, logs   |
 * | Z        | 17 x 4 x 128 x f32             | features    | the same in population standard deviations                |
 * | SUMMARY  | 17 x 32 x f32                  | summary     | one pattern in 28 numbers                                 |
 * | VECTOR   | 17 x 148 x f32                 | summary     | one pattern for the two-covariance models                 |
 * | PROJECTED| 3 x 17 x 148 x f32             | two-cov.    | the same in each model's own axes                         |
 * | PROJECTED_SUMS | 3 x 148 x f32         | two-cov.    | the references' sum of PROJECTED                          |
 * | EMBEDDING_INPUT | 152 x i16              | embedding   | one VECTOR in deviations of the fit, in steps of 1/512; four zeros |
 * | HIDDEN   | 256 x f32                      | embedding   | the hidden units of one pattern                           |
 * | EMBEDDED | 17 x 64 x f32                  | embedding   | the direction of each pattern                             |
 * | EMBEDDED_MEAN | 64 x f32                  | embedding   | the references' mean of EMBEDDED                          |
 * | PACKED_MEANS | 508 x i16                  | profile-template | the references' means of PROJECTED and EMBEDDED, rounded |
 * | HOLD_COUNTS | 336 x u16                   | clock-tick  | the references' holds of each millisecond                 |
 * | CENTRED  | 17 x 148 x f32                 | two-cov.    | VECTOR less a model's mean                                |
 * | AXES     | 3 x 3 x 148 x f32              | two-cov.    | shrinkage, spread and prior gain for a number of others   |
 * | AXES_USED| 3 x i32                        | model       | number of axes of each two-covariance model that separate people |
 * | LANES    | 17 x 128 x 4 x f32             | features    | Z by press: its hold and the three times that lead to it  |
 * | EFFECTS  | (1,024 + 128 + 128) x 4 x f32  | template    | the user's effects per pair context, first and second key |
 * | SEEN     | the same shape                 | template    | occurrences of each in the references                     |
 * | SUMS     | the same shape                 | template    | scratch of one fitting pass, zero between passes          |
 * | PLACES   | 2,048 x 4 x u16                | template    | bytes from EFFECTS to the three effects of each press of the references, and slot x 128 + press |
 * | VARIANCES| 7 x 4 x f32                    | model       | the variance components, one lane per kind of time        |
 * | POPULATION | 1,024 x 2 x 4 x f32        | model       | means and inverse SDs of each context, one lane per kind of time |
 * | TEMPLATE | 6 x 4 x f32                    | template    | offset, its variance, mean, deviation, events, sessions   |
 * | PAIR_IDS | 128 x 128 x u16                | alignment   | key pair to its number among the references' pairs, 0 if none |
 * | IDS      | 17 x 128 x u16                 | alignment   | that number of each press                                 |
 * | FIRST_AT | 17 x 2,048 x u8                | alignment   | 1 + index of the first press of a pair in a slot, 0 if none |
 * | NEXT_AT  | 17 x 128 x u8                  | alignment   | 1 + index of the next press of the same pair, 0 if none   |
 * | MATCHES  | 17 x 128 x u8                  | alignment   | the reference's press aligned with each press, 255 if none |
 * | STATS    | 32 x 4 x f32                   | measure     | one pattern against a template                            |
 * | BASELINE | 32 x 3 x 4 x f32               | reference-baseline | mean, least and most of STATS of each reference against the others |
 * | SORTED   | 128 x f32                      | all         | scratch for quantiles                                     |
 * | SCRATCH  | 3 x 128 x 4 x f32              | measure     | expectation, variance and deviation of each press         |
 * | FEATURES | 768 x f32                      | compare     | the comparison in numbers, input of the fusion trees      |
 * | LIVENESS | 128 x f32                      | liveness    | a pattern's bot signs, input of the liveness trees        |
 * | NEVER    | 1 x f32                        | constant    | -Infinity: a leaf compares it with its own value          |
 * | CHAIN_HEADS | 128 x 128 x u16             | forgery     | key pair to the references' last press of it, 0 if none; zero between calls |
 * | CHAIN_NEXT  | 17 x 128 x u16              | forgery     | the previous press of the same pair, slot x 128 + press   |
 * | KEY_HEADS, KEY_NEXT | 128 and 17 x 128 x u16 | forgery  | the same by key                                           |
 * | HABITS   | 17 x 40 x f32                  | forgery     | each pattern compared with the references except itself   |
 * | PREPARED | 8 + 2,456 + 16 x (272 + 4,504) | profile-template, host | a score's inputs from the references (table in `profile-template.ts`) |
 * | RESULT   | 8 x f64                        | index       | result of `score` (table in `index.ts`)                   |
 * | EXPLAINED| 128 x 4 x 4 x f32              | explain     | the contribution of each press of the probe (table in `explain.ts`) |
 * | BODY     | 512 KiB and 64 zero bytes      | host        | a request body, verbatim                                  |
 * | KEYS_OF_KEY_CODES | 256 x u8              | host        | index in the key table of each legacy key code            |
 * | KNOWN_CODES | 256 x 24                    | key-identity | codes of the key table, hashed                           |
 * | OTHER_CODES | 64 x 24                     | key-identity | codes that only this body uses                           |
 * | EVENTS   | 1,200 x 32                     | scan        | key events as sent (format in `presses.ts`)               |
 * | RECORDS  | 600 x 24                       | scan        | key records                                               |
 * | PRESSES  | 1,200 x 24                     | presses     | key presses that the events form                          |
 * | OPEN_FIRST, OPEN_LAST | 2 x 1,346 x u16   | presses     | presses of each key that have no keyup yet                |
 * | TIMES    | 500 x 2 x f64                  | presses     | press and release of each press, ms since the first press |
 * | SCANNED  | 62 x i32                       | scan        | the other fields of the body (table in `scan.ts`)         |
 * | MARK     | 112                            | replay-mark, host | keys, and the replay mark (table in `replay-mark.ts`) |
 * | MARK_CELLS | 500 x 2 x i32                | replay-mark | input of the hash                                         |
 * | MARK_LOGS | 500 x f64                     | replay-mark | logarithms of the intervals, then of the holds            |
 * | MARK_BORDERS, MARK_MULTIPLIERS | 14 x f64, 16 x u64 | replay-mark | cell borders and multipliers of the windows' hash |
 * | MARK_LEAST | 8 x u64                      | replay-mark | least hashes of windows, ascending                        |
 * | PROBE_SKETCH | 385                        | host        | the probe's sketch (format in `sketch.ts`)                |
 * | KNOWN_SKETCHES | 80 x 385                 | host        | sketches of the member's known patterns, one after another |
 * | STEP_LOGS | 256 x 2 x f32                 | departures  | logarithm of a hold and of an interval of each step       |
 * | DEPARTURES | 128 x 2 x f32                | departures  | hold and interval of each press of the probe              |
 * | KEY_MEANS | 128 x 4 x f32                 | departures  | the member's mean hold and interval of each key, and its presses |
 * | PAIR_MEANS | 128 x 4 x f32                | departures  | the same of each key pair, at the probe's first press of it |
 * | SKETCH_STARTS | 81 x u32                  | departures  | address of each pattern's sketch                          |
 * | MATCHES_FIRST | 82 x u32                  | departures  | each known pattern's first match                          |
 * | COPY_MATCHES | 16,384 x 48                | departures  | presses of known patterns with a key pair of the probe (format in `departures.ts`) |
 * | PRESS_MATCHES | 128 x u16                 | departures  | 1 + last match of each press of the probe, 0 if none      |
 * | PAIR_NEXT | 128 x u8                      | departures  | next press of the same pair in the probe, 0 if none       |
 * | RUN_ENDS | 128 x u32                      | departures  | 1 + last match of each press of the probe within a pattern |
 * | SOURCE_WEIGHTS | 81 x 4 x f32             | sources     | how much of the probe each known pattern has explained    |
 * | OWN_SHARES | 128 x 4 x f32                | sources     | probability that each press of the probe is the member's own |
 * | CELLS | 2 x 144 x u8                      | positions   | cells of the holds and intervals of one pattern           |
 * | PRESS_GAINS | 128 x 2 x 16 x i8           | positions   | gain of each press of the probe from a hold and an interval in each cell |
 * | POSITION_SCORES | 81 x i32                | positions   | best score of each known pattern                          |
 * | COPIED   | 64                             | copies      | result of `copies` (table in `copies.ts`)                 |
 * | SYNTHESIS | 160 x f32                     | synthesis   | a pattern's bot signs, and its signs against the known patterns, input of the synthesis trees |
 * | SKETCH_OF_KNOWN | 24 x u32                | known-patterns | addresses of the latest confirmed patterns' sketches      |
 * | KEY_SUMS | 128 x 4 x f32                  | known-patterns | hold, interval and presses of each key in them            |
 * | PAIR_SUMS | 2 x 4,096 x 4 x f32           | known-patterns | the same of each key pair, with the pair; then their shrunk means |
 * | KNOWN_LEFT | 24 x 128 x 2 x f32           | known-patterns | hold and interval of each press, less the means, in standard deviations |
 * | LEFT     | 128 x 2 x f32                  | synthesis-signs | the same for the probe                                    |
 * | PLACES_OF_PROBE, KNOWN_PLACES | 160 x 2 x i16 | place-search | the same in units, for the probe and for one pattern     |
 * | PROBE_KEYS, KNOWN_KEYS | 160 x u8         | place-search | their keys                                                |
 *
 * A host checks LAYOUT_VERSION before it uses any address.
 */
export const LAYOUT_VERSION: i32 = 11

/** A profile is full at 10 references; 16 leave room for an organization that raises the target. */
export const REFERENCES_MAX: i32 = 16
export const SLOTS: i32 = REFERENCES_MAX + 1
/** Bound of a typing pattern. */
export const KEYS_MAX: i32 = 500
/** Presses compared. The model is fitted on patterns of 25 to 50 presses; beyond 128 the means hardly change (not measured). */
export const COMPARED_MAX: i32 = 128
export const KEY_KINDS: i32 = 128
export const CONTEXTS_MAX: i32 = 1024
export const FEATURE_KINDS: i32 = 4
export const SUMMARY_SIZE: i32 = 28
export const SUMMARY_STRIDE: i32 = 32
/** Filled dimensions of VECTOR, a multiple of four for SIMD. */
export const VECTOR_SIZE: i32 = 148
export const VECTOR_STRIDE: i32 = 148
/** Numbers of a pattern's embedding. */
export const EMBEDDING_SIZE: i32 = 64
export const FEATURES_MAX: i32 = 768
export const IDS_MAX: i32 = 2048
export const LIVENESS_MAX: i32 = 128
export const KNOWN_SKETCHES_MAX: i32 = 80
export const HABITS_STRIDE: i32 = 40
export const SYNTHESIS_MAX: i32 = 160
/** Most confirmed patterns, the latest, that a probe is compared with in `synthesis.ts`. Each costs 0.6 us. */
export const SYNTHESIS_KNOWN_MAX: i32 = 24

/** 4 + 500 x 9 bytes, rounded up to a multiple of 512. */
export const SAMPLE_BYTES: i32 = 4608
export const MODEL_BYTES_MAX: i32 = 4 * 1024 * 1024
/** Bounds of a request body and of its lists. */
export const BODY_BYTES_MAX: i32 = 512 * 1024
export const KEY_EVENTS_MAX: i32 = 1200
export const KEY_RECORDS_MAX: i32 = 600

export const MODEL: usize = memory.data(4194304, 16)
export const SAMPLES: usize = memory.data(78336, 16)
export const COUNTS: usize = memory.data(68, 16)
export const KEYS: usize = memory.data(2176, 16)
export const PAIRS: usize = memory.data(4352, 16)
export const RAW: usize = memory.data(34816, 16)
export const Z: usize = memory.data(34816, 16)
export const SUMMARY: usize = memory.data(2176, 16)
export const VECTOR: usize = memory.data(10064, 16)
export const PROJECTED: usize = memory.data(30192, 16)
export const PROJECTED_SUMS: usize = memory.data(1776, 16)
export const EMBEDDING_INPUT: usize = memory.data(304, 16)
export const HIDDEN: usize = memory.data(1024, 16)
export const EMBEDDED: usize = memory.data(4352, 16)
export const EMBEDDED_MEAN: usize = memory.data(256, 16)
export const PACKED_MEANS: usize = memory.data(1016, 16)
export const LANES: usize = memory.data(34816, 16)
export const HOLD_COUNTS: usize = memory.data(672, 16)
export const CENTRED: usize = memory.data(10064, 16)
export const AXES: usize = memory.data(5328, 16)
export const AXES_USED: usize = memory.data(12, 16)
export const EFFECTS: usize = memory.data(20480, 16)
export const SEEN: usize = memory.data(20480, 16)
export const SUMS: usize = memory.data(20480, 16)
export const PLACES: usize = memory.data(16384, 16)
export const VARIANCES: usize = memory.data(112, 16)
export const POPULATION: usize = memory.data(32768, 16)
export const TEMPLATE: usize = memory.data(96, 16)
export const PAIR_IDS: usize = memory.data(32768, 16)
export const IDS: usize = memory.data(4352, 16)
export const FIRST_AT: usize = memory.data(34816, 16)
export const NEXT_AT: usize = memory.data(2176, 16)
export const MATCHES: usize = memory.data(2176, 16)
export const STATS: usize = memory.data(512, 16)
export const BASELINE: usize = memory.data(1536, 16)
export const SORTED: usize = memory.data(512, 16)
export const SCRATCH: usize = memory.data(6144, 16)
export const FEATURES: usize = memory.data(3072, 16)
export const LIVENESS: usize = memory.data(512, 16)
export const SYNTHESIS: usize = memory.data(640, 16)
/** Within 64 KiB of FEATURES, like LIVENESS and SYNTHESIS: a tree node stores the address of its input as a 16-bit offset. */
export const NEVER: usize = memory.data<f32>([-Infinity], 16)
export const CHAIN_HEADS: usize = memory.data(32768, 16)
export const CHAIN_NEXT: usize = memory.data(4352, 16)
export const KEY_HEADS: usize = memory.data(256, 16)
export const KEY_NEXT: usize = memory.data(4352, 16)
export const HABITS: usize = memory.data(2720, 16)
export const PREPARED: usize = memory.data(78880, 16)
export const RESULT: usize = memory.data(64, 16)
export const EXPLAINED: usize = memory.data(8192, 16)
export const BODY: usize = memory.data(524352, 16)
export const KEYS_OF_KEY_CODES: usize = memory.data(256, 16)
export const KNOWN_CODES: usize = memory.data(6144, 16)
export const OTHER_CODES: usize = memory.data(1536, 16)
export const EVENTS: usize = memory.data(38400, 16)
export const RECORDS: usize = memory.data(14400, 16)
export const PRESSES: usize = memory.data(28800, 16)
export const OPEN_FIRST: usize = memory.data(2692, 16)
export const OPEN_LAST: usize = memory.data(2692, 16)
export const TIMES: usize = memory.data(8000, 16)
export const SCANNED: usize = memory.data(248, 16)
export const MARK: usize = memory.data(112, 16)
export const MARK_CELLS: usize = memory.data(4000, 16)
export const MARK_LOGS: usize = memory.data(4000, 16)
export const MARK_BORDERS: usize = memory.data(112, 16)
export const MARK_MULTIPLIERS: usize = memory.data(128, 16)
export const MARK_LEAST: usize = memory.data(64, 16)
export const PROBE_SKETCH: usize = memory.data(385, 16)
export const KNOWN_SKETCHES: usize = memory.data(30800, 16)
export const STEP_LOGS: usize = memory.data(2048, 16)
export const DEPARTURES: usize = memory.data(1024, 16)
export const KEY_MEANS: usize = memory.data(2048, 16)
export const PAIR_MEANS: usize = memory.data(2048, 16)
export const SKETCH_STARTS: usize = memory.data(324, 16)
export const MATCHES_FIRST: usize = memory.data(328, 16)
export const COPY_MATCHES: usize = memory.data(786432, 16)
export const PRESS_MATCHES: usize = memory.data(256, 16)
export const PAIR_NEXT: usize = memory.data(128, 16)
export const RUN_ENDS: usize = memory.data(512, 16)
export const SOURCE_WEIGHTS: usize = memory.data(1296, 16)
export const OWN_SHARES: usize = memory.data(2048, 16)
export const CELLS: usize = memory.data(288, 16)
export const PRESS_GAINS: usize = memory.data(4096, 16)
export const POSITION_SCORES: usize = memory.data(324, 16)
export const COPIED: usize = memory.data(64, 16)
export const SKETCH_OF_KNOWN: usize = memory.data(96, 16)
export const KEY_SUMS: usize = memory.data(2048, 16)
export const PAIR_SUMS: usize = memory.data(131072, 16)
export const KNOWN_LEFT: usize = memory.data(24576, 16)
export const LEFT: usize = memory.data(1024, 16)
export const PLACES_OF_PROBE: usize = memory.data(640, 16)
export const KNOWN_PLACES: usize = memory.data(640, 16)
export const PROBE_KEYS: usize = memory.data(160, 16)
export const KNOWN_KEYS: usize = memory.data(160, 16)

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
function pairAt(slot: i32, index: i32): i32 {
  return <i32>load<u16>(PAIRS + ((<usize>(slot * COMPARED_MAX + index)) << 1))
}

/** Number of events of a kind: one hold per press, and one fewer of each other kind. */
// @ts-ignore: decorator
@inline
export function eventsOf(slot: i32, kind: i32): i32 {
  return kind == 0 ? countOf(slot) : countOf(slot) - 1
}

/** The four kinds of one press: its hold, and the three times from the previous press to it (zero at the first press). */
// @ts-ignore: decorator
@inline
export function lanesAt(slot: i32, press: i32): usize {
  return LANES + (<usize>(slot * COMPARED_MAX + press) << 4)
}

/** Weights of the four lanes of a press: the first press has only a hold. */
// @ts-ignore: decorator
@inline
export function lanesOf(press: i32): v128 {
  return press == 0 ? f32x4(1, 0, 0, 0) : f32x4.splat(1)
}

/** The previous key; 0 at the first press. */
// @ts-ignore: decorator
@inline
export function firstKeyOf(slot: i32, press: i32): i32 {
  return press == 0 ? 0 : keyAt(slot, press - 1)
}

/** Pair context from the previous press to this one; 0 (all) at the first press. */
// @ts-ignore: decorator
@inline
export function pairContextAt(slot: i32, press: i32): i32 {
  return press == 0 ? 0 : pairAt(slot, press - 1)
}
