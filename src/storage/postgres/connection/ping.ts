import type { DatabaseCall } from './call-queue.js'
import { codeOf, degraded, FORBIDDEN } from './errors.js'
import type { Sql, Transaction } from './sql.js'
import { SYSTEM, transact } from './transaction.js'

interface Ping {
  /** Rejects if the server takes no writes; returns its clock, epoch ms. */
  ping(sql: Sql, call: DatabaseCall): Promise<number>
  /** After a write that a full disk refused, pings also write until one succeeds, because such a server answers reads. */
  noteFullDisk(): void
}

export function createPing(): Ping {
  let full = false
  return {
    noteFullDisk() {
      full = true
    },
    async ping(sql, call) {
      const [row] = await call.exchange(sql<{ read_only: string; now: number }[]>`
        select current_setting('transaction_read_only') as read_only,
          extract(epoch from clock_timestamp())::float8 * 1000 as now`)
      if (row?.read_only !== 'off') throw degraded('the database takes no writes')
      if (!full) return row.now
      try {
        await transact(sql, SYSTEM, call, writeSome)
      } catch (error) {
        // Without the right to make temporary tables, the next write shows whether the disk is full.
        if (codeOf(error) !== FORBIDDEN) throw error
      }
      full = false
      return row.now
    },
  }
}

/** Writes 400 kB, which are freed at once, in rows that are too short to be compressed. */
async function writeSome(sql: Transaction): Promise<void> {
  await sql`create temporary table keystride_room (filler text) on commit drop`
  await sql`insert into keystride_room select repeat('x', 1900) from generate_series(1, 200)`
}
