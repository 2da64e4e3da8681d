import { REPLAY_NEAR_MS, type ReplayMark } from '../../domain/replay.js'
import { sharesPartInTurns } from '../../scoring/alignment.js'
import { isCopy } from '../../scoring/copy-evidence.js'
import type { Scoring } from '../../scoring/scoring.js'
import { sketchOf } from '../../scoring/sketch.js'
import type { AttemptRecord, AuthenticationStore } from '../../storage/authentication.js'
import type { Vault } from '../../storage/vault.js'
import type { AttemptContext, AttemptInput } from './attempt-context.js'
import type { Comparison } from './compare.js'
import { sketchesOfKnown } from './known-patterns.js'

export interface ReplayCheckNeeds {
  readonly authentications: Pick<AuthenticationStore, 'resembling'>
  readonly vault: Vault
  readonly scoring: Scoring
  readonly now: () => number
}

/** Result of comparing an attempt's pattern with the replay index. */
export interface ReplayCheck {
  /** The index holds the pattern itself. */
  readonly seenBefore: boolean
  /** `exact` of the marks that resemble this pattern's mark but belong to other typings. */
  readonly cleared: readonly Uint8Array[]
}

export const NOT_SEEN: ReplayCheck = { seenBefore: false, cleared: [] }

/** An attempt whose record was refused as a replay. */
interface Refused {
  readonly input: AttemptInput
  readonly comparison: Comparison
  readonly record: AttemptRecord
}

/** Compares the pattern of a refused attempt with the patterns that have similar marks. */
export async function checkReplay(
  needs: ReplayCheckNeeds,
  { who, member }: AttemptContext,
  { input, comparison, record: { replayMark } }: Refused,
): Promise<ReplayCheck> {
  if (input.kind === 'code' || comparison.method !== 'biometric' || replayMark === null)
    return { seenBefore: true, cleared: [] }
  const suspect = { body: input.body, replayMark, known: sketchesOfKnown(comparison.known) }
  const mark = await clearedMark(needs, who.organizationId, member.id, suspect)
  return { seenBefore: mark === null, cleared: mark?.cleared ?? [] }
}

/** One in a thousand typings of the same words by one person shares a band with a new one. One comparison costs 0.3 ms. */
export const COMPARED_MAX = 64
/**
 * A removed pattern cannot be compared. It counts as repeated if its mark shares this many bands, as marks of other members
 * do: 44 to 75 of 100 edited copies share them.
 */
const BANDS_OF_REMOVED = 2

interface Suspect {
  readonly body: Uint8Array
  readonly replayMark: ReplayMark
  /** Sketches of the member's known patterns, from which its means are taken. Without them, only near copies are found. */
  readonly known?: readonly Uint8Array[]
}

/**
 * Compares a pattern with the patterns that its mark resembles. Returns the mark with these cleared if the pattern differs
 * from each. Returns null if the pattern repeats one of them or a part of one, and if there are none or more than `COMPARED_MAX`.
 */
export async function clearedMark(
  needs: ReplayCheckNeeds,
  organizationId: string,
  memberId: string,
  { body, replayMark: mark, known: ofMember = [] }: Suspect,
): Promise<ReplayMark | null> {
  const within = { now: needs.now(), most: COMPARED_MAX + 1 }
  const known = await needs.authentications.resembling(organizationId, memberId, mark, within)
  if (known.length === 0 || known.length > COMPARED_MAX) return null
  if (known.some(({ exact }) => Buffer.compare(exact, mark.exact) === 0)) return null
  const replayKey = await needs.vault.replayKey(organizationId)
  for (const { pattern, nBandsShared } of known) {
    if (pattern === null) {
      if (nBandsShared >= BANDS_OF_REMOVED) return null
      continue
    }
    const { binding, sealed } = pattern
    const reference = await needs.vault.open(organizationId, binding, sealed)
    const searched = ofMember.length === 0 ? [] : [...ofMember, sketchOf(reference)]
    const result = await needs.scoring.score({ body, references: [reference], known: searched, replayKey })
    if (!result.ok || result.reading.nReferencesUsed === 0) return null
    const { replayDistanceMs, sample, copy } = result.reading
    const isNear = replayDistanceMs < REPLAY_NEAR_MS || isCopy(copy)
    if (isNear || (await sharesPartInTurns(sample, reference))) return null
  }
  return { ...mark, cleared: known.map(({ exact }) => exact) }
}
