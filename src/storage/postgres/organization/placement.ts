import type { Placement, PlacementStore } from '../../placement.js'
import type { Database } from '../connection/client.js'

interface PlacementRow {
  organization_id: string
  state: Placement['state']
  other: string
  since: Date
}

/** Placements in PostgreSQL. */
export function postgresPlacements(database: Database): PlacementStore {
  return {
    has: (organizationId) =>
      database.scoped(organizationId, async (sql) => {
        const { count } = await sql`select from keystride.organization where organization_id = ${organizationId}`
        return count === 1
      }),

    async list() {
      const rows = await database.call((sql) => sql<PlacementRow[]>`select * from keystride.placements()`, {
        probe: true,
      })
      return rows.map(({ organization_id, state, other, since }) => ({
        organizationId: organization_id,
        state,
        other,
        since: since.getTime(),
      }))
    },
  }
}
