import type { KeyPress } from '../domain/key-press.js'
import { readTypingPattern } from '../domain/typing-pattern.js'
import { patternMetadata, type TypingMetadata } from './pattern-metadata.js'
import { encodeSample, type Sample } from './sample.js'

/** What scoring takes of a typing pattern within all bounds. */
export interface PatternRead {
  readonly ok: true
  /** See `encodeSample`; the caller's. */
  readonly sample: Uint8Array
  readonly nKeydowns: number
  readonly mode: Sample['mode']
  /** Canonical. */
  readonly ip: string | null
  /** As it came, not normalized. */
  readonly memberRef: string | null
  readonly metadata: TypingMetadata
  /** Press and release of each press in turn, ms since the first press, as doubles. */
  readonly times: Float64Array
  /** Of misspelt fields; null where there are none. */
  readonly warnings: readonly string[] | null
}

/**
 * Reads a body by the contract (`readTypingPattern`): what the kernel's scanner must agree with, and what reads the bodies
 * that it declines, to accept them all the same or to say what is wrong.
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

/** Press and release of each press in turn. */
export const pressTimes = (presses: readonly KeyPress[]): Float64Array =>
  Float64Array.from(presses.flatMap(({ pressMs, releaseMs }) => [pressMs, releaseMs]))
