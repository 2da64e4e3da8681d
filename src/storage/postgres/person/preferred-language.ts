import type { PreferredLanguageStore } from '../../preferred-language.js'
import type { Database } from '../connection/client.js'

/** Preferred languages on the member's row in PostgreSQL. */
export function postgresPreferredLanguages(database: Database): PreferredLanguageStore {
  return {
    set: (organizationId, memberId, language) =>
      database.keyed(organizationId, async (sql) => {
        const { count } = await sql`
          update keystride.member set preferred_language = ${language}
          where organization_id = ${organizationId} and id = ${memberId} and archived_at is null`
        return count === 1
      }),
  }
}
