import { RESP_TYPES } from '@redis/client'

const CONNECT_TIMEOUT_MS = 2000
const RECONNECT_MS = 100
/** A ping detects a silent server within this time, and its connection is closed. */
const SILENCE_MS = 2000
/**
 * The library sends no further command while the socket has more unsent bytes, until an iteration of the event loop later. A session
 * with the carried person has 10 kB, so of Node's default of 16 kB two bootstraps would be sent at a time.
 */
const UNSENT_MAX = 2 ** 22
/** Maximum number of commands that wait for a reply, about 150 ms of them at 60,000 a second. More are refused at once. */
const QUEUE_MAX = 10_000

export type Argument = string | Buffer

export type RunThere = (source: string, args: readonly string[]) => Promise<unknown>

/** The interface that one node and a cluster have in common. */
export interface Client {
  connect(): Promise<unknown>
  /** INFO of every node that keeps sessions, or may keep them after a fail-over. */
  infos(): Promise<string[]>
  /** With `inBytes`, texts of the reply are buffers. */
  evalSha(sha1: string, keys: readonly string[], args: readonly Argument[], inBytes: boolean): Promise<unknown>
  eval(source: string, keys: readonly string[], args: readonly Argument[], inBytes: boolean): Promise<unknown>
  onEveryMaster(work: (run: RunThere) => Promise<void>): Promise<void>
  /** Runs a script without keys on each master; returns the replies. */
  probe(source: string): Promise<unknown[]>
  destroy(): void
}

/** The mapping of a client whose replies have buffers in place of texts. */
export const IN_BYTES = { [RESP_TYPES.BLOB_STRING]: Buffer }

/** Options of every connection, to one node and to each node of a cluster. */
export const NODE = {
  socket: {
    connectTimeout: CONNECT_TIMEOUT_MS,
    reconnectStrategy: RECONNECT_MS,
    socketTimeout: SILENCE_MS,
    writableHighWaterMark: UNSENT_MAX,
  },
  disableOfflineQueue: true,
  commandsQueueMaxLength: QUEUE_MAX,
  pingInterval: SILENCE_MS / 2,
  disableClientInfo: true,
  maintNotifications: 'disabled',
  // The library's own time-out creates an abort signal per command, which costs more than the command: see `startLimit`.
  commandOptions: { timeout: 0 },
} as const
export type NodeOptions = typeof NODE
