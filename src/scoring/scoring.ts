import type { ReplayMark } from '../domain/replay.js'
import type { Sitting } from '../domain/sitting.js'
import type { CopyEvidence } from './copy-evidence.js'
import type { TypingMetadata } from './pattern-metadata.js'

/**
 * References as the kernel prepared them for the next score, which then costs half. Only the same kernel and model can use
 * the bytes. They are biometric data like the samples in them.
 */
export interface ProfileTemplate {
  readonly bytes: Uint8Array
  /** Number of references in it. */
  readonly n: number
}

/** One request body to read, and the patterns to compare it with. */
export interface ScoringTask {
  /** The request body as received. It is copied, so the caller may use it again. */
  readonly body: Uint8Array
  /** Samples of the member's enrolled references from `PatternReading.sample`; empty to read without a comparison. */
  readonly references: readonly Uint8Array[]
  /** Samples of the adaptive references, for a second score. */
  readonly adaptive?: readonly Uint8Array[]
  /** The template of the enrolled references from an earlier result, which replaces `references` and `adaptive`. */
  readonly template?: ProfileTemplate
  /** When the body was typed, for a comparison; `same` if absent. */
  readonly sitting?: Sitting
  /** Asks for the whole template of the enrolled references in the result. */
  readonly returnTemplate?: boolean
  /** Sketches of the member's known patterns; each row holds several, one after another. No search for copies if absent or empty. */
  readonly known?: readonly Uint8Array[]
  /** 32 bytes; keys the replay mark. */
  readonly replayKey: Uint8Array
}

/** The result of reading and scoring one typing pattern. */
export interface PatternReading {
  /** Compact binary form of the pattern: the only form that is kept, and only encrypted. */
  readonly sample: Uint8Array
  readonly nKeydowns: number
  readonly mode: 'visible' | 'sensitive'
  /** End user's address as relayed, in its canonical spelling; null if absent. */
  readonly ip: string | null
  /** `member_ref` of the body as sent, not normalized; null if absent. */
  readonly memberRef: string | null
  /** Fields of the pattern other than the typing. */
  readonly metadata: TypingMetadata
  readonly replayMark: ReplayMark
  /** 0 (a person) to 1 (a machine). */
  readonly botLikelihood: number
  /** A machine typed it; false for a copy of a reference, which is a replay. */
  readonly bot: boolean
  /** A reference is the same pattern within a few ms. */
  readonly replayOfReference: boolean
  /** Null without known patterns. */
  readonly copy: CopyEvidence | null
  /** Sketch of the pattern (`sketchOf`), for comparison with later ones. */
  readonly sketch: Uint8Array
  /**
   * Mean difference of all times from those of the nearest reference, shift and scale removed. Infinite unless a reference has
   * a length within two presses of the pattern's and a speed between a fifth and five times its speed.
   */
  readonly replayDistanceMs: number
  /** Calibrated probability from 0 to 1 that the owner of the enrolled references typed this; null without references. */
  readonly confidence: number | null
  /** `confidence` against the enrolled and the adaptive references together; null without adaptive ones. */
  readonly confidenceAdapted: number | null
  /** Counts enrolled and adaptive references. */
  readonly nReferencesUsed: number
  /** The template if the task asked for it; null otherwise or without references. */
  readonly newTemplate: ProfileTemplate | null
  /** One sentence for each unknown field that is a known one in another spelling; null if none. */
  readonly warnings: readonly string[] | null
}

export type ScoringResult =
  | { readonly ok: true; readonly reading: PatternReading }
  /**
   * The body is not an acceptable typing pattern; the message names the field or bound, never a value. `touched` is the reading of a
   * sound pattern from a touch screen.
   */
  | { readonly ok: false; readonly message: string; readonly touched?: PatternReading }

export interface Scoring {
  /** Identity of the kernel and the model, 8 bytes. Templates of another identity cannot be used. */
  readonly id: Uint8Array
  score(task: ScoringTask): Promise<ScoringResult>
  /** Memory of one scoring kernel, bytes; the largest one seen if there are several. It does not grow. */
  memoryBytes(): number
  close(): Promise<void>
}
