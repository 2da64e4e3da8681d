import type { TypingSession } from '../../src/calibration/dataset.js'
import { isCopy, mayBeCopy } from '../../src/scoring/copy-evidence.js'
import type { Kernel } from '../../src/scoring/kernel.js'
import { BOT_LIKELIHOOD, REPLAY_DISTANCE_MS, searchCopy } from '../../src/scoring/score.js'
import { confirmed, sketchOf } from '../../src/scoring/sketch.js'
import { sampleOf } from './forgeries.js'

/** Decision threshold of the default policy. */
const THRESHOLD = 0.5

/** A person as the service or an attacker knows them. */
export interface Profile {
  /** Made from the references. */
  readonly template: Uint8Array
  /** Patterns that a new one may copy, by `knownOf`. */
  readonly known: readonly Uint8Array[]
}

export function profileOf(
  kernel: Kernel,
  references: readonly TypingSession[],
  known: readonly TypingSession[],
): Profile {
  const samples = references.map(sampleOf)
  for (const first of samples.slice(0, 1)) kernel.score(first, samples)
  return { template: kernel.templateOf(samples.length), known: known.map((one) => knownOf(one)) }
}

/** A known pattern; `failed` if it is neither a reference nor that of a successful sign-in. */
export const knownOf = (session: TypingSession, failed?: 'failed'): Uint8Array => {
  const sketch = sketchOf(sampleOf(session))
  return failed === undefined ? confirmed(sketch) : sketch
}

export const copiesKnown = (kernel: Kernel, session: TypingSession, known: Profile['known']): boolean =>
  isCopy(searchCopy(kernel, sketchOf(sampleOf(session)), known))

interface Verdict {
  readonly copy: boolean
  readonly bot: boolean
  readonly confidence: number
  readonly authenticated: boolean
}

/** Decides like a verify under the default policy, without the replay index. A pattern that may be a copy is challenged. */
export function judge(kernel: Kernel, { template, known }: Profile, session: TypingSession): Verdict {
  const { botLikelihood, confidence, replayDistanceMs } = kernel.scoreTemplate(sampleOf(session), template)
  const evidence = searchCopy(kernel, sketchOf(sampleOf(session)), known)
  const copy = isCopy(evidence) || replayDistanceMs < REPLAY_DISTANCE_MS
  const bot = Math.max(botLikelihood, kernel.synthesized()) > BOT_LIKELIHOOD
  const authenticated = !copy && !mayBeCopy(evidence) && !bot && (confidence ?? 0) >= THRESHOLD
  return { copy, bot, confidence: confidence ?? 0, authenticated }
}
