import { Command } from 'commander'
import { type Administer, print } from './administer.js'

/** `keystride migrate`: migrates the database's schema to this version. */
export const migrateCommand = (administer: Administer): Command =>
  new Command('migrate')
    .description('migrate the database to this version; idempotent, also from several machines at once')
    .action(() =>
      administer(
        async ({ stores: { migrated, embedded, backupRoleSql } }) => {
          print(migrated.length === 0 ? 'The database is up to date.' : `Applied: ${migrated.join(', ')}`)
          const sql = embedded ? null : await backupRoleSql()
          if (sql !== null)
            print(
              `For backups by pg_dump an administrator must run these statements once in this database:\n\n${sql}\n`,
            )
        },
        { schema: 'migrate' },
      ),
    )
