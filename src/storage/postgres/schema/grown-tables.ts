import type { Database } from '../connection/client.js'

/** Fewer rows are read in no time whatever the plan, and fit so few pages that the planner would rather read them all. */
const FIRST_LOOK = 512

/**
 * To be called after each creation: at every power of two from 512 on, statistics that have been left behind are renewed.
 * Without them plans made while the tables were small are kept, and an import pays for every person there is.
 */
export function analyzeAsItGrows(database: Database): () => void {
  let created = 0
  let next = FIRST_LOOK
  return () => {
    created += 1
    if (created < next) return
    next *= 2
    // Nobody waits for it, and where it fails the server's own look comes within a minute.
    void database.call((sql) => sql`select keystride.analyze_grown()`).catch(() => {})
  }
}
