import { canonicalAddress } from '../base/address.js'
import { misspelt, prepareFields } from '../base/known-fields.js'
import { type PatternMetadata, TypingPattern } from '../domain/typing-pattern.js'
import type { KernelHost, KernelInstance } from './kernel-instance.js'
import { patternMetadata } from './pattern-metadata.js'
import type { PatternRead } from './read-pattern.js'
import { sampleBytes } from './sample.js'

/** Paths of the places where unknown keys are noted, by the numbers of `assembly/unknown-keys.ts`. */
const PLACES: readonly (readonly PropertyKey[])[] = [
  [],
  ['agent'],
  ['tags', 0],
  ['kevt', 0],
  ['k', 0],
  ['m', 0],
  ['d'],
  ['d', 'uaData'],
]

/** `Kernel.scan`. */
export function scanBody({ current, guarded }: KernelHost, body: Uint8Array): PatternRead | null {
  const { bytes, scanned, samples, times, bodyAt, bodyBytesMax } = current()
  if (body.length > bodyBytesMax) return null
  bytes.set(body, bodyAt)
  const n = guarded((surface) => surface.scan(body.length))
  if (n === 0) return null
  // Sound: the scanner accepts only a string or null.
  const given = valueAt(current(), 2) as string | null
  const ip = given === null ? null : canonicalAddress(given.trim())
  if (given !== null && ip === null) return null
  return {
    ok: true,
    sample: bytes.slice(samples, samples + sampleBytes(n)),
    nKeydowns: n,
    mode: scanned[1] === 1 ? 'sensitive' : 'visible',
    ip,
    // Sound: the scanner accepts only a string or null.
    memberRef: valueAt(current(), 4) as string | null,
    metadata: patternMetadata(metadataOf(current())),
    times: times.subarray(0, 2 * n),
    warnings: scanned[12] === 0 ? null : warningsOf(current(), scanned[12] ?? 0),
  }
}

/** The value whose offset in BODY and length in bytes are at `place` of SCANNED; null if absent. The scanner has checked its JSON. */
function valueAt({ scanned, text, bodyAt }: KernelInstance, place: number): unknown {
  const at = bodyAt + (scanned[place] ?? 0)
  const length = scanned[place + 1] ?? 0
  return length === 0 ? null : JSON.parse(text.toString('utf8', at, at + length))
}

function metadataOf(instance: KernelInstance): PatternMetadata {
  const d = valueAt(instance, 10) ?? undefined
  if (instance.scanned[13] === 1) prepareFields(TypingPattern, { d })
  // Sound: the scanner has checked all three against their schemas.
  return { agent: valueAt(instance, 6), tags: valueAt(instance, 8) ?? undefined, d } as PatternMetadata
}

/** Warnings for the unknown keys of the last scan that are known keys in another spelling; null if none. */
function warningsOf({ scanned, text, bodyAt }: KernelInstance, unknown: number): readonly string[] | null {
  const warnings = new Set<string>()
  for (let i = 0; i < unknown; i++) {
    const [place = 0, at = 0, length = 0] = scanned.subarray(14 + 3 * i, 17 + 3 * i)
    const path = PLACES[place]
    const name = text.toString('utf8', bodyAt + at, bodyAt + at + length)
    const warning = path === undefined ? null : misspelt(TypingPattern, path, name)
    if (warning !== null) warnings.add(warning)
  }
  return warnings.size === 0 ? null : [...warnings]
}
