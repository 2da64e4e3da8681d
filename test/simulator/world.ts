import type { ProfileTargets } from '../../src/domain/biometric-status.js'
import type { Invariant, Violation } from './invariants.js'
import type { Journal } from './journal.js'
import { createOracle, type Oracle } from './oracle/oracle.js'
import type { Random, Scheduler } from './scheduler.js'
import {
  CODE_LENGTH,
  type Flows,
  type MemoryStores,
  memoryStores,
  type Stores,
  startProcess,
  TARGETS,
} from './service.js'
import { durably } from './stores/durably.js'
import { memorySessions } from './stores/session.js'
import { createTables, type Tables } from './stores/tables.js'
import { rememberingCodeHash, rememberingVault } from './typists.js'

/** The state that a planted bug may read and change. */
export interface Reach {
  readonly tables: Tables
  /** Number of flushes of the sessions. */
  readonly flushes: () => number
}

/** A bug that replaces a store, a dependency or a flow. */
export interface Planted {
  readonly name: string
  /** The invariant that detects it. */
  readonly by: Invariant
  /** Replaces a store, each call of which is one transaction. */
  readonly stores?: (stores: MemoryStores, reach: Reach) => Partial<MemoryStores>
  /** Replaces a store as one process sees it, each call of which is an await. */
  readonly seenAs?: (stores: Stores) => Partial<Stores>
  readonly flows?: (flows: Flows, reach: Reach) => Partial<Flows>
  readonly targets?: ProfileTargets
}

interface Needs {
  readonly random: Random
  readonly scheduler: Scheduler
  readonly journal: Journal
  readonly planted: Planted | undefined
  /**
   * True if sessions are in PostgreSQL, which may lose the latest writes when it dies; false if they are in Redis, which may
   * be flushed.
   */
  readonly inDatabase: boolean
  readonly violated: (violation: Violation) => void
}

export interface World {
  readonly tables: Tables
  readonly oracle: Oracle
  /** The security code of a hash; null if none. */
  readonly codeOf: (hash: string | null) => string | null
  start(process: number): Flows
  /** Deletes all sessions in Redis, or the latest changes of sessions in PostgreSQL. */
  loseSessions(): void
}

/** Empty stores, and the oracle that checks every commit. */
export function openWorld({ random, scheduler, journal, planted, inDatabase, violated }: Needs): World {
  const { vault, boundTo } = rememberingVault()
  const { codeHash, codeOf } = rememberingCodeHash()
  const { now, step } = scheduler
  const tables = createTables(now, (event) => oracle.onCommit(event))
  const sessions = memorySessions(now)
  const oracle = createOracle({ tables, sessions, now, step, boundTo, codeOf, violated, saw: journal.count })
  if (inDatabase) tables.endSessionsOf = (organizationId, userRef) => sessions.endAll(organizationId, userRef, null)
  let flushes = 0
  let given = 0
  const reach: Reach = { tables, flushes: () => flushes }
  const shipped = durably(memoryStores(tables, sessions), sessions.durable)
  const needs = {
    scheduler,
    stores: { ...shipped, ...planted?.stores?.(shipped, reach) },
    seenAs: (seen: Stores) => ({ ...seen, ...planted?.seenAs?.(seen) }),
    targets: planted?.targets ?? TARGETS,
    vault,
    codeHash,
    fresh: (kind: string) => `${kind}-${String(++given).padStart(8, '0')}`,
    randomDigits: () => Array.from({ length: CODE_LENGTH }, () => random.below(10)).join(''),
  }
  return {
    tables,
    oracle,
    codeOf,
    start(process) {
      const flows = startProcess(needs, process)
      return { ...flows, ...planted?.flows?.(flows, reach) }
    },
    loseSessions() {
      flushes++
      if (inDatabase) sessions.loseLatest((n) => random.below(n + 1))
      else sessions.flush()
    },
  }
}
