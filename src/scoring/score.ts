import { type CopyEvidence, copyEvidence, isCopy } from './copy-evidence.js'
import type { Kernel, KernelScore } from './kernel.js'
import { readByContract } from './read-pattern.js'
import { readableSample } from './sample.js'
import type { ProfileTemplate, ScoringResult, ScoringTask } from './scoring.js'
import { sketchOf } from './sketch.js'

/** A pattern above this counts as a bot; the model's liveness curve is calibrated to it. */
export const BOT_LIKELIHOOD = 0.5
/**
 * A probe nearer than this to a reference, shift and scale removed, is a copy of the reference. A copy with a jitter of 5 ms
 * on each event has a distance of 2.5 ms; the nearest sincere patterns of the same passphrase are further apart (see the
 * model card).
 */
export const REPLAY_DISTANCE_MS = 4

/**
 * Reads one request body and scores it, in the worker or, with inline scoring, on the caller's thread. The kernel scans the
 * bytes; the contract reads a body that the kernel declines, and returns the same result or a message.
 * References that this version cannot read are skipped. The result can be sent between threads; an exception is a bug.
 */
export function scoreTask(kernel: Kernel, task: ScoringTask): ScoringResult {
  const read = kernel.scan(task.body) ?? readByContract(task.body)
  if (!read.ok) return read
  const { sample, nKeydowns, mode, ip, memberRef, metadata, warnings } = read
  // A copy of a reference to the millisecond also has signs of forgery; it counts as a replay and not as a bot.
  const { found, confidence, adapted, nReferences, newTemplate } = compare(kernel, sample, task)
  const replayOfReference = found.replayDistanceMs < REPLAY_DISTANCE_MS
  const sketch = sketchOf(sample)
  const copy = searchCopy(kernel, sketch, task.known ?? [])
  // Only a verdict counts: the likelihood against the references alone can be computed again from a trace.
  const synthesized = copy === null ? 0 : kernel.synthesized()
  const botLikelihood = synthesized > BOT_LIKELIHOOD ? Math.max(found.botLikelihood, synthesized) : found.botLikelihood
  return {
    ok: true,
    reading: {
      sample,
      nKeydowns,
      mode,
      ip,
      memberRef,
      metadata,
      replayMark: kernel.mark(read.times, task.replayKey),
      botLikelihood,
      bot: botLikelihood > BOT_LIKELIHOOD && !replayOfReference && !isCopy(copy),
      replayOfReference,
      copy,
      sketch,
      replayDistanceMs: found.replayDistanceMs,
      confidence,
      confidenceAdapted: adapted ? found.confidence : null,
      nReferencesUsed: nReferences,
      newTemplate,
      warnings,
    },
  }
}

/** Searches the known patterns for the original of a sketch; null without known patterns. */
export function searchCopy(kernel: Kernel, sketch: Uint8Array, known: readonly Uint8Array[]): CopyEvidence | null {
  const found = kernel.copies(sketch, known)
  return found === null ? null : copyEvidence(found.measures, found.patterns)
}

interface Comparison {
  /** Against all references. */
  readonly found: KernelScore
  /** Against the enrolled references. */
  readonly confidence: number | null
  readonly adapted: boolean
  readonly nReferences: number
  readonly newTemplate: ProfileTemplate | null
}

function compare(kernel: Kernel, sample: Uint8Array, task: ScoringTask): Comparison {
  if (task.template !== undefined) {
    const { bytes, n } = task.template
    const found = kernel.scoreTemplate(sample, bytes, task.sitting)
    const newTemplate = task.returnTemplate === true ? { bytes: kernel.templateOf(n), n } : null
    return { found, confidence: found.confidence, adapted: false, nReferences: n, newTemplate }
  }
  const enrolled = task.references.filter(readableSample).slice(-kernel.referencesMax)
  const adaptive = (task.adaptive ?? []).filter(readableSample).slice(0, kernel.referencesMax - enrolled.length)
  const adapted = enrolled.length > 0 && adaptive.length > 0
  const all = adapted ? [...enrolled, ...adaptive] : enrolled
  const found = kernel.score(sample, all, task.sitting)
  // `score` has filled the slots, the enrolled references first.
  const confidence = adapted ? kernel.scoreRead(enrolled.length, task.sitting).confidence : found.confidence
  const newTemplate =
    task.returnTemplate === true && enrolled.length > 0
      ? { bytes: kernel.templateOf(enrolled.length), n: enrolled.length }
      : null
  return { found, confidence, adapted, nReferences: all.length, newTemplate }
}
