import type { Channel } from '../domain/alert.js'
import type { ChannelSettings } from '../domain/alert-channels.js'
import type { Placement } from './placement.js'

/** A part of a store as it was read, or why it could not be read, without secrets. `denied`: the login lacks a right. */
export type Reading<T> = { readonly value: T } | { readonly unread: string; readonly denied: boolean }

/** Settings and state of a database server. Sizes are bytes. */
export interface ServerFacts {
  readonly version: string
  readonly versionNumber: number
  /** The server is a standby, which takes no writes. */
  readonly standby: boolean
  readonly maxConnections: number
  /** Connections that are reserved for superusers, included in `maxConnections`. */
  readonly reservedConnections: number
  /** Present connections of clients, the largest group first. */
  readonly holders: readonly HolderFacts[]
  /** Limit of the login or of the database; null if there is none. */
  readonly ownLimit: number | null
  readonly maxWalBytes: number
  readonly sharedBufferBytes: number
  readonly fsync: boolean
  readonly autovacuum: boolean
  readonly synchronousCommit: string
  /** The server's data folder; null if the login may not read it. */
  readonly dataFolder: string | null
  /** Age of the oldest unfrozen transaction; autovacuum forces freezing at 200 million. */
  readonly transactionAge: number
}

/** Connections of one login, address and program. */
export interface HolderFacts {
  /** The IP address that the server sees, which is the pooler's for clients behind one; otherwise words. */
  readonly address: string
  readonly login: string
  /** `application_name`; may be empty. */
  readonly application: string
  readonly connections: number
  /** The login is that of the service. */
  readonly own: boolean
  /** The login is that of the service, and the address is that of this machine. */
  readonly here: boolean
}

/** A setting of a session that is not as the service needs it. */
export interface WrongSetting {
  readonly name: string
  readonly found: string
  readonly wanted: string
}

/** The database's schema compared with that of this version. */
export interface SchemaFacts {
  /** Name of the last migration; null if there is no schema. */
  readonly found: string | null
  readonly wanted: string
  readonly migrationsMissing: number
  /** Why this version cannot use the schema; null if it can. */
  readonly unfit: string | null
}

/** One table, or one partition. */
export interface TableFacts {
  readonly name: string
  /** Size with indexes and TOAST. */
  readonly bytes: number
  readonly liveRows: number
  readonly deadRows: number
  /** Epoch ms; null if the table was never vacuumed. */
  readonly lastVacuumAt: number | null
}

export interface ActivityFacts {
  /** Transactions of client connections that have been open for more than a minute without a running statement. */
  readonly idleInTransaction: number
  /** Age of the oldest of these transactions, s; 0 if there is none. */
  readonly oldestS: number
}

/** Another server that receives the write-ahead log. */
interface StandbyFacts {
  readonly name: string
  readonly state: string
  /** Bytes of the log that the standby has not replayed. */
  readonly lagBytes: number
  readonly synchronous: boolean
}

/** A replication slot, which keeps the log that its reader has not received. */
interface SlotFacts {
  readonly name: string
  readonly active: boolean
  readonly heldBytes: number
  /** The reader cannot continue, because the log that it needs was deleted. */
  readonly lost: boolean
}

export interface ReplicationFacts {
  /** The server is itself a standby. */
  readonly standby: boolean
  readonly standbys: readonly StandbyFacts[]
  /** Commits wait for one of the standbys that this setting names. */
  readonly waitsForStandby: boolean
  readonly slots: readonly SlotFacts[]
  /** The last try to archive a segment failed, and no try has succeeded since. */
  readonly archiveFails: boolean
}

/** One server of several in a connection string. */
export interface MemberFacts {
  /** Host and port. */
  readonly host: string
  readonly role: 'primary' | 'standby' | 'unreachable'
}

export interface ChannelFacts {
  readonly organizationId: string
  readonly channel: Channel
  /** Null if this version cannot read the settings. */
  readonly settings: ChannelSettings | null
  /** Consecutive failures; 0 after a delivery. */
  readonly failures: number
  /** No delivery is tried now. */
  readonly closed: boolean
}

export interface OutboxFacts {
  readonly waiting: number
  /** How long the oldest waiting delivery has been due, s; 0 if none is due. */
  readonly overdueS: number
  readonly channels: readonly ChannelFacts[]
}

interface QueueFacts {
  readonly queue: string
  readonly waiting: number
  readonly failed: number
  /** How long the oldest waiting job has been due, s; 0 if none waits. */
  readonly oldestWaitingS: number
  /** Seconds since the last job that succeeded; null if none did in about three days. */
  readonly lastSuccessS: number | null
}

export interface JobFacts {
  readonly queues: readonly QueueFacts[]
  /** Exports that are not ready a quarter of an hour after they were ordered, and that no process writes. */
  readonly stuckExports: number
}

/** A data key as stored, and the id of the encryption key that wraps it. */
export interface StoredKey {
  readonly organizationId: string
  readonly keyId: string
  readonly wrapped: Uint8Array
}

/** A database as its operators see it. Every part is read in a read-only transaction of its own. */
export interface DatabaseInspection {
  /** Host and port of the server that is read. */
  readonly host: string
  /** The server's clock, epoch ms. */
  clock(): Promise<number>
  server(): Promise<Reading<ServerFacts>>
  /** Servers of the connection string. */
  members(): Promise<readonly MemberFacts[]>
  /** Whether a pooler is between this process and the server. */
  pooler(): Promise<Reading<boolean>>
  /** Settings of a session that are not as the service needs them. */
  settings(): Promise<Reading<readonly WrongSetting[]>>
  schema(): Promise<Reading<SchemaFacts>>
  /** Tables, the largest first. */
  tables(): Promise<Reading<readonly TableFacts[]>>
  activity(): Promise<Reading<ActivityFacts>>
  replication(): Promise<Reading<ReplicationFacts>>
  keys(): Promise<Reading<readonly StoredKey[]>>
  outbox(): Promise<Reading<OutboxFacts>>
  jobs(): Promise<Reading<JobFacts>>
  /** Moves of organizations from and to this database, and copies that they left. */
  placements(): Promise<Reading<readonly Placement[]>>
  /** Time of the latest erasure, epoch ms; null if there is none. */
  lastErasure(): Promise<Reading<number | null>>
  close(): Promise<void>
}

/** A Redis node that keeps sessions, or may keep them after a fail-over. Sizes are bytes. */
export interface RedisNodeFacts {
  readonly version: string
  readonly role: string
  readonly usedBytes: number
  /** Limit of the memory; 0 if there is none. */
  readonly limitBytes: number
  readonly policy: string
  readonly evictedKeys: number
  /** The link of a replica to its master is down. */
  readonly linkDown: boolean
  /** Why this version refuses the node; null if it does not. */
  readonly unfit: string | null
}

/** A session store as its operators see it. */
export interface SessionStoreInspection {
  /** The clock of each master, epoch ms. Rejects if the store takes no writes, with the reason. */
  clocks(): Promise<readonly number[]>
  nodes(): Promise<Reading<readonly RedisNodeFacts[]>>
  readonly cluster: boolean
  close(): void
}
