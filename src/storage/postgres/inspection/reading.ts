import type pg from 'pg'
import type { Reading } from '../../inspection.js'

/** Runs work of one reading. Its error becomes the reason, without the values of a statement. */
export async function read<T>(work: () => Promise<T>): Promise<Reading<T>> {
  try {
    return { value: await work() }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string } // what pg rejects with
    return { unread: code === undefined ? message : `${message} (${code})` }
  }
}

type Work<T> = (client: pg.Client) => Promise<T>

/** Runs readings on one connection, one after the other, each in a read-only transaction that is rolled back. */
export function reader(client: pg.Client): {
  /** As the login, which sees no row of an organization. */
  reading: <T>(work: Work<T>) => Promise<Reading<T>>
  /** As `keystride_system`, which sees the rows of all. */
  asSystem: <T>(work: Work<T>) => Promise<Reading<T>>
} {
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: Work<T>, role: string | null): Promise<Reading<T>> => {
    const next = last.then(() =>
      read(async () => {
        await client.query('begin read only')
        try {
          if (role !== null) await client.query(`set local role ${role}`)
          return await work(client)
        } finally {
          await client.query('rollback').catch(() => {}) // the connection is lost: the work has the reason
        }
      }),
    )
    last = next
    return next
  }
  return { reading: (work) => inTurn(work, null), asSystem: (work) => inTurn(work, 'keystride_system') }
}

/** The only row of a statement without a table. */
export function only<T>(rows: readonly T[]): T {
  const [row] = rows
  if (row === undefined) throw new Error('a select without a table came back without its row')
  return row
}
