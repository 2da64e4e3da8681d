import { createHmac } from 'node:crypto'

/** A key that wraps data keys. */
export interface EncryptionKey {
  /** 16 hex characters that tell it from others and nothing about its bytes. */
  readonly id: string
  /** 32 bytes. */
  readonly bytes: Uint8Array
}

/** The keys a process may wrap and unwrap data keys with. */
export interface KeyRing {
  /** Where a missing key has to be put, for messages. */
  readonly place: string
  /** The key that wraps, as it is at this moment. */
  present(): EncryptionKey
  /** Every key held at this moment, the present one first. */
  held(): readonly EncryptionKey[]
  /** Null where the key is not held, after another look at where keys lie. */
  find(id: string): EncryptionKey | null
  /** Null where keys are given from outside, and only who gives them can change them. */
  readonly change: KeyChange | null
}

/** Changes of a ring that keeps its keys itself. Callers see to it that only one runs at a time (`WrappedKeyStore.alone`). */
interface KeyChange {
  /** Makes a new key the present one and keeps the others; does nothing where a change was begun and not ended. */
  begin(): 'begun' | 'resumed'
  /** Drops every key but the present one and those in use; gives the ids of the dropped. */
  end(inUse: ReadonlySet<string>): string[]
}

const KEY_BYTES = 32
const ID_CHARACTERS = 16

/** Throws where it is not 32 bytes; the bytes are not repeated. */
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
