import { REPLAY_NEAR_MS, type ReplayMark } from '../../domain/replay.js'
import { sharesPart } from '../../scoring/alignment.js'
import type { Scoring } from '../../scoring/scoring.js'
import type { AttemptRecord, AuthenticationStore } from '../../storage/authentication.js'
import type { Vault } from '../../storage/vault.js'
import type { AttemptContext, AttemptInput } from './attempt-context.js'

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

/** `record` refused the attempt as a replay: compares its pattern with the patterns that have similar marks. */
export async function checkReplay(
  needs: ReplayCheckNeeds,
  { who }: AttemptContext,
  input: AttemptInput,
  { replayMark }: AttemptRecord,
): Promise<ReplayCheck> {
  if (input.kind === 'code' || replayMark === null) return { seenBefore: true, cleared: [] }
  const mark = await clearedMark(needs, who.organizationId, input.body, replayMark)
  return { seenBefore: mark === null, cleared: mark?.cleared ?? [] }
}

/** Among a million typings of the same words by different people about one shares a band with one. One comparison costs 0.3 ms. */
const COMPARED_MAX = 64
/**
 * A removed pattern cannot be compared. It counts as repeated if its mark shares this many bands: fewer than one in 25 million
 * pairs of different people do, and 44 to 75 of 100 edited copies.
 */
const BANDS_OF_REMOVED = 2

/**
 * Compares a pattern with the patterns that its mark resembles. Returns the mark with these cleared if the pattern differs
 * from each; null if it repeats one of them or a part of one, if there are none or more than `COMPARED_MAX`.
 */
export async function clearedMark(
  needs: ReplayCheckNeeds,
  organizationId: string,
  body: Uint8Array,
  mark: ReplayMark,
): Promise<ReplayMark | null> {
  const known = await needs.authentications.resembling(organizationId, mark, needs.now(), COMPARED_MAX + 1)
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
    const result = await needs.scoring.score({ body, references: [reference], replayKey })
    if (!result.ok || result.reading.nReferencesUsed === 0) return null
    const { replayDistanceMs, sample } = result.reading
    if (replayDistanceMs < REPLAY_NEAR_MS || sharesPart(sample, reference)) return null
  }
  return { ...mark, cleared: known.map(({ exact }) => exact) }
}
