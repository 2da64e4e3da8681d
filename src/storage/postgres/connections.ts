import type postgres from 'postgres'

/** Connections to one server, each at one piece of work at a time. */
export interface Connections {
  /** Runs `work` on the free connection that was used last, or on a new one while there are fewer than `max`. */
  use<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T>
  end(options: { readonly timeout: number }): Promise<void>
}

interface Connection {
  readonly sql: postgres.Sql
  users: number
}

/**
 * Connections that `open` makes, a client of one connection each, as they are needed. The library's own pool of several
 * (3.4.9) keeps a slot for every statement of its life wherever it never has all of them at work, and searches through
 * these with each further statement: 0.35 ms after a million. Who comes while all `max` are at work, as several signs of
 * life may, waits in line on the one with the fewest.
 */
export function openConnections(open: () => postgres.Sql, max: number): Connections {
  const all: Connection[] = []
  const free: Connection[] = []
  let ended = false

  function take(): Connection {
    const connection = free.pop() ?? (all.length < max ? opened() : fewest())
    connection.users += 1
    return connection
  }

  function opened(): Connection {
    const connection = { sql: open(), users: 0 }
    all.push(connection)
    // It then refuses work, as the others do.
    if (ended) void connection.sql.end()
    return connection
  }

  const fewest = (): Connection => all.reduce((least, one) => (one.users < least.users ? one : least))

  return {
    async use(work) {
      const connection = take()
      try {
        return await work(connection.sql)
      } finally {
        connection.users -= 1
        if (connection.users === 0) free.push(connection)
      }
    },
    async end(options) {
      ended = true
      await Promise.all(all.map(({ sql }) => sql.end(options)))
    },
  }
}
