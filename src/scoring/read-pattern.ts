import type { KeyPress } from '../domain/key-press.js'
import { readTypingPattern } from '../domain/typing-pattern.js'
import { patternMetadata, type TypingMetadata } from './pattern-metadata.js'
import { encodeSample, type Sample } from './sample.js'

/** The parts of a typing pattern within all bounds that scoring needs. */
export interface PatternRead {
  readonly ok: true
  /** Format of `encodeSample`; the caller owns it. */
  readonly sample: Uint8Array
  readonly nKeydowns: number
  readonly mode: Sample['mode']
  /** Canonical. */
  readonly ip: string | null
  /** As sent, not normalized. */
  readonly memberRef: string | null
  readonly metadata: TypingMetadata
  /** Alternating press and release times, ms since the first press, as doubles. */
  readonly times: Float64Array
  /** One sentence for each misspelt field; null if none. */
  readonly warnings: readonly string[] | null
}

/**
 * Reads a body by the contract (`readTypingPattern`). The kernel's scanner must agree with the contract. A body that the
 * scanner declines is read here, and is accepted or refused with a reason.
 */
export function readByContract(body: Uint8Array): PatternRead | { readonly ok: false; readonly message: string } {
  const read = readTypingPattern(body)
  if (!read.ok) return read
  const { pattern, presses, warnings } = read
  return {
    ok: true,
    sample: encodeSample(presses, pattern.agent.mode),
    nKeydowns: presses.length,
    mode: pattern.agent.mode,
    ip: pattern.ip ?? null,
    memberRef: pattern.member_ref ?? null,
    metadata: patternMetadata(pattern),
    times: pressTimes(presses),
    warnings: warnings.length > 0 ? warnings : null,
  }
}

/** Alternating press and release times. */
export const pressTimes = (presses: readonly KeyPress[]): Float64Array =>
  Float64Array.from(presses.flatMap(({ pressMs, releaseMs }) => [pressMs, releaseMs]))
