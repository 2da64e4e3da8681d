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

/** Wraps data keys under an encryption key, whose id begins the bytes, and binds them to the organization. */
export interface KeyWrap {
  /** A fresh data key under the present encryption key. */
  wrapNew(organizationId: string): Uint8Array
  /** 32 bytes. Throws `KeyNotHeld`, or an Error if the bytes were altered or belong to another organization. */
  unwrap(organizationId: string, wrapped: Uint8Array): Uint8Array
  /** The same data key under the present encryption key; throws as `unwrap` does. */
  rewrap(organizationId: string, wrapped: Uint8Array): Uint8Array
}
