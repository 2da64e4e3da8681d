import type { StoredKey } from './inspection.js'

/** Tables whose rows are counted. */
export const COUNTED = ['organization', 'account', 'member', 'reference_pattern', 'authentication', 'erasure'] as const

/** Content of a backup file. */
export interface Backup {
  /** Name of the last migration. */
  readonly schema: string
  /** Number of migrations of this version that the backup does not have. */
  readonly migrationsMissing: number
  /** Rows by table. */
  readonly counts: Readonly<Record<(typeof COUNTED)[number], number>>
  /** Time of the last recorded attempt; null if there is none. */
  readonly lastAttemptAt: Date | null
  /** The data key of each organization, wrapped by the encryption key of that id. */
  readonly wrappedKeys: readonly StoredKey[]
}
