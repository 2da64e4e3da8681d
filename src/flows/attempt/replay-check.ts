import { REPLAY_NEAR_MS, type ReplayMark } from '../../domain/replay.js'
import type { PatternReading, Scoring } from '../../scoring/scoring.js'
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

/** Among a million typings of the same words about 14 have similar marks. One comparison costs 0.1 ms. */
const COMPARED_MAX = 64

/**
 * Compares a pattern with the patterns that its mark resembles. Returns the mark with these cleared if the pattern differs
 * from each; null if it repeats one of them, if one cannot be compared, or if there are none or more than `COMPARED_MAX`.
 */
export async function clearedMark(
  needs: ReplayCheckNeeds,
  organizationId: string,
  body: Uint8Array,
  mark: ReplayMark,
): Promise<ReplayMark | null> {
  const known = await needs.authentications.resembling(organizationId, mark, needs.now(), COMPARED_MAX + 1)
  const patterns = known.flatMap(({ pattern }) => pattern ?? [])
  if (known.length === 0 || known.length > COMPARED_MAX || patterns.length < known.length) return null
  if (known.some(({ exact }) => Buffer.compare(exact, mark.exact) === 0)) return null
  const replayKey = await needs.vault.replayKey(organizationId)
  for (const { binding, sealed } of patterns) {
    const reference = await needs.vault.open(organizationId, binding, sealed)
    const result = await needs.scoring.score({ body, references: [reference], replayKey })
    // Marks do not depend on scale: an infinite distance may mean the same typing, stretched beyond the range compared.
    if (!result.ok || !isAnother(result.reading)) return null
  }
  return { ...mark, cleared: known.map(({ exact }) => exact) }
}

const isAnother = ({ nReferencesUsed, replayDistanceMs }: PatternReading): boolean =>
  nReferencesUsed === 1 && replayDistanceMs >= REPLAY_NEAR_MS && Number.isFinite(replayDistanceMs)
