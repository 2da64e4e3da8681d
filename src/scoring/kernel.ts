import type { ReplayMark } from '../domain/replay.js'
import type { Sitting } from '../domain/sitting.js'
import type { CopyMeasures } from './copy-evidence.js'
import {
  hostKernel,
  type KernelHost,
  type KernelInstance,
  MARK_BANDS_AT,
  MARK_EXACT_AT,
  writeSample,
} from './kernel-instance.js'
import { scanBody } from './kernel-scan.js'
import type { PatternRead } from './read-pattern.js'

/** The kernel's result for one probe. */
export interface KernelScore {
  /** Calibrated probability, 0 to 1; null without references. */
  readonly confidence: number | null
  /** 0 to 1; above 0.5 the probe counts as a bot. */
  readonly botLikelihood: number
  /** Mean absolute timing difference to the nearest reference, ms; Infinity if none can be aligned with the probe. */
  readonly replayDistanceMs: number
  /** Fusion and liveness before calibration, for fitting the calibration. */
  readonly fused: number
  readonly liveness: number
}

/** The measures of a search for a copy, and the known pattern that each measure belongs to. */
interface CopySearch {
  readonly measures: CopyMeasures
  readonly patterns: Readonly<Record<keyof CopyMeasures, number>>
}

export interface Kernel {
  readonly referencesMax: number
  /** Memory of the current instance, bytes; fixed at compile time. */
  memoryBytes(): number
  /**
   * Reads a request body like `readByContract`. Null if the scanner declines the body; the contract may still accept it.
   * Copies its input; `times` is a view that the next scan overwrites.
   */
  scan(body: Uint8Array): PatternRead | null
  /**
   * The replay mark of a pattern of 1 to 500 presses, from alternating press and release times, ms on any clock. Without
   * `replayKey` (32 bytes) an attacker cannot compute a mark, or aim a jitter at the borders of its cells.
   */
  mark(times: Float64Array, replayKey: Uint8Array): ReplayMark
  /**
   * Compares a pattern with the first `KNOWN_SKETCHES_MAX` of the member's known patterns. All are sketches of `sketchOf`; a
   * row of `known` holds several, one after another. Null without known patterns.
   */
  copies(sketch: Uint8Array, known: readonly Uint8Array[]): CopySearch | null
  /** Probability, 0 to 1, that a press was taken from the known patterns (`copies`), for each press of a sketch. */
  copiedPresses(sketch: Uint8Array, known: readonly Uint8Array[]): number[]
  /**
   * Likelihood, 0 to 1, that the last scored pattern was drawn from a forger's knowledge of the confirmed patterns of the last
   * `copies`. Above 0.5 the pattern counts as a bot. 0 if there are too few references or patterns.
   */
  synthesized(): number
  /**
   * The signs that `synthesized` uses, of slot 0 or of a reference against the other patterns. The view is empty if there are too
   * few patterns, and the next call overwrites it.
   */
  examineKnown(slot: number): Float32Array
  /**
   * Scores a sample against samples of the references (the first `referencesMax` of them). Copies its input. `sitting` is that
   * of the probe, `same` by default; the confidence depends on it.
   */
  score(probe: Uint8Array, references: readonly Uint8Array[], sitting?: Sitting): KernelScore
  /** Writes a sample into a slot and reads it, to score many probes against the same references. */
  read(slot: number, sample: Uint8Array): void
  /** `score` for slots that `read` has filled: the probe in slot 0, the references in slots 1 to `references`. */
  scoreRead(references: number, sitting?: Sitting): KernelScore
  /**
   * The template of the last score's references, slots 1 to `references`: their samples and the part of a score that depends
   * on them alone. Valid for this module and model only; under 8 KiB for five references of 50 keys. The caller owns it.
   */
  templateOf(references: number): Uint8Array
  /** `score` against a template of `templateOf` or `fittedTemplate`, bit for bit, in less time. */
  scoreTemplate(probe: Uint8Array, template: Uint8Array, sitting?: Sitting): KernelScore
  /** Builds the kernel's template from slots 1 to `references`. */
  enroll(references: number): void
  /** Comparison features of slot 0 and the template: a view that the next call overwrites. */
  compare(references: number): Float32Array
  /** Bot signs of slot 0, and signs of forgery from slots 1 to `references`: a view that the next call overwrites. */
  examine(references: number): Float32Array
  /**
   * The contribution of each press of slot 0 against the template of the last score: 16 numbers a press (table in
   * `assembly/explain.ts`), a view that the next call overwrites.
   */
  explain(): Float32Array
  /** Regions of a slot: views that the next call overwrites. */
  vector(slot: number): Float32Array
  summary(slot: number): Float32Array
  /** Row of log times (`raw`) or normalised times (`z`): kind 0 hold, 1 press-press, 2 release-press, 3 release-release. */
  row(which: 'raw' | 'z', slot: number, kind: number): Float32Array
}

/**
 * The host of the scoring kernel: one WASM instance with static memory; a call allocates only its result. `wasm` is
 * build/scoring.wasm, `model` a model file that must not change afterwards. Throws if they do not fit each other. A call throws
 * `KernelTrap` if the kernel traps; the next call uses a fresh instance.
 */
export function createKernel(wasm: Uint8Array, model: Uint8Array): Kernel {
  const host = hostKernel(wasm, model)
  const { current, guarded } = host
  // The addresses are the same in every instance of a module.
  const { address } = current()
  const [referencesMax, compared] = [address('REFERENCES_MAX'), address('COMPARED_MAX')]
  const view = (at: number, length: number) => new Float32Array(current().surface.memory.buffer, at, length)
  return {
    referencesMax,
    memoryBytes: () => current().surface.memory.buffer.byteLength,
    scan: (body) => scanBody(host, body),
    mark: (times, replayKey) => markOf(host, times, replayKey),
    copies: (sketch, known) => copiesOf(host, sketch, known),
    copiedPresses(sketch, known) {
      copiesOf(host, sketch, known)
      const lane = current().copiedFrom[LANE] ?? 0
      const own = view(address('OWN_SHARES'), 4 * (sketch[0] ?? 0))
      return Array.from({ length: own.length / 4 }, (_, press) => (press === 0 ? 0 : 1 - (own[4 * press + lane] ?? 1)))
    },
    synthesized: () => guarded((surface) => surface.synthesized()),
    examineKnown(slot) {
      const length = guarded((surface) => surface.examineKnown(slot))
      return view(address('SYNTHESIS'), length)
    },
    score(probe, references, sitting) {
      const used = Math.min(references.length, referencesMax)
      writeSample(current(), 0, probe)
      for (let i = 0; i < used; i++) writeSample(current(), i + 1, references[i] ?? probe)
      guarded((surface) => surface.score(used, sittingCode(sitting)))
      return scoreFound(current(), used)
    },
    read(slot, sample) {
      writeSample(current(), slot, sample)
      guarded((surface) => surface.readOne(slot))
    },
    scoreRead(references, sitting) {
      guarded((surface) => surface.scoreRead(references, sittingCode(sitting)))
      return scoreFound(current(), references)
    },
    templateOf(references) {
      const length = guarded((surface) => surface.keepTemplate(references))
      const { bytes, preparedAt } = current()
      return bytes.slice(preparedAt, preparedAt + length)
    },
    scoreTemplate(probe, template, sitting) {
      writeSample(current(), 0, probe)
      current().bytes.set(template, current().preparedAt)
      guarded((surface) => surface.scoreKept(sittingCode(sitting)))
      return scoreFound(current(), 1)
    },
    enroll: (references) => guarded((surface) => surface.enroll(references)),
    compare(references) {
      const length = guarded((surface) => surface.compare(references))
      return view(address('FEATURES'), length)
    },
    examine(references) {
      const length = guarded((surface) => surface.examineProbe(references))
      return view(address('LIVENESS'), length)
    },
    explain() {
      const presses = guarded((surface) => surface.explain())
      return view(address('EXPLAINED'), 16 * presses)
    },
    vector: (slot) => view(address('VECTOR') + slot * address('VECTOR_STRIDE') * 4, address('VECTOR_SIZE')),
    summary: (slot) => view(address('SUMMARY') + slot * address('SUMMARY_STRIDE') * 4, address('SUMMARY_SIZE')),
    row: (which, slot, kind) =>
      view(address(which === 'raw' ? 'RAW' : 'Z') + (slot * 4 + kind) * compared * 4, compared),
  }
}

/** `Sitting` of `assembly/model.ts`. */
const sittingCode = (sitting: Sitting | undefined): number => (sitting === 'later' ? 1 : 0)

/** Places of COPIED, in i32: the first of three patterns, and the lane of the sources (table in `assembly/copies.ts`). */
const CORRELATED = 6
const LANE = 9

function copiesOf(
  { current, guarded }: KernelHost,
  sketch: Uint8Array,
  known: readonly Uint8Array[],
): CopySearch | null {
  const { bytes, probeSketchAt, knownSketchesAt, copied, copiedFrom } = current()
  bytes.set(sketch, probeSketchAt)
  let end = knownSketchesAt
  for (const row of known) {
    bytes.set(row, end)
    end += row.length
  }
  guarded((surface) => surface.copies(end - knownSketchesAt))
  const [correlated = -1, source = -1, positioned = -1] = copiedFrom.subarray(CORRELATED, LANE)
  if (correlated < 0) return null
  const [correlation = 0, sources = 0, positions = 0] = copied
  return {
    measures: { correlation, sources, positions },
    patterns: { correlation: correlated, sources: source, positions: positioned },
  }
}

/** RESULT of the last score; without references there is no confidence. */
const scoreFound = ({ result }: KernelInstance, references: number): KernelScore => ({
  confidence: references === 0 ? null : (result[0] ?? 0),
  botLikelihood: result[1] ?? 0,
  replayDistanceMs: result[2] ?? Number.POSITIVE_INFINITY,
  fused: result[3] ?? 0,
  liveness: result[4] ?? 0,
})

function markOf({ current, guarded }: KernelHost, times: Float64Array, replayKey: Uint8Array): ReplayMark {
  const { bytes, bands, markAt } = current()
  current().times.set(times)
  bytes.set(replayKey, markAt)
  guarded((surface) => surface.mark(times.length / 2))
  const found: bigint[] = []
  for (const band of bands) found.push(band)
  return { exact: bytes.slice(markAt + MARK_EXACT_AT, markAt + MARK_BANDS_AT), bands: found }
}
