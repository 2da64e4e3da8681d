import type { ProfileTargets } from '../../src/domain/biometric-status.js'
import type { Invariant, Violation } from './invariants.js'
import type { Journal } from './journal.js'
import { createOracle, type Oracle } from './oracle.js'
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

/** What a planted bug may reach. */
interface Reach {
  readonly tables: Tables
  /** How often the sessions were flushed. */
  readonly flushes: () => number
}

/** A bug: a store, a need or a flow in another one's place. */
export interface Planted {
  readonly name: string
  /** What finds it. */
  readonly by: Invariant
  /** In place of a store, each call of which is one transaction. */
  readonly stores?: (stores: MemoryStores, reach: Reach) => Partial<MemoryStores>
  /** In place of a store as one process sees it, each call of which is an await. */
  readonly seenAs?: (stores: Stores) => Partial<Stores>
  readonly flows?: (flows: Flows, reach: Reach) => Partial<Flows>
  readonly targets?: ProfileTargets
}

interface Needs {
  readonly random: Random
  readonly scheduler: Scheduler
  readonly journal: Journal
  readonly planted: Planted | undefined
  /** Sessions lie in PostgreSQL, which may lose the latest when it dies; else in Redis, which may be flushed. */
  readonly inDatabase: boolean
  readonly violated: (violation: Violation) => void
}

export interface World {
  readonly tables: Tables
  readonly oracle: Oracle
  /** Of a security code's hash. */
  readonly codeOf: (hash: string | null) => string | null
  start(process: number): Flows
  /** The sessions are gone, or the latest of what was done to them. */
  loseSessions(): void
}

/** Stores with nobody in them, and whoever watches what becomes of them. */
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
