import type { ReplayMark } from '../domain/replay.js'
import type { TypingMetadata } from './pattern-metadata.js'

/**
 * References as the kernel keeps them for the next score, which then costs half: bytes for the kernel and model that made
 * them. Biometric data like the samples that they hold: memory only, never stored.
 */
export interface ProfileTemplate {
  readonly bytes: Uint8Array
  /** References in it. */
  readonly n: number
}

/** One request body to read, and what to compare it with. */
export interface ScoringTask {
  /** The request body as it arrived; it is copied, so that the caller may have it scored again. */
  readonly body: Uint8Array
  /** Samples of the member's enrolled references, as `PatternReading.sample` gave them; empty to read without comparing. */
  readonly references: readonly Uint8Array[]
  /** Samples of the adaptive references, compared with in a second score. */
  readonly adaptive?: readonly Uint8Array[]
  /** In place of both: the template that an earlier result kept of the enrolled references. */
  readonly template?: ProfileTemplate
  /** The result is to bring the template of the enrolled references. */
  readonly keep?: boolean
  /** 32 bytes; keys the replay mark. */
  readonly replayKey: Uint8Array
}

/** What one typing pattern says. */
export interface PatternReading {
  /** Compact binary form of the pattern: the only thing that is kept of it, and only encrypted. */
  readonly sample: Uint8Array
  readonly nKeydowns: number
  readonly mode: 'visible' | 'sensitive'
  /** End user's address as relayed, in its canonical spelling; null where absent. */
  readonly ip: string | null
  /** `member_ref` of the body as it came, not normalized; null where absent. */
  readonly memberRef: string | null
  /** What the pattern says besides the typing. */
  readonly metadata: TypingMetadata
  readonly replayMark: ReplayMark
  /** 0 (a person) to 1 (a machine). */
  readonly botLikelihood: number
  /** A machine typed it; false for a copy of a reference, which is a replay. */
  readonly bot: boolean
  /** A reference is this very pattern, give or take a few ms. */
  readonly replayOfReference: boolean
  /**
   * Mean difference of all times to those of the nearest reference, shift and scale removed; infinite without references, and
   * where none is as long as this within two presses and typed at between a fifth and five times the speed.
   */
  readonly replayDistanceMs: number
  /** Calibrated probability from 0 to 1 that the enrolled references' owner typed this; null without references. */
  readonly confidence: number | null
  /** The same against the enrolled and the adaptive references together; null without adaptive ones. */
  readonly confidenceAdapted: number | null
  /** Enrolled and adaptive. */
  readonly nReferencesUsed: number
  /** Where the task asked for it; null without references. */
  readonly kept: ProfileTemplate | null
  /** Of unknown fields that are known ones in another spelling, a sentence each; null where there are none. */
  readonly warnings: readonly string[] | null
}

export type ScoringResult =
  | { readonly ok: true; readonly reading: PatternReading }
  /** The body is no acceptable typing pattern; the message names the field or bound, never a value. */
  | { readonly ok: false; readonly message: string }

export interface Scoring {
  score(task: ScoringTask): Promise<ScoringResult>
  /** Memory of one scoring kernel; of several the largest that was seen. It does not grow. */
  memoryBytes(): number
  close(): Promise<void>
}
