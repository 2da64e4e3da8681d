import { Command } from 'commander'
import { createEncryptionKeyFlows, type KeyUse, type Rotation } from '../flows/organization/encryption-keys.js'
import type { Stores } from '../wiring/open-stores.js'
import { type Administer, print } from './administer.js'
import { JSON_OPTION } from './arguments.js'
import { table } from './table.js'

const MEANING: Record<KeyUse['state'], string> = {
  present: 'wraps',
  previous: 'opens only',
  missing: 'NOT HELD HERE',
}

/** `keystride key status`: which encryption keys are in use. */
export const statusCommand = (administer: Administer): Command =>
  new Command('status')
    .description('say how many organizations each encryption key is used for, and which may go')
    .addHelpText('after', '\nKeys are named by an id that is made from the key and tells nothing about it.')
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

/** `keystride key rotate`: everything under a new encryption key. */
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
What is stored stays as it is, and so do security codes: only the wrapping of each organization's data key changes. The
service goes on meanwhile. Killed or failed half-way, run the command again.

With ENCRYPTION_KEY:
  1. Make a new key: openssl rand -base64 32
  2. Give every process, one after the other, the new key as ENCRYPTION_KEY and the one before as
     ENCRYPTION_KEY_PREVIOUS. Until all have both, create no organization.
  3. Run "keystride key rotate" with the same two variables.
  4. Where "keystride key status" says that the previous key is used for 0 organizations, take ENCRYPTION_KEY_PREVIOUS
     away, again one process after the other.

With the embedded PostgreSQL and no ENCRYPTION_KEY: run "keystride key rotate". It makes the new key in
KEYSTRIDE_DATA/encryption.key, a running service finds it there, and the old key is dropped when nothing needs it.

Backups made before a rotation open with the key of their time only: keep that key as long as them.`

function advice(uses: readonly KeyUse[], { keyRing }: Stores): string {
  const missing = uses.filter(({ state }) => state === 'missing').map(({ id }) => id)
  if (missing.length > 0) return `Put ${missing.join(', ')} into ${keyRing.place}: the service does not start without.`
  const previous = uses.filter(({ state }) => state === 'previous')
  if (previous.some(({ organizations }) => organizations > 0)) return 'Run "keystride key rotate".'
  if (previous.length === 0) return 'Every organization is under the present key.'
  return keyRing.change === null
    ? 'Every organization is under the present key: once every process has it, ENCRYPTION_KEY_PREVIOUS may go.'
    : 'Every organization is under the present key: "keystride key rotate" drops the others.'
}

function summary(
  { keyId, rewrapped, alreadyCurrent, left, unreadable, dropped }: Rotation,
  { keyRing }: Stores,
): string {
  const lines = [`${rewrapped} re-wrapped under ${keyId}, ${alreadyCurrent} already current`]
  if (unreadable.length > 0) lines.push(`their data keys do not open, they were altered: ${unreadable.join(', ')}`)
  if (left > 0) lines.push(`${left} still under another key: run the command again`)
  else if (dropped.length > 0) lines.push(`dropped from ${keyRing.place}: ${dropped.join(', ')}`)
  else if (keyRing.held().length > 1)
    lines.push('once every process has the present key, ENCRYPTION_KEY_PREVIOUS may go')
  else if (rewrapped === 0 && keyRing.change === null)
    lines.push(
      'To change the key, give a new one as ENCRYPTION_KEY and this one as ENCRYPTION_KEY_PREVIOUS (see --help)',
    )
  return lines.join('\n')
}
