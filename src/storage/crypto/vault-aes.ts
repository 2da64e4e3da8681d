import { hkdfSync } from 'node:crypto'
import { KeyNotHeld, type KeyWrap } from '../key-wrap.js'
import type { Binding, PiecePlace, Purpose, Vault } from '../vault.js'
import { context, decrypt, encrypt } from './aes-gcm.js'

interface VaultNeeds {
  readonly keyWrap: KeyWrap
  /** An organization's wrapped data key as it is stored; null for an unknown organization. */
  wrappedKeyOf(organizationId: string): Promise<Uint8Array | null>
}

/** An organization's data key and the keys derived from it. */
interface Keys {
  readonly data: Uint8Array
  readonly replay: Uint8Array
  readonly pepper: Uint8Array
}

const KEY_BYTES = 32
/** Organizations whose keys are cached, about 500 bytes each; the oldest is dropped first. */
const CACHED_MAX = 10_000

/**
 * AES-256-GCM under each organization's data key. Unwrapped data keys are cached, because a rotation of the encryption key changes
 * the wrapping and never the data key. Rejects with a plain Error if bytes or a data key do not open.
 */
export function createVault({ keyWrap, wrappedKeyOf }: VaultNeeds): Vault {
  const cache = new Map<string, Promise<Keys>>()

  /** Reads the row again if its key is not held, because a rotation may have ended between the reads of row and keys. */
  async function dataKeyOf(organizationId: string): Promise<Uint8Array> {
    let refused: Uint8Array | null = null
    for (;;) {
      const wrapped = await wrappedKeyOf(organizationId)
      if (wrapped === null) throw new Error('this organization has no data key')
      try {
        return keyWrap.unwrap(organizationId, wrapped)
      } catch (error) {
        const seenBefore = refused !== null && Buffer.compare(refused, wrapped) === 0
        if (!(error instanceof KeyNotHeld) || seenBefore) throw error
        refused = wrapped
      }
    }
  }

  function keysOf(organizationId: string): Promise<Keys> {
    const cached = cache.get(organizationId)
    if (cached !== undefined) return cached
    const keys = dataKeyOf(organizationId).then(derived)
    cache.set(organizationId, keys)
    // A failure is not cached, because the database may have been unavailable.
    keys.catch(() => cache.delete(organizationId))
    const [oldest] = cache.keys()
    if (cache.size > CACHED_MAX && oldest !== undefined) cache.delete(oldest)
    return keys
  }

  return {
    seal: async (organizationId, binding, plain) =>
      encrypt((await keysOf(organizationId)).data, sampleContext(organizationId, binding), plain),

    async open(organizationId, binding, sealed) {
      const plain = decrypt((await keysOf(organizationId)).data, sampleContext(organizationId, binding), sealed)
      if (plain === null) throw new Error('a sealed sample was altered, or moved from where it was stored')
      return plain
    },

    sealFor: async (organizationId, purpose, plain) =>
      encrypt((await keysOf(organizationId)).data, purposeContext(organizationId, purpose), plain),

    async openFor(organizationId, purpose, sealed) {
      const plain = decrypt((await keysOf(organizationId)).data, purposeContext(organizationId, purpose), sealed)
      if (plain === null) throw new Error(`a sealed ${purpose[0]} was altered, or moved from where it was stored`)
      return plain
    },

    sealPiece: async (organizationId, place, plain) =>
      encrypt(pieceKey(await keysOf(organizationId), place), pieceContext(organizationId, place), plain),

    async openPiece(organizationId, place, sealed) {
      const key = pieceKey(await keysOf(organizationId), place)
      const plain = decrypt(key, pieceContext(organizationId, place), sealed)
      if (plain === null) throw new Error('a piece of an archive was altered, or moved from where it was stored')
      return plain
    },

    sealSecret: async (organizationId, purpose, secret) =>
      encrypt((await keysOf(organizationId)).data, secretContext(organizationId, purpose), Buffer.from(secret)),

    async openSecret(organizationId, purpose, sealed) {
      const plain = decrypt((await keysOf(organizationId)).data, secretContext(organizationId, purpose), sealed)
      if (plain === null) throw new Error('a sealed secret was altered, or moved from where it was stored')
      return Buffer.from(plain).toString()
    },

    replayKey: async (organizationId) => (await keysOf(organizationId)).replay,
    codePepper: async (organizationId) => (await keysOf(organizationId)).pepper,
  }
}

/** HKDF-SHA256 (RFC 5869), with a label per use. */
function derived(data: Uint8Array): Keys {
  const from = (label: string) => new Uint8Array(hkdfSync('sha256', data, '', label, KEY_BYTES))
  return { data, replay: from('keystride replay marks 1'), pepper: from('keystride security codes 1') }
}

const sampleContext = (organizationId: string, { accountId, memberId, patternId, generation }: Binding) =>
  context('keystride sample', organizationId, accountId, memberId, patternId, generation)

const purposeContext = (organizationId: string, [name, ...owner]: Purpose) =>
  context(`keystride ${name}`, organizationId, ...owner)

const pieceKey = ({ data }: Keys, { secret }: PiecePlace) =>
  new Uint8Array(hkdfSync('sha256', data, secret, 'keystride export archives 1', KEY_BYTES))
const pieceContext = (organizationId: string, { archiveId, n }: PiecePlace) =>
  context('keystride export piece', organizationId, archiveId, n)

const secretContext = (organizationId: string, purpose: string) => context('keystride secret', organizationId, purpose)
