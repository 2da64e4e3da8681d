import { createCipheriv, createDecipheriv } from 'node:crypto'
import { randomPool } from './random-pool.js'

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + NONCE_BYTES
const newNonce = randomPool(NONCE_BYTES)

/** The binding of a ciphertext: JSON of an array, so that different lists of parts never have the same bytes. */
export const context = (...parts: (string | number)[]): Uint8Array => Buffer.from(JSON.stringify(parts))

/**
 * AES-256-GCM (NIST SP 800-38D) with a random nonce: version byte, 12-byte nonce, ciphertext, 16-byte tag. `bound` is
 * not part of the result, but decryption needs it.
 */
export function encrypt(key: Uint8Array, bound: Uint8Array, plain: Uint8Array): Uint8Array {
  const nonce = newNonce()
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound)
  return Buffer.concat([Uint8Array.of(VERSION), nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Decrypts bytes; null if they are no ciphertext under this key and binding. */
export function decrypt(key: Uint8Array, bound: Uint8Array, sealed: Uint8Array): Uint8Array | null {
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
