const CONNECT_TIMEOUT_MS = 2000
const RECONNECT_MS = 100
/** A silent server is noticed by a ping, and its connection given up, within this. */
const SILENCE_MS = 2000
/** Commands that wait for an answer: about 150 ms at 60,000 a second. More are refused at once. */
const QUEUE_MAX = 10_000

export type RunThere = (source: string, args: readonly string[]) => Promise<unknown>

/** What one node and a cluster have in common, as far as this service goes. */
export interface Client {
  connect(): Promise<unknown>
  /** INFO of every node that keeps sessions, or may come to. */
  infos(): Promise<string[]>
  evalSha(sha1: string, keys: readonly string[], args: readonly string[]): Promise<unknown>
  eval(source: string, keys: readonly string[], args: readonly string[]): Promise<unknown>
  onEveryMaster(work: (run: RunThere) => Promise<void>): Promise<void>
  /** Runs a script without keys on each master; what it gives. */
  probe(source: string): Promise<unknown[]>
  destroy(): void
}

/** How every connection is held, to one node as to each of a cluster. */
export const NODE = {
  socket: { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: RECONNECT_MS, socketTimeout: SILENCE_MS },
  disableOfflineQueue: true,
  commandsQueueMaxLength: QUEUE_MAX,
  pingInterval: SILENCE_MS / 2,
  disableClientInfo: true,
  maintNotifications: 'disabled',
  // The library's own time-out makes an abort signal a command, which costs more than the command: see `within`.
  commandOptions: { timeout: 0 },
} as const
export type NodeOptions = typeof NODE
