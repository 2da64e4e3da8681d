import { REFUSED_PER_DAY } from '../../../domain/refused-patterns.js'
import { REPLAY_MEMORY_DAYS } from '../../../domain/replay.js'
import type { RefusedPatternStore } from '../../refused-patterns.js'
import { bigintArray, type Database } from '../connection/client.js'

/** Refused patterns in PostgreSQL. */
export function postgresRefusedPatterns(database: Database): RefusedPatternStore {
  return {
    remember: (organizationId, { id, memberId, generation, sealed, replayMark, createdAt, entry }) =>
      database.keyed(
        organizationId,
        async (sql) => {
          await sql`
            select keystride.remember_refused(${memberId}, ${replayMark.exact}, ${bigintArray(replayMark.bands)},
              ${new Date(createdAt)}, ${id}, ${generation}, ${sealed}, ${REFUSED_PER_DAY}, ${REPLAY_MEMORY_DAYS}, ${entry})`
        },
        { durable: false },
      ),
  }
}
