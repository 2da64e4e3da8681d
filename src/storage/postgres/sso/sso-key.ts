import type { SsoKeyStore } from '../../sso-key.js'
import { type Database, NIL } from '../connection/client.js'

/** Keys that sign tokens, in PostgreSQL. */
export const postgresSsoKeys = (database: Database): SsoKeyStore => ({
  list: (organizationId) =>
    database.keyed(organizationId, async (sql) => {
      const rows = await sql<{ id: string; sealed: Uint8Array; signs_from: Date }[]>`
        select id, sealed, signs_from from keystride.sso_key where organization_id = ${organizationId} order by signs_from, id`
      return rows.map(({ id, sealed, signs_from }) => ({
        id,
        sealed: new Uint8Array(sealed),
        signsFrom: signs_from.getTime(),
      }))
    }),

  add: (organizationId, { id, sealed, signsFrom }, follows) =>
    database.keyed(organizationId, async (sql) => {
      const { count } = await sql`
        insert into keystride.sso_key (organization_id, id, follows, sealed, signs_from)
        values (${organizationId}, ${id}, ${follows ?? NIL}, ${Buffer.from(sealed)}, ${new Date(signsFrom)})
        on conflict do nothing`
      return count === 1
    }),

  remove: (organizationId, ids) =>
    database.keyed(organizationId, async (sql) => {
      await sql`
        delete from keystride.sso_key where organization_id = ${organizationId} and id = any (${`{${ids.join(',')}}`}::uuid[])`
    }),
})
