import type { Sitting } from '../domain/sitting.js'
import { type Explanation, explanationOf } from './explanation.js'
import type { Kernel } from './kernel.js'
import { decodeSample, readableSample, type Sample } from './sample.js'
import type { Scorer, ScorerIdentity } from './scorer.js'

const TRACE_VERSION = 2

/** The scorer's result with every digit; fields as in `PatternReading` and `KernelScore`. */
interface TracedResult {
  /** Against the enrolled references; null without any. */
  readonly confidence: number | null
  /** Against enrolled and adaptive ones; null without adaptive ones. */
  readonly confidenceAdapted: number | null
  readonly botLikelihood: number
  /** Null if no reference can be aligned with the probe. */
  readonly replayDistanceMs: number | null
  /** Logit of the confidence, which keeps its digits near 0 and 1; null without references. */
  readonly fused: number | null
  readonly liveness: number
}

/**
 * The derivation of a score: enough to reproduce it bit for bit, and the evidence for and against the person. Plain JSON.
 *
 * A trace is sensitive personal data: it contains how a person types and, outside sensitive mode, which keys the person
 * pressed. It is for people who must justify a decision about that person (a help desk's supervisor, an auditor, the
 * person). It is stored sealed or not at all, and deleted with the patterns in it. It must not go into a log.
 */
export interface Trace extends ScorerIdentity {
  readonly version: typeof TRACE_VERSION
  readonly nReferences: number
  readonly nAdaptive: number
  /** Samples (`encodeSample`) in base64, in the order of scoring. */
  readonly inputs: {
    readonly probe: string
    readonly references: readonly string[]
    readonly adaptive: readonly string[]
    readonly sitting: Sitting
  }
  readonly result: TracedResult
  /** The indicators under their names in the dashboard. */
  readonly indicators: { readonly biometric: number | null; readonly bot: number }
  /** Null without references. */
  readonly explanation: Explanation | null
}

/** Inputs of a score, samples in the stored form. */
interface TracedInputs {
  readonly probe: Uint8Array
  readonly references: readonly Uint8Array[]
  readonly adaptive?: readonly Uint8Array[]
  /** `same` by default. */
  readonly sitting?: Sitting
}

/**
 * Scores samples like the scoring worker, and records the derivation. As in the worker, unreadable references are skipped,
 * and only the last `referencesMax` enrolled references are used. Throws RangeError if the probe is not a sample.
 */
export function traceOf({ kernel, identity }: Scorer, inputs: TracedInputs): Trace {
  const probe = decodeSample(inputs.probe)
  if (probe === null) throw new RangeError('the probe is not a sample this version reads')
  const references = inputs.references.filter(readableSample).slice(-kernel.referencesMax)
  const adaptive = (inputs.adaptive ?? []).filter(readableSample).slice(0, kernel.referencesMax - references.length)
  const { sitting = 'same' } = inputs
  const result = resultOf(kernel, { probe: inputs.probe, references, adaptive, sitting })
  const decoded = references.map(decodeSample).filter((sample): sample is Sample => sample !== null)
  return {
    version: TRACE_VERSION,
    ...identity,
    nReferences: references.length,
    nAdaptive: adaptive.length,
    inputs: {
      probe: base64(inputs.probe),
      references: references.map(base64),
      adaptive: adaptive.map(base64),
      sitting,
    },
    result,
    indicators: { biometric: result.confidence, bot: result.botLikelihood },
    // The last score was against the enrolled references alone, so the template in the kernel is theirs.
    explanation: references.length === 0 ? null : explanationOf(kernel.explain(), probe, decoded),
  }
}

/** Recomputes the score from a trace's inputs. Throws if another version, model or kernel made the trace. */
export function recompute({ kernel, identity }: Scorer, trace: Trace): TracedResult {
  if (trace.version !== TRACE_VERSION)
    throw new Error(`the trace has version ${String(trace.version)}, wanted ${TRACE_VERSION}`)
  for (const part of ['model', 'kernel'] as const) {
    const [was, is] = [trace[part].sha256, identity[part].sha256]
    if (was !== is) throw new Error(`the trace was made by another ${part}: SHA-256 ${was}, this one has ${is}`)
  }
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64'))
  const { probe, references, adaptive, sitting } = trace.inputs
  return resultOf(kernel, {
    probe: bytes(probe),
    references: references.map(bytes),
    adaptive: adaptive.map(bytes),
    sitting,
  })
}

function resultOf(kernel: Kernel, { probe, references, adaptive, sitting }: Required<TracedInputs>): TracedResult {
  const adapted = references.length > 0 && adaptive.length > 0
  const all = kernel.score(probe, adapted ? [...references, ...adaptive] : references, sitting)
  // `score` has filled the slots, the enrolled references first.
  const enrolled = adapted ? kernel.scoreRead(references.length, sitting) : all
  return {
    confidence: enrolled.confidence,
    confidenceAdapted: adapted ? all.confidence : null,
    botLikelihood: all.botLikelihood,
    replayDistanceMs: Number.isFinite(all.replayDistanceMs) ? all.replayDistanceMs : null,
    // Without references the kernel's `fused` is 0, which is not a logit.
    fused: enrolled.confidence === null ? null : enrolled.fused,
    liveness: all.liveness,
  }
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
