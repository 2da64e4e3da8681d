import type { SystemStore } from '../../system.js'
import type { Database } from '../connection/client.js'

interface FactsRow {
  server_version: string
  bytes: string
  schema_version: string | null
  functions_version: string | null
}

/** Facts about PostgreSQL, read as the login role, which owns the history of migrations. */
export function postgresSystem(database: Database): SystemStore {
  return {
    async database() {
      const [row] = await database.call(
        (sql) => sql<FactsRow[]>`
          select split_part(current_setting('server_version'), ' ', 1) as server_version,
            pg_database_size(current_database()) as bytes,
            (select name from keystride_history.migration order by id desc limit 1) as schema_version,
            (select version from keystride_history.function limit 1) as functions_version`,
      )
      if (row === undefined) throw new Error('a select without a table came back without its row')
      return {
        serverVersion: row.server_version,
        bytes: Number(row.bytes),
        schemaVersion: row.schema_version ?? '',
        functionsVersion: row.functions_version ?? '',
      }
    },
  }
}
