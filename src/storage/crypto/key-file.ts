import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type EncryptionKey, encryptionKey, type KeyRing } from '../key-ring.js'

/**
 * The keys of the embedded default in `encryption.key`, one per line in base64, the present one first. Makes the first key
 * if there is no file. Every wrap reads the file first, so that no data key is wrapped under a key that is not in the file. Throws
 * if the file cannot be read or has other content.
 */
export function keyFile(folder: string): KeyRing {
  const file = join(folder, 'encryption.key')
  if (!existsSync(file)) makeFirst(file)
  let known = read(file)
  const readAgain = () => {
    known = read(file)
    return known
  }
  const among = (keys: readonly EncryptionKey[], id: string) => keys.find((key) => key.id === id) ?? null
  return {
    place: file,
    present: () => readAgain()[0],
    held: readAgain,
    find: (id) => among(known, id) ?? among(readAgain(), id),
    change: {
      begin() {
        const keys = readAgain()
        if (keys.length > 1) return 'resumed'
        replace(file, [encryptionKey(randomBytes(32)), ...keys])
        return 'begun'
      },
      end(inUse) {
        const [present, ...others] = readAgain()
        const dropped = others.filter(({ id }) => !inUse.has(id))
        if (dropped.length > 0) replace(file, [present, ...others.filter(({ id }) => inUse.has(id))])
        return dropped.map(({ id }) => id)
      },
    },
  }
}

type AtLeastOne = readonly [EncryptionKey, ...EncryptionKey[]]

function read(file: string): AtLeastOne {
  const lines = readFileSync(file, 'utf8').split('\n')
  const [first, ...others] = lines
    .filter((line) => line !== '')
    .map((line) => encryptionKey(Buffer.from(line, 'base64')))
  if (first === undefined) throw new Error(`${file} holds no key`)
  return [first, ...others]
}

const textOf = (keys: readonly EncryptionKey[]) =>
  keys.map(({ bytes }) => `${Buffer.from(bytes).toString('base64')}\n`).join('')

/** Replaces the file atomically; the content is on disk when this returns. */
function replace(file: string, keys: readonly EncryptionKey[]): void {
  const draft = `${file}.next`
  writeFileSync(draft, textOf(keys), { mode: 0o600, flush: true })
  renameSync(draft, file)
  flushFolder(dirname(file))
}

/** One of several concurrent processes makes the key, and all use it, because `link` does not replace an existing file. */
function makeFirst(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, textOf([encryptionKey(randomBytes(32))]), { mode: 0o600, flush: true })
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error // what linkSync throws
  }
  rmSync(draft)
  flushFolder(dirname(file))
}

/** A rename is on disk once its folder is flushed. Windows cannot open folders and does not need this. */
function flushFolder(folder: string): void {
  if (process.platform === 'win32') return
  const opened = openSync(folder, 'r')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}
