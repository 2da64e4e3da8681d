import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../process/config.js'
import { keyFile } from '../storage/crypto/key-file.js'
import { givenKeys, type KeyRing } from '../storage/key-ring.js'

/** The encryption keys of the configuration; null if there are none, because a check, unlike the service, creates no key. */
export function heldKeys({ encryptionKey, encryptionKeysPrevious, dataFolder }: Config): KeyRing | null {
  if (encryptionKey !== null) return givenKeys(encryptionKey, encryptionKeysPrevious)
  return existsSync(join(dataFolder, 'encryption.key')) ? keyFile(dataFolder) : null
}
