import type { Database } from '../connection/client.js'

/** With fewer rows every plan is fast, and the planner prefers a sequential scan of few pages. */
const FIRST_LOOK = 512

/**
 * Returns a function to call after each creation, which renews outdated statistics at every power of two from 512 on. Otherwise
 * connections keep plans from the time when the tables were small, and an import reads every person for each creation.
 */
export function analyzeAsItGrows(database: Database): () => void {
  let created = 0
  let next = FIRST_LOOK
  return () => {
    created += 1
    if (created < next) return
    next *= 2
    // Not awaited, because autovacuum analyzes within a minute if this fails.
    void database.call((sql) => sql`select keystride.analyze_grown()`).catch(() => {})
  }
}
