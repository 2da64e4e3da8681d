import type postgres from 'postgres'

/** Connections to one server, each at one piece of work at a time. */
export interface Connections {
  /** Runs `work` on the free connection that was used last, or on a new one while there are fewer than `max`; waits for one else. */
  use<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T>
  end(options: { readonly timeout: number }): Promise<void>
}

interface Waiting {
  take(sql: postgres.Sql): void
  refuse(error: Error): void
}

/**
 * Connections that `open` makes, a client of one connection each, as they are needed. The library's own pool of several
 * (3.4.9) keeps a slot for every statement of its life wherever it never has all of them at work, and searches through
 * these with each further statement: 0.35 ms after a million. Who comes while all `max` are at work, as several signs of
 * life may, waits here and not in a client: one that ends connects once more for what still waits in it, and then nobody ends
 * that connection any more.
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

/** As the library says it of a client that has ended. */
const whyEnded = (): Error => Object.assign(new Error('the connections have ended'), { code: 'CONNECTION_ENDED' })
