import { createHmac } from 'node:crypto'

/** A key that wraps data keys. */
export interface EncryptionKey {
  /** 16 hex characters that identify the key and reveal nothing of its bytes. */
  readonly id: string
  /** 32 bytes. */
  readonly bytes: Uint8Array
}

/** The keys with which a process may wrap and unwrap data keys. */
export interface KeyRing {
  /** The place where a missing key must be added, for messages. */
  readonly place: string
  /** The key that wraps now. */
  present(): EncryptionKey
  /** Every key held now, the present one first. */
  held(): readonly EncryptionKey[]
  /** Finds a key; reads the stored keys again before it returns null. */
  find(id: string): EncryptionKey | null
  /** Null if the keys come from elsewhere, such as the environment, and cannot be changed here. */
  readonly change: KeyChange | null
}

/** Changes of a ring that stores its keys itself. Callers run one at a time (`WrappedKeyStore.alone`). */
interface KeyChange {
  /** Makes a new key the present one and keeps the others; does nothing if a change was begun and not ended. */
  begin(): 'begun' | 'resumed'
  /** Drops every key except the present one and those in use; returns the dropped ids. */
  end(inUse: ReadonlySet<string>): string[]
}

const KEY_BYTES = 32
const ID_CHARACTERS = 16

/** Throws if `bytes` is not 32 bytes long; the message does not contain them. */
export function encryptionKey(bytes: Uint8Array): EncryptionKey {
  if (bytes.length !== KEY_BYTES) throw new Error(`an encryption key of ${bytes.length} bytes: ${KEY_BYTES} are needed`)
  const id = createHmac('sha256', bytes).update('keystride key id 1').digest('hex').slice(0, ID_CHARACTERS)
  return { id, bytes }
}

/** A ring of given keys, such as those of the environment. */
export function givenKeys(present: Uint8Array, previous: readonly Uint8Array[] = []): KeyRing {
  const first = encryptionKey(present)
  const others = previous.map(encryptionKey).filter(({ id }) => id !== first.id)
  const keys = [first, ...others]
  return {
    place: 'ENCRYPTION_KEY or ENCRYPTION_KEY_PREVIOUS',
    present: () => first,
    held: () => keys,
    find: (id) => keys.find((key) => key.id === id) ?? null,
    change: null,
  }
}
