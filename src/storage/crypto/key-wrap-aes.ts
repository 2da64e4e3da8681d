import { randomBytes } from 'node:crypto'
import type { KeyRing } from '../key-ring.js'
import { KeyNotHeld, type KeyWrap } from '../key-wrap.js'
import { context, decrypt, encrypt } from './aes-gcm.js'

const DATA_KEY_BYTES = 32
/** The generated column keystride.organization.key_id reads the same bytes. */
const ID_BYTES = 8

/** A wrapped key is the wrapping key's id (8 bytes), followed by the data key under AES-256-GCM. */
export function createKeyWrap(ring: KeyRing): KeyWrap {
  function wrap(organizationId: string, dataKey: Uint8Array): Uint8Array {
    const { id, bytes } = ring.present()
    return Buffer.concat([Buffer.from(id, 'hex'), encrypt(bytes, keyContext(organizationId), dataKey)])
  }

  function unwrap(organizationId: string, wrapped: Uint8Array): Uint8Array {
    const id = Buffer.from(wrapped.subarray(0, ID_BYTES)).toString('hex')
    const key = ring.find(id)
    if (key === null) throw new KeyNotHeld(id, ring.place)
    const dataKey = decrypt(key.bytes, keyContext(organizationId), wrapped.subarray(ID_BYTES))
    if (dataKey === null) throw new Error("an organization's data key was altered, or is another organization's")
    return dataKey
  }

  return {
    wrapNew: (organizationId) => wrap(organizationId, randomBytes(DATA_KEY_BYTES)),
    unwrap,
    rewrap: (organizationId, wrapped) => wrap(organizationId, unwrap(organizationId, wrapped)),
  }
}

const keyContext = (organizationId: string) => context('keystride data key', organizationId)
