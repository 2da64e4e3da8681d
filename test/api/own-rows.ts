import type { Transaction } from '../../src/storage/postgres/connection/client.js'
import type { TestService } from '../harness/service.js'
import { databaseOf } from '../servers/database.js'

/** Runs statements on the database of a service that see and change only the rows of its organization. */
export function ownRows(service: TestService) {
  const database = databaseOf(service)
  return <T>(work: (sql: Transaction) => Promise<T>): Promise<T> => database.scoped(service.organizationId, work)
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
