import { parse } from 'uuid'
import type { Member } from '../../domain/account.js'
import { confirmed, sketchOf } from '../../scoring/sketch.js'
import { bytesOf, EMPTY_ROW, hasId, idsIn, latestOf, type SketchRow, sketchesIn } from './sketch-row.js'

/** The patterns that a member's next pattern is compared with. */
export interface KnownPatterns {
  readonly references: SketchRow
  /** Patterns of successful sign-ins. */
  readonly confirmed: SketchRow
  /** Patterns of failed attempts and of refused calls, which anybody can send. */
  readonly failed: SketchRow
  /** Complete up to this version of the member's attempts, in this generation and version of the profile. */
  readonly attemptsVersion: number
  readonly generation: number
  readonly profileVersion: number
  /** Time of the latest tested or refused pattern, epoch ms; 0 without any. */
  readonly latestAt: number
  /** Number of entries in the tail of the stored comparison set, or more; null if the stored set is missing or out of date. */
  readonly nInTail: number | null
}

/**
 * Patterns kept per member in addition to the references, of which there are 16 at most: together the kernel's `KNOWN_SKETCHES_MAX`. Failures
 * have places of their own, so that they replace no success.
 */
export const CONFIRMED_MAX = 48
export const FAILED_MAX = 16
/** Approximate size without sketches and ids. */
const OBJECT_BYTES = 600

/** A reference's sample, opened. */
export interface OpenedReference {
  readonly id: string
  readonly sample: Uint8Array
}

/** A tested or refused pattern, opened. */
export interface Sketched {
  readonly id: string
  readonly at: number
  readonly authenticated: boolean
  readonly sketch: Uint8Array
}

const rowsOf = ({ references, confirmed, failed }: KnownPatterns): readonly SketchRow[] => [
  references,
  confirmed,
  failed,
]

/** The ids of all known patterns, in the order in which they are compared. */
export const idsOfKnown = (known: KnownPatterns): string[] => rowsOf(known).flatMap(idsIn)

/** The sketches of all known patterns, row by row. */
export const sketchesOfKnown = (known: KnownPatterns): Uint8Array[] => rowsOf(known).map(sketchesIn)

/** Approximate bytes of memory. */
export const bytesOfKnown = (known: KnownPatterns): number =>
  rowsOf(known).reduce((sum, row) => sum + bytesOf(row), OBJECT_BYTES)

/** The references alone, before any attempt. */
export const knownReferences = (
  { generation, profileVersion }: Pick<Member, 'generation' | 'profileVersion'>,
  enrolled: readonly OpenedReference[],
): KnownPatterns => ({
  references: latestOf(
    EMPTY_ROW,
    enrolled.map(({ id, sample }) => ({ id: parse(id), sketch: confirmed(sketchOf(sample)) })),
    enrolled.length,
    false,
  ),
  confirmed: EMPTY_ROW,
  failed: EMPTY_ROW,
  attemptsVersion: 0,
  generation,
  profileVersion,
  latestAt: 0,
  nInTail: null,
})

/** Adds patterns, each as the latest of its kind, in place of the oldest if there are too many. */
export function withPatterns(known: KnownPatterns, added: readonly Sketched[]): KnownPatterns {
  const fresh = added
    .map((one) => ({ ...one, id: parse(one.id) }))
    .filter(({ id }) => !rowsOf(known).some((row) => hasId(row, id)))
  if (fresh.length === 0) return known
  const successes = fresh.filter(({ authenticated }) => authenticated)
  return {
    ...known,
    confirmed: latestOf(
      known.confirmed,
      successes.map(({ id, sketch }) => ({ id, sketch: confirmed(sketch) })),
      CONFIRMED_MAX,
    ),
    failed: latestOf(
      known.failed,
      fresh.filter(({ authenticated }) => !authenticated),
      FAILED_MAX,
    ),
    latestAt: Math.max(known.latestAt, ...fresh.map(({ at }) => at)),
  }
}
