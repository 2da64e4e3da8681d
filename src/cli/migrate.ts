import { Command } from 'commander'
import type { OneDatabase } from '../wiring/stores.js'
import { type Administer, print } from './administer.js'

/** `keystride migrate`: migrates the database's schema to this version. */
export const migrateCommand = (administer: Administer): Command =>
  new Command('migrate')
    .description('migrate every database to this version; idempotent, also from several machines at once')
    .action(() =>
      administer(
        async ({ stores: { databases } }) => {
          for (const database of databases) await report(database, databases.length > 1)
        },
        { schema: 'migrate' },
      ),
    )

async function report({ name, away, migrated, backupRoleSql, stores }: OneDatabase, several: boolean): Promise<void> {
  const say = (line: string) => print(several ? `${name}: ${line}` : line)
  if (away !== null) {
    process.exitCode = 1
    say(`not migrated: ${away}`)
    return
  }
  say(migrated.length === 0 ? 'The database is up to date.' : `Applied: ${migrated.join(', ')}`)
  const sql = stores.embedded ? null : await backupRoleSql()
  if (sql !== null)
    say(`For backups by pg_dump an administrator must run these statements once in this database:\n\n${sql}\n`)
}
