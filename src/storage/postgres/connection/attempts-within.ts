import type { TimeWindow } from '../../../domain/time-window.js'
import type { Transaction } from './client.js'

/** The attempts of a window: ids begin with the time, and lead to the partitions. */
export const within = (sql: Transaction, { from, to }: TimeWindow) => sql`
  id >= keystride.uuid_from(${new Date(from)}) and id < keystride.uuid_from(${new Date(to)})`
