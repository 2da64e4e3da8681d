import { REPLAY_NEAR_MS, type ReplayMark } from '../../domain/replay.js'
import { sharesPartInTurns } from '../../scoring/alignment.js'
import type { Scoring } from '../../scoring/scoring.js'
import { sketchOf } from '../../scoring/sketch.js'
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
  { who, member }: AttemptContext,
  input: AttemptInput,
  { replayMark }: AttemptRecord,
): Promise<ReplayCheck> {
  if (input.kind === 'code' || replayMark === null) return { seenBefore: true, cleared: [] }
  const mark = await clearedMark(needs, who.organizationId, member.id, { body: input.body, replayMark })
  return { seenBefore: mark === null, cleared: mark?.cleared ?? [] }
}

/** One in a thousand typings of the same words by one person shares a band with a new one. One comparison costs 0.3 ms. */
export const COMPARED_MAX = 64
/**
 * A removed pattern cannot be compared. It counts as repeated if its mark shares this many bands, as marks of other members
 * do: 44 to 75 of 100 edited copies share them.
 */
const BANDS_OF_REMOVED = 2
/**
 * Chance below which a pattern counts as a copy of one that its mark resembles, which may be another person's. Among 23,000 pairs of
 * people who typed the same words, one in 10,000 had a chance of 0.0001.
 */
const SUSPECT_CHANCE = 0.00002

/**
 * Compares a pattern with the patterns that its mark resembles. Returns the mark with these cleared if the pattern differs
 * from each; null if it repeats one of them or a part of one, if there are none or more than `COMPARED_MAX`.
 */
export async function clearedMark(
  needs: ReplayCheckNeeds,
  organizationId: string,
  memberId: string,
  { body, replayMark: mark }: { readonly body: Uint8Array; readonly replayMark: ReplayMark },
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
    const result = await needs.scoring.score({ body, references: [reference], known: [sketchOf(reference)], replayKey })
    if (!result.ok || result.reading.nReferencesUsed === 0) return null
    const { replayDistanceMs, sample, copy } = result.reading
    const isNear = replayDistanceMs < REPLAY_NEAR_MS || (copy?.chance ?? 1) < SUSPECT_CHANCE
    if (isNear || (await sharesPartInTurns(sample, reference))) return null
  }
  return { ...mark, cleared: known.map(({ exact }) => exact) }
}
