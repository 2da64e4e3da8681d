import { type Connection, openConnection } from './drive.js'

/** Connections to a server, of which a request takes any that is free. */
export interface Pool {
  /** Takes a random free connection. */
  take(): Connection
  giveBack(connection: Connection): void
  close(): void
}

/** A server closes a connection that is idle for some seconds; one that is idle for this time is replaced before. */
const IDLE_MS = 3000
const SWEEP_MS = 500

/** Opens `count` connections. `onLost` is called if one breaks in use. */
export async function openPool(port: number, count: number, onLost: (error: Error) => void): Promise<Pool> {
  const free: { readonly connection: Connection; readonly since: number }[] = []
  const isFree = (connection: Connection) => free.findIndex((one) => one.connection === connection)
  const add = async () => {
    const connection = await openConnection(port)
    connection.onLost((error) => {
      const at = isFree(connection)
      if (at < 0) return onLost(error)
      free.splice(at, 1)
      add().catch(onLost)
    })
    free.push({ connection, since: performance.now() })
  }
  const replace = async (connection: Connection) => {
    await add()
    const at = isFree(connection)
    if (at < 0) return
    free.splice(at, 1)
    connection.close()
  }
  await Promise.all(Array.from({ length: count }, add))
  const sweep = setInterval(() => {
    const now = performance.now()
    const idle = free.filter(({ since }) => now - since > IDLE_MS)
    for (const { connection } of idle) replace(connection).catch(onLost)
  }, SWEEP_MS)
  return {
    take() {
      const [taken] = free.splice(Math.floor(Math.random() * free.length), 1)
      if (taken === undefined) throw new Error('a pool has no free connection')
      return taken.connection
    },
    giveBack: (connection) => void free.push({ connection, since: performance.now() }),
    close() {
      clearInterval(sweep)
      for (const { connection } of free) connection.close()
    },
  }
}
