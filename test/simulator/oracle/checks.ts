import type { Invariant, Violation } from '../invariants.js'
import type { MemorySessions } from '../stores/session.js'
import type { Tables } from '../stores/tables.js'
import type { Sealed } from '../typists.js'

export interface OracleNeeds {
  readonly tables: Tables
  readonly sessions: MemorySessions
  readonly now: () => number
  readonly step: () => number
  readonly boundTo: (sealed: Uint8Array) => Sealed | null
  readonly codeOf: (hash: string | null) => string | null
  readonly violated: (violation: Violation) => void
  /** Counts a state that was reached; the test requires that a run reaches all of them. */
  readonly saw: (what: string) => void
}

/** Reports a violation unless `holds`. */
export type Hold = (invariant: Invariant, holds: boolean, found: () => string) => void

export const DAY_MS = 24 * 3_600_000
