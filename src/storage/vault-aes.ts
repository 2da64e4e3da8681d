import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Binding, Vault } from './vault.js'

export interface VaultNeeds {
  /** The deployment's `ENCRYPTION_KEY`, 32 bytes. */
  readonly kek: Uint8Array
  /** An organization's wrapped data key as it is stored; null for an unknown organization. */
  wrappedKeyOf(organizationId: string): Promise<Uint8Array | null>
}

const VERSION = 1
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + NONCE_BYTES
/** Data keys kept in memory, about 100 bytes each; the oldest goes first. */
const CACHED_MAX = 10_000

/**
 * Envelope encryption with AES-256-GCM (NIST SP 800-38D) and random nonces: a data key an organization, wrapped by
 * the KEK under the organization's id. Rejects with a plain Error where bytes do not open; a data key that does not
 * open says that `ENCRYPTION_KEY` is another one than it was wrapped with.
 */
export function createVault({ kek, wrappedKeyOf }: VaultNeeds): Vault {
  if (kek.length !== KEY_BYTES) throw new Error(`ENCRYPTION_KEY holds ${kek.length} bytes, ${KEY_BYTES} are needed`)
  const dataKeys = new Map<string, Promise<Uint8Array>>()

  async function unwrap(organizationId: string): Promise<Uint8Array> {
    const wrapped = await wrappedKeyOf(organizationId)
    if (wrapped === null) throw new Error('this organization has no data key')
    const dataKey = decrypt(kek, keyContext(organizationId), wrapped)
    if (dataKey !== null) return dataKey
    throw new Error(
      "ENCRYPTION_KEY does not open this organization's data key: start with the key that it was created under",
    )
  }

  function dataKeyOf(organizationId: string): Promise<Uint8Array> {
    const cached = dataKeys.get(organizationId)
    if (cached !== undefined) return cached
    const dataKey = unwrap(organizationId)
    dataKeys.set(organizationId, dataKey)
    // A failure is not kept: the database may have been away.
    dataKey.catch(() => dataKeys.delete(organizationId))
    const [oldest] = dataKeys.keys()
    if (dataKeys.size > CACHED_MAX && oldest !== undefined) dataKeys.delete(oldest)
    return dataKey
  }

  return {
    newWrappedKey: (organizationId) => encrypt(kek, keyContext(organizationId), randomBytes(KEY_BYTES)),

    seal: async (organizationId, binding, plain) =>
      encrypt(await dataKeyOf(organizationId), sampleContext(organizationId, binding), plain),

    async open(organizationId, binding, sealed) {
      const plain = decrypt(await dataKeyOf(organizationId), sampleContext(organizationId, binding), sealed)
      if (plain === null) throw new Error('a sealed sample was altered, or moved from where it was stored')
      return plain
    },

    replayKey: async (organizationId) =>
      new Uint8Array(hkdfSync('sha256', await dataKeyOf(organizationId), '', 'keystride replay marks 1', KEY_BYTES)),
  }
}

/** What a text is bound to: JSON of an array, so that no two lists of parts are ever the same bytes. */
const context = (...parts: (string | number)[]): Uint8Array => Buffer.from(JSON.stringify(parts))
const keyContext = (organizationId: string) => context('keystride data key', organizationId)
const sampleContext = (organizationId: string, { accountId, memberId, patternId, generation }: Binding) =>
  context('keystride sample', organizationId, accountId, memberId, patternId, generation)

function encrypt(key: Uint8Array, bound: Uint8Array, plain: Uint8Array): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound)
  return Buffer.concat([Uint8Array.of(VERSION), nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Null where the bytes are no such text under this key and binding. */
function decrypt(key: Uint8Array, bound: Uint8Array, sealed: Uint8Array): Uint8Array | null {
  if (sealed.length < HEAD_BYTES + TAG_BYTES || sealed[0] !== VERSION) return null
  const end = sealed.length - TAG_BYTES
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, HEAD_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(bound).setAuthTag(sealed.subarray(end))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES, end)), decipher.final()])
  } catch {
    return null
  }
}
