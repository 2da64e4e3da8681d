import type { Placement, PlacementStore } from '../../placement.js'
import type { Database } from '../connection/client.js'

/** Placements in PostgreSQL. */
export function postgresPlacements(database: Database): PlacementStore {
  return {
    has: (organizationId) =>
      database.scoped(organizationId, async (sql) => {
        const { count } = await sql`select from keystride.organization where organization_id = ${organizationId}`
        return count === 1
      }),

    list: () =>
      database.call(
        (sql) => sql<Placement[]>`
          select organization_id as "organizationId", state, other, extract(epoch from since)::float8 * 1000 as since
          from keystride.placements()`,
        { probe: true },
      ),
  }
}
