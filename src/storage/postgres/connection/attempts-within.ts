import type { TimeWindow } from '../../../domain/time-window.js'
import type { Transaction } from './client.js'

/** The condition for the attempts of a window, by id. Ids begin with the time, so the planner skips other partitions. */
export const within = (sql: Transaction, { from, to }: TimeWindow) => sql`
  id >= keystride.uuid_from(${new Date(from)}) and id < keystride.uuid_from(${new Date(to)})`
