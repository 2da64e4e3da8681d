/** The database as its operators see it. */
export interface DatabaseFacts {
  /** Version of the server, such as `17.2`. */
  readonly serverVersion: string
  /** Size on disk, without the write-ahead log. */
  readonly bytes: number
  /** Name of the latest migration. */
  readonly schemaVersion: string
  /** Version of Keystride whose functions the database has. */
  readonly functionsVersion: string
}

/** Facts about the deployment that only a store knows. Rejects with `Refusal('degraded')` while the database is unavailable. */
export interface SystemStore {
  database(): Promise<DatabaseFacts>
}
