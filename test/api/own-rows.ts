import { connectPostgres, type Database, type Transaction } from '../../src/storage/postgres/connection/client.js'
import type { TestService } from '../harness/service.js'

/** Pools by address of the database. They live as long as the worker, as the shared service does. */
const pools = new Map<string, Database>()

/** Runs statements on the database of a service that see and change only the rows of its organization. */
export function ownRows(service: TestService) {
  const url = service.env.DATABASE_URL ?? ''
  const pool = pools.get(url) ?? connectPostgres({ url, max: 2, patience: 10 })
  pools.set(url, pool)
  return <T>(work: (sql: Transaction) => Promise<T>): Promise<T> => pool.scoped(service.organizationId, work)
}
export type OwnRows = ReturnType<typeof ownRows>

/** Ids of the references of a member, oldest first. */
export const referencesOf = async (rows: OwnRows, memberRef: string, kind = 'enrolled'): Promise<string[]> =>
  (
    await rows(
      (sql) => sql<{ id: string }[]>`
        select r.id from keystride.reference_pattern r join keystride.member m on m.id = r.member_id
        where m.member_ref = ${memberRef} and r.kind = ${kind} order by r.created_at, r.id`,
    )
  ).map(({ id }) => id)
