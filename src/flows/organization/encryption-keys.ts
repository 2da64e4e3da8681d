import { ExpectedFault } from '../../base/expected-fault.js'
import type { KeyRing } from '../../storage/key-ring.js'
import { KeyNotHeld, type KeyWrap } from '../../storage/key-wrap.js'
import type { KeyCounts, WrappedKey, WrappedKeyStore } from '../../storage/wrapped-key.js'

interface Needs {
  readonly keyRing: KeyRing
  readonly keyWrap: KeyWrap
  readonly wrappedKeys: WrappedKeyStore
}

/** The use of one encryption key. */
export interface KeyUse {
  readonly id: string
  readonly organizations: number
  readonly state: 'present' | 'previous' | 'missing'
}

export interface Rotation {
  /** Id of the present key, which wraps the data keys. */
  readonly keyId: string
  readonly rewrapped: number
  /** Organizations whose data key this rotation found under the present key, or a concurrent one put there. */
  readonly alreadyCurrent: number
  /** Organizations whose data key is still under another key: it was wrapped during the rotation, or is unreadable. */
  readonly left: number
  /** Ids of organizations whose data key was altered: it does not open although its encryption key is held. */
  readonly unreadable: readonly string[]
  /** Ids of the keys removed from the ring. */
  readonly dropped: readonly string[]
}

interface EncryptionKeyFlows {
  /** The present key first, then the other held keys, then the missing keys. */
  status(): Promise<KeyUse[]>
  /**
   * Wraps every data key under the present key. A ring that stores its keys itself first makes a new present key. A kill at
   * any point leaves everything readable, and the next run continues. Throws before any change if a key is missing.
   */
  rotate(onProgress: (rewrapped: number) => void): Promise<Rotation>
}

const PAGE = 100

export function createEncryptionKeyFlows(needs: Needs): EncryptionKeyFlows {
  const { keyRing, wrappedKeys } = needs
  return {
    status: async () => usesOf(keyRing, await wrappedKeys.counts()),

    async rotate(onProgress) {
      await wrappedKeys.alone((counts) => {
        refuseMissing(keyRing, counts)
        keyRing.change?.begin()
      })
      const { rewrapped, unreadable } = await rewrapAll(needs, onProgress)
      return wrappedKeys.alone((counts) => {
        const dropped = keyRing.change?.end(new Set(counts.keys())) ?? []
        const { id: keyId } = keyRing.present()
        const current = counts.get(keyId) ?? 0
        const left = [...counts.values()].reduce((sum, n) => sum + n, 0) - current
        return { keyId, rewrapped, alreadyCurrent: Math.max(0, current - rewrapped), left, unreadable, dropped }
      })
    },
  }
}

/** Throws, with the ids of the missing keys, if no key of this process opens an organization's data key. */
export async function requireKeys({ keyRing, wrappedKeys }: Omit<Needs, 'keyWrap'>): Promise<void> {
  refuseMissing(keyRing, await wrappedKeys.counts())
}

async function rewrapAll(needs: Needs, onProgress: (rewrapped: number) => void) {
  const unreadable: string[] = []
  let rewrapped = 0
  let after: string | null = null
  for (;;) {
    const page = await needs.wrappedKeys.wrappedByOthers(needs.keyRing.present().id, after, PAGE)
    for (const one of page) {
      const outcome = await rewrapOne(needs, one)
      if (outcome === 'rewrapped') rewrapped += 1
      if (outcome === 'unreadable') unreadable.push(one.organizationId)
      after = one.organizationId
    }
    if (page.length > 0) onProgress(rewrapped)
    if (page.length < PAGE) return { rewrapped, unreadable }
  }
}

/** Compares and swaps, so the wrapping of a faster concurrent rotation stays. */
async function rewrapOne(needs: Needs, { organizationId, wrapped }: WrappedKey) {
  const { keyWrap, wrappedKeys } = needs
  let dataKey: Uint8Array
  let after: Uint8Array
  try {
    dataKey = keyWrap.unwrap(organizationId, wrapped)
    after = keyWrap.rewrap(organizationId, wrapped)
  } catch (error) {
    return error instanceof KeyNotHeld ? 'overtaken' : 'unreadable'
  }
  const swapped = await wrappedKeys.swap(organizationId, wrapped, after, (stored) => {
    if (Buffer.compare(keyWrap.unwrap(organizationId, stored), dataKey) !== 0) {
      throw new Error(`the stored data key of ${organizationId} differs from the one before: nothing was changed`)
    }
  })
  return swapped ? 'rewrapped' : 'overtaken'
}

function usesOf(keyRing: KeyRing, counts: KeyCounts): KeyUse[] {
  const held = keyRing.held().map(({ id }, i) => ({
    id,
    organizations: counts.get(id) ?? 0,
    state: i === 0 ? ('present' as const) : ('previous' as const),
  }))
  const missing = [...counts]
    .filter(([id]) => !held.some((key) => key.id === id))
    .map(([id, organizations]) => ({ id, organizations, state: 'missing' as const }))
  return [...held, ...missing]
}

function refuseMissing(keyRing: KeyRing, counts: KeyCounts): void {
  const uses = usesOf(keyRing, counts)
  const missing = uses.filter(({ state }) => state === 'missing')
  if (missing.length === 0) return
  const total = uses.reduce((sum, { organizations }) => sum + organizations, 0)
  const list = missing.map(({ id, organizations }) => `${id} (data keys of ${organizations} of ${total} organizations)`)
  const held = uses.filter(({ state }) => state !== 'missing').map(({ id }) => id)
  throw new ExpectedFault(
    `encryption key missing: ${list.join(', ')}; held: ${held.join(', ')}. Add the missing keys to ${keyRing.place}`,
  )
}
