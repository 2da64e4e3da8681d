import type { ReplayMark } from '../domain/replay.js'

/** A typing pattern of a call that neither recorded an attempt with it nor stored it as a reference. */
export interface RefusedPattern {
  readonly id: string
  readonly memberId: string
  /** The generation of the member's profile that `sealed` is bound to. */
  readonly generation: number
  /** Encrypted sample; open it with the vault. */
  readonly sealed: Uint8Array
  readonly replayMark: ReplayMark
  readonly createdAt: number
  /** The pattern's sealed entry for the member's comparison set (`SetChange`). */
  readonly entry: Uint8Array
}

export interface RefusedPatternStore {
  /**
   * Keeps the pattern and its replay mark, and increments the member's `attemptsVersion`, so that an attempt that was
   * compared without the pattern is compared again. Does nothing if the mark is known, if `REFUSED_PER_DAY` patterns of the
   * member were kept in the 24 hours before, or if the member is gone. A crash of the server may lose the latest ones.
   */
  remember(organizationId: string, pattern: RefusedPattern): Promise<void>
}
