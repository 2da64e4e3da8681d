import type postgres from 'postgres'

/** Connections to one server, each with one piece of work at a time. */
export interface Connections {
  /** Runs `work` on the most recently used free connection, or on a new one if there are fewer than `max`; else waits. */
  use<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T>
  end(options: { readonly timeout: number }): Promise<void>
}

interface Waiting {
  take(sql: postgres.Sql): void
  refuse(error: Error): void
}

/**
 * Opens connections on demand; each is a client of one connection from `open`. The library's own pool (3.4.9) keeps a slot
 * for every statement it ever ran, unless all its connections are busy at some time, and scans these slots with each further
 * statement: 0.35 ms after a million. Work that arrives while all `max` are busy, such as several probes, waits here and not
 * in a client: a client that ends reconnects for work that still waits in it, and nothing ends that connection any more.
 */
export function openConnections(open: () => postgres.Sql, max: number): Connections {
  const all: postgres.Sql[] = []
  const free: postgres.Sql[] = []
  const waiting: Waiting[] = []
  let ended = false

  function take(): postgres.Sql | Promise<postgres.Sql> {
    if (ended) throw whyEnded()
    const last = free.pop()
    if (last !== undefined) return last
    if (all.length === max) return new Promise((resolve, reject) => waiting.push({ take: resolve, refuse: reject }))
    const opened = open()
    all.push(opened)
    return opened
  }

  function give(sql: postgres.Sql): void {
    const next = waiting.shift()
    if (next === undefined) free.push(sql)
    else next.take(sql)
  }

  return {
    async use(work) {
      const taken = take()
      const sql = taken instanceof Promise ? await taken : taken
      try {
        return await work(sql)
      } finally {
        give(sql)
      }
    },
    async end(options) {
      ended = true
      for (const { refuse } of waiting.splice(0)) refuse(whyEnded())
      await Promise.all(all.map((sql) => sql.end(options)))
    },
  }
}

/** The library's own error for a client that has ended. */
const whyEnded = (): Error => Object.assign(new Error('the connections have ended'), { code: 'CONNECTION_ENDED' })
