import type { StoredKey } from '../inspection.js'
import type { KeyRing } from '../key-ring.js'
import { createKeyWrap } from './key-wrap-aes.js'

/** One encryption key that wraps stored data keys. */
export interface KeyUse {
  readonly id: string
  readonly organizations: number
  /** `wrong`: the key is held, but a data key does not open with it. */
  readonly state: 'held' | 'missing' | 'wrong'
}

/** Checks every data key with the held keys (null if none are held). Returns uses in the order in which their keys first occur. */
export function keyUses(stored: readonly StoredKey[], keys: KeyRing | null): KeyUse[] {
  const opens = ({ organizationId, wrapped }: StoredKey): boolean => {
    try {
      return keys !== null && createKeyWrap(keys).unwrap(organizationId, wrapped).length > 0
    } catch {
      return false
    }
  }
  return [...new Set(stored.map(({ keyId }) => keyId))].map((id) => {
    const under = stored.filter(({ keyId }) => keyId === id)
    const missing = (keys?.find(id) ?? null) === null
    return { id, organizations: under.length, state: missing ? 'missing' : under.every(opens) ? 'held' : 'wrong' }
  })
}
