/** A data key was wrapped under a key that this process does not hold. */
export class KeyNotHeld extends Error {
  override readonly name = 'KeyNotHeld'
  constructor(
    readonly keyId: string,
    place: string,
  ) {
    super(
      `a data key is wrapped under the encryption key ${keyId}, which this process does not hold: add it to ${place}`,
    )
  }
}

/** Wraps data keys under an encryption key and binds them to the organization. The wrapped bytes begin with the key's id. */
export interface KeyWrap {
  /** A fresh data key under the present encryption key. */
  wrapNew(organizationId: string): Uint8Array
  /** The data key, 32 bytes. Throws `KeyNotHeld`, or an Error if the bytes were altered or belong to another organization. */
  unwrap(organizationId: string, wrapped: Uint8Array): Uint8Array
  /** Wraps the data key again, under the present encryption key. Throws as `unwrap` does. */
  rewrap(organizationId: string, wrapped: Uint8Array): Uint8Array
}
