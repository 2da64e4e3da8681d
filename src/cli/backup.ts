import { Command } from 'commander'
import { ExpectedFault } from '../base/expected-fault.js'
import type { Backup } from '../storage/backup.js'
import type { KeyUse } from '../storage/crypto/key-uses.js'
import { print, run } from './administer.js'
import { table } from './table.js'

/** `keystride backup`: tests whether a backup can be restored. */
export function backupCommand(env: NodeJS.ProcessEnv): Command {
  const backup = new Command('backup').description(
    'check that a pg_dump backup is complete and its encryption keys are held',
  )
  backup
    .command('verify')
    .description('restore a backup into a temporary database, count its rows and check its encryption keys')
    .argument('<file>', 'a backup made by "pg_dump --format=custom" or "--format=directory"')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)
    .action((file: string, { json }: { json?: true }) => run(() => verify(file, env, json === true)))
  return backup
}

async function verify(file: string, env: NodeJS.ProcessEnv, asJson: boolean): Promise<void> {
  const [{ readConfig }, { readBackup }, { heldKeys }, { keyUses }] = await Promise.all([
    import('../process/config.js'),
    import('../wiring/open-stores.js'),
    import('./held-keys.js'),
    import('../storage/crypto/key-uses.js'),
  ])
  const keys = heldKeys(readConfig(env))
  const begun = performance.now()
  const backup = await readBackup(file, interruption())
  const restoredInMs = Math.round(performance.now() - begun)
  // pg_dump --enable-row-security succeeds and leaves out every row.
  if (backup.counts.organization === 0)
    throw new ExpectedFault(`${file} holds no organization: it cannot be a complete backup`)
  const uses = keyUses(backup.wrappedKeys, keys)
  const { schema, migrationsMissing, counts, lastAttemptAt } = backup
  if (asJson)
    print(JSON.stringify({ file, restoredInMs, schema, migrationsMissing, counts, lastAttemptAt, keys: uses }, null, 2))
  else print(table(['what', 'found'], rowsOf(backup, uses, restoredInMs)))
  const lost = uses.filter(({ state }) => state !== 'held')
  if (lost.length > 0)
    throw new ExpectedFault(
      `${file} is complete, but ${lost.map(({ id, state }) => `encryption key ${id} is ${state}`).join(', ')}: profiles of its organizations cannot be read. Set it in ENCRYPTION_KEY or ENCRYPTION_KEY_PREVIOUS`,
    )
  if (!asJson) print(`${file} is complete, and its encryption keys are held.`)
}

/** A signal that SIGINT and SIGTERM abort, so that the temporary database is removed before the process ends. */
function interruption(): AbortSignal {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())
  return interrupted.signal
}

function rowsOf(
  { schema, migrationsMissing, counts, lastAttemptAt }: Backup,
  uses: readonly KeyUse[],
  restoredInMs: number,
): string[][] {
  const older = migrationsMissing === 0 ? '' : `, ${migrationsMissing} migrations older than this version`
  return [
    ['schema', `${schema}${older}`],
    ...Object.entries(counts).map(([name, n]) => [LABELS[name as keyof typeof counts], String(n)]),
    ['last attempt', lastAttemptAt?.toISOString() ?? 'none'],
    ...uses.map(({ id, organizations, state }) => [`encryption key ${id}`, `${state}, ${organizations} organizations`]),
    ['restored in', `${(restoredInMs / 1000).toFixed(1)} s`],
  ]
}

const LABELS: Record<keyof Backup['counts'], string> = {
  organization: 'organizations',
  account: 'accounts',
  member: 'members',
  reference_pattern: 'reference patterns',
  authentication: 'attempts',
  erasure: 'erasures',
}

const HELP = `
The exit status is 1 if the file is truncated, damaged or not a Keystride backup, lacks a table or rows, or has a newer schema, or if an
encryption key of its organizations is neither in ENCRYPTION_KEY nor in ENCRYPTION_KEY_PREVIOUS. The backup is restored into a temporary
PostgreSQL in the folder for temporary files (TMPDIR), which needs as much space there as the database and is removed afterwards. The
service's database is not touched. pg_restore must be installed, in pg_dump's version or a newer one.`
