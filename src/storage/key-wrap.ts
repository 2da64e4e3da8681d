/** A data key was wrapped under a key that this process does not hold. */
export class KeyNotHeld extends Error {
  override readonly name = 'KeyNotHeld'
  constructor(
    readonly keyId: string,
    place: string,
  ) {
    super(
      `a data key is wrapped under the encryption key ${keyId}, which this process does not hold: put it into ${place}`,
    )
  }
}

/** Data keys of organizations, wrapped: under an encryption key whose id leads the bytes, and bound to the organization. */
export interface KeyWrap {
  /** A fresh data key under the present encryption key. */
  wrapNew(organizationId: string): Uint8Array
  /** 32 bytes. Throws `KeyNotHeld`, or an Error where the bytes were altered or are another organization's. */
  unwrap(organizationId: string, wrapped: Uint8Array): Uint8Array
  /** The same data key under the present encryption key; throws as `unwrap` does. */
  rewrap(organizationId: string, wrapped: Uint8Array): Uint8Array
}
