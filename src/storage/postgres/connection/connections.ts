import type { Sql } from './sql.js'

/** Connections to one server, each with one piece of work at a time. */
export interface Connections {
  /** Runs `work` on the oldest free connection, or on a new one if there are fewer than `max`; otherwise waits. */
  use<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  end(options: { readonly timeout: number }): Promise<void>
}

interface Connection {
  readonly sql: Sql
  busy: boolean
}

interface Waiting {
  take(connection: Connection): void
  refuse(error: Error): void
}

/**
 * Opens connections on demand; each is a client of one connection from `open`. The driver's own pool (3.4.9) keeps a slot
 * for every statement it ever ran, unless all its connections are busy at some time, and scans these slots with each further
 * statement: 0.35 ms after a million. Work that arrives while all `max` are busy, such as several probes, waits here and not
 * in a client, because a client that ends reconnects for work that still waits in it, and nothing ends that connection any more.
 * Work gets the oldest free connection, because a connection is slow until it has prepared its statements and its server process
 * has cached the tables.
 */
export function openConnections(open: () => Sql, max: number): Connections {
  const all: Connection[] = []
  const waiting: Waiting[] = []
  let ended = false

  function take(): Connection | Promise<Connection> {
    if (ended) throw whyEnded()
    let taken = all.find(({ busy }) => !busy)
    if (taken === undefined) {
      if (all.length === max) return new Promise((resolve, reject) => waiting.push({ take: resolve, refuse: reject }))
      taken = { sql: open(), busy: true }
      all.push(taken)
    }
    taken.busy = true
    return taken
  }

  function give(connection: Connection): void {
    const next = waiting.shift()
    if (next === undefined) connection.busy = false
    else next.take(connection)
  }

  return {
    async use(work) {
      const taken = take()
      const connection = taken instanceof Promise ? await taken : taken
      try {
        return await work(connection.sql)
      } finally {
        give(connection)
      }
    },
    async end(options) {
      ended = true
      for (const { refuse } of waiting.splice(0)) refuse(whyEnded())
      await Promise.all(all.map(({ sql }) => sql.end(options)))
    },
  }
}

/** The driver's own error for a client that has ended. */
const whyEnded = (): Error => Object.assign(new Error('the connections have ended'), { code: 'CONNECTION_ENDED' })
