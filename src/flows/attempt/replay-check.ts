import { REPLAY_NEAR_MS, type ReplayMark } from '../../domain/replay.js'
import type { PatternReading, Scoring } from '../../scoring/scoring.js'
import type { AuthenticationStore } from '../../storage/authentication.js'
import type { Vault } from '../../storage/vault.js'

export interface KnownPatternNeeds {
  readonly authentications: Pick<AuthenticationStore, 'resembling'>
  readonly vault: Vault
  readonly scoring: Scoring
  readonly now: () => number
}

/**
 * Where everybody types the same words a million typings leave some 14 whose marks are alike. Each costs a tenth of a
 * millisecond to look at.
 */
const LOOKED_AT_MAX = 64

/**
 * Lays a pattern beside those that its mark resembles. The mark with these cleared where it is another typing than each of
 * them; null where it is one of them over again, where one cannot be looked at, and where there are too many.
 */
export async function clearedMark(
  needs: KnownPatternNeeds,
  organizationId: string,
  body: Uint8Array,
  mark: ReplayMark,
): Promise<ReplayMark | null> {
  const known = await needs.authentications.resembling(organizationId, mark, needs.now(), LOOKED_AT_MAX + 1)
  const patterns = known.flatMap(({ pattern }) => pattern ?? [])
  if (known.length === 0 || known.length > LOOKED_AT_MAX || patterns.length < known.length) return null
  if (known.some(({ exact }) => Buffer.compare(exact, mark.exact) === 0)) return null
  const replayKey = await needs.vault.replayKey(organizationId)
  for (const { binding, sealed } of patterns) {
    const reference = await needs.vault.open(organizationId, binding, sealed)
    const result = await needs.scoring.score({ body, references: [reference], replayKey })
    // Marks know no scale: where the distance is infinite the one may be the other, stretched further than is looked.
    if (!result.ok || !isAnother(result.reading)) return null
  }
  return { ...mark, cleared: known.map(({ exact }) => exact) }
}

const isAnother = ({ nReferencesUsed, replayDistanceMs }: PatternReading): boolean =>
  nReferencesUsed === 1 && replayDistanceMs >= REPLAY_NEAR_MS && Number.isFinite(replayDistanceMs)
