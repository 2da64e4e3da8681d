import { Command } from 'commander'
import { createEncryptionKeyFlows, type KeyUse, type Rotation } from '../flows/organization/encryption-keys.js'
import type { Stores } from '../wiring/stores.js'
import { type Administer, print } from './administer.js'
import { JSON_OPTION } from './arguments.js'
import { table } from './table.js'

const MEANING: Record<KeyUse['state'], string> = {
  present: 'wraps',
  previous: 'opens only',
  missing: 'NOT HELD HERE',
}

/** `keystride key status`: lists the encryption keys in use. */
export const statusCommand = (administer: Administer): Command =>
  new Command('status')
    .description('print how many organizations each encryption key is used for, and which keys can be removed')
    .addHelpText('after', '\nA key is named by an id that is derived from the key and reveals nothing about it.')
    .option(...JSON_OPTION)
    .action(({ json }: { json?: true }) =>
      administer(async ({ stores }) => {
        const uses = await createEncryptionKeyFlows(stores).status()
        if (json === true) {
          print(JSON.stringify(uses, null, 2))
          return
        }
        const rows = uses.map(({ id, organizations, state }) => [id, String(organizations), MEANING[state]])
        print(table(['key', 'organizations', 'here'], rows))
        print(advice(uses, stores))
      }),
    )

/** `keystride key rotate`: wraps all data keys with the present encryption key. */
export const rotateCommand = (administer: Administer): Command =>
  new Command('rotate')
    .description('wrap the data key of every organization under the present encryption key')
    .addHelpText('after', PROCEDURE)
    .action(() =>
      administer(async ({ stores }) => {
        const rotation = await createEncryptionKeyFlows(stores).rotate((rewrapped) =>
          process.stderr.write(`${rewrapped} re-wrapped\n`),
        )
        print(summary(rotation, stores))
        if (rotation.left > 0) process.exitCode = 1
      }),
    )

const PROCEDURE = `
Stored data and security codes do not change, only the wrapping of each organization's data key. The service may run
at the same time. If the command is killed or fails, run it again.

With ENCRYPTION_KEY:
  1. Create a new key: openssl rand -base64 32
  2. Restart the processes one after the other with the new key as ENCRYPTION_KEY and the old one as
     ENCRYPTION_KEY_PREVIOUS. Create no organization until all have both.
  3. Run "keystride key rotate" with the same two variables.
  4. When "keystride key status" prints 0 organizations for the previous key, remove ENCRYPTION_KEY_PREVIOUS, again one
     process after the other.

With the embedded PostgreSQL and no ENCRYPTION_KEY: run "keystride key rotate". It creates the new key in
KEYSTRIDE_DATA/encryption.key, where a running service finds it, and drops the old key when it is no longer needed.

A backup made before a rotation needs the key of its time: keep that key as long as the backup.`

function advice(uses: readonly KeyUse[], { keyRing }: Stores): string {
  const missing = uses.filter(({ state }) => state === 'missing').map(({ id }) => id)
  if (missing.length > 0)
    return `Put ${missing.join(', ')} into ${keyRing.place}: the service does not start without it.`
  const previous = uses.filter(({ state }) => state === 'previous')
  if (previous.some(({ organizations }) => organizations > 0)) return 'Run "keystride key rotate".'
  if (previous.length === 0) return 'Every organization is under the present key.'
  return keyRing.change === null
    ? 'Every organization is under the present key: once every process has it, ENCRYPTION_KEY_PREVIOUS can be removed.'
    : 'Every organization is under the present key: "keystride key rotate" drops the others.'
}

function summary(
  { keyId, rewrapped, alreadyCurrent, left, unreadable, dropped }: Rotation,
  { keyRing }: Stores,
): string {
  const lines = [`${rewrapped} re-wrapped under ${keyId}, ${alreadyCurrent} already current`]
  if (unreadable.length > 0) lines.push(`data keys that were altered and do not open: ${unreadable.join(', ')}`)
  if (left > 0) lines.push(`${left} still under another key: run the command again`)
  else if (dropped.length > 0) lines.push(`dropped from ${keyRing.place}: ${dropped.join(', ')}`)
  else if (keyRing.held().length > 1)
    lines.push('once every process has the present key, ENCRYPTION_KEY_PREVIOUS can be removed')
  else if (rewrapped === 0 && keyRing.change === null)
    lines.push(
      'To change the key, give a new one as ENCRYPTION_KEY and this one as ENCRYPTION_KEY_PREVIOUS (see --help)',
    )
  return lines.join('\n')
}
