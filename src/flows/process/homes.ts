import { every } from '../../base/every.js'
import { Refusal } from '../../domain/refusal.js'
import type { PlacementState, PlacementStore } from '../../storage/placement.js'

/** One of several databases. */
interface HomeDatabase {
  readonly name: string
  readonly placements: PlacementStore
}

/** Which of several databases has an organization. Databases are named by their index. */
export interface Homes {
  /**
   * The home of an organization; the first database for an unknown one. Refuses with `degraded` while the home is lost or the
   * organization is being moved. A promise only for an organization that this process does not know yet.
   */
  of(organizationId: string): number | Promise<number>
  /** The home as this process knows it; null for an unknown organization, and while the home refuses calls. */
  known(organizationId: string): number | null
  /** Notes the home of an organization. */
  note(organizationId: string, database: number): void
  /** Whether an organization whose rows are in this database is at home there. Refuses with `degraded` while that is unknown. */
  isAt(organizationId: string, database: number): boolean
  /**
   * The first row, by database, that is of an organization at home there; null if no database has one. Refuses with `degraded` while
   * the organization of a row is at home nowhere, which a process sees for a moment at the end of a move.
   */
  firstAtHome<Row extends { readonly organizationId: string }>(
    rows: readonly Promise<Row | null>[],
  ): Promise<Row | null>
  /** Resolves once every database that answers was asked. */
  readonly ready: Promise<unknown>
  stop(): Promise<void>
}

interface HomesNeeds {
  readonly monotonicMs: () => number
  /** STORE_PATIENCE. */
  readonly patience: number
}

/** Largest delay until a process sees the states of a move. */
const READ_EVERY_MS = 500
/**
 * A process that has not read the states of a database for this time refuses its organizations, because they may have moved. A move
 * waits longer between two states. STORE_PATIENCE multiplies it.
 */
export const STALE_MS = 1500
/** Seconds after which a call during the pause of a move is worth repeating. */
const PAUSED_S = 3

/** States in which a database does not have the organization at home. */
export const AWAY: readonly PlacementState[] = ['arriving', 'left']
const PAUSED: readonly PlacementState[] = ['closing', 'closed']

/** The states of moves in one database, as last read. */
interface Reading {
  states: ReadonlyMap<string, PlacementState>
  /** Monotonic time of the question, ms. */
  at: number
}

/** Finds homes by asking every database, and remembers them. */
export function createHomes(databases: readonly HomeDatabase[], { monotonicMs, patience }: HomesNeeds): Homes {
  const homes = new Map<string, number>()
  const { readings, ready, stop } = readPeriodically(databases, monotonicMs)

  /** The state of an organization in a database; undefined without a move. */
  function stateAt(i: number, organizationId: string): PlacementState | undefined {
    const reading = readings[i]
    if (reading === undefined || monotonicMs() - reading.at > STALE_MS * patience)
      throw new Refusal('degraded', `try again later: the database ${databases[i]?.name} is out of reach`)
    return reading.states.get(organizationId)
  }

  function isAt(organizationId: string, i: number): boolean {
    const state = stateAt(i, organizationId)
    return state === undefined || !AWAY.includes(state)
  }

  /** As `isAt`, for a call that is about to use the database. */
  function serves(organizationId: string, i: number): boolean {
    const state = stateAt(i, organizationId)
    if (state !== undefined && PAUSED.includes(state)) throw moving()
    return state === undefined || !AWAY.includes(state)
  }

  async function firstAtHome<Row extends { readonly organizationId: string }>(
    rows: readonly Promise<Row | null>[],
    is: typeof isAt = isAt,
  ): Promise<Row | null> {
    let away = false
    const found = await firstFound(
      rows.map(async (asked, i) => {
        const row = await asked
        if (row === null || is(row.organizationId, i)) return row
        away = true
        return null
      }),
    )
    if (found === null && away) throw moving()
    return found
  }

  async function search(organizationId: string): Promise<number> {
    const rows = databases.map(async ({ placements }, i) =>
      (await placements.has(organizationId)) ? { organizationId, i } : null,
    )
    const found = await firstAtHome(rows, serves)
    if (found === null) return 0
    homes.set(organizationId, found.i)
    return found.i
  }

  function of(organizationId: string): number | Promise<number> {
    const home = homes.get(organizationId)
    if (home !== undefined && serves(organizationId, home)) return home
    homes.delete(organizationId)
    return search(organizationId)
  }

  return {
    of,
    known(organizationId) {
      const home = homes.get(organizationId)
      try {
        return home !== undefined && serves(organizationId, home) ? home : null
      } catch {
        return null
      }
    },
    note: (organizationId, database) => void homes.set(organizationId, database),
    isAt,
    firstAtHome: (rows) => firstAtHome(rows),
    ready,
    stop,
  }
}

/** Reads the placements of every database, each on its own, so that a slow one delays no other. */
function readPeriodically(databases: readonly HomeDatabase[], monotonicMs: () => number) {
  const readings = databases.map((): Reading => ({ states: new Map(), at: Number.NEGATIVE_INFINITY }))
  const jobs = databases.map(({ placements }, i) =>
    every({
      async work() {
        const at = monotonicMs()
        const list = await placements.list()
        readings[i] = { states: new Map(list.map(({ organizationId, state }) => [organizationId, state])), at }
        return false
      },
      everyMs: READ_EVERY_MS,
      // A database without a reading is refused as lost.
      onError: () => {},
    }),
  )
  return {
    readings,
    ready: Promise.all(jobs.map(({ first }) => first)),
    async stop() {
      await Promise.all(jobs.map((job) => job.stop()))
    },
  }
}

/**
 * The first answer that is not null; null if all are. Rejects with the first error only if no answer was found, so that a lost database
 * delays nobody whose row is in another one.
 */
export function firstFound<T>(answers: readonly Promise<T | null>[]): Promise<T | null> {
  return new Promise((resolve, reject) => {
    void Promise.allSettled(
      answers.map(async (answer) => {
        const found = await answer
        if (found !== null) resolve(found)
      }),
    ).then((outcomes) => {
      const failed = outcomes.find((outcome) => outcome.status === 'rejected')
      if (failed === undefined) resolve(null)
      else reject(failed.reason)
    })
  })
}

const moving = () =>
  new Refusal('degraded', 'the organization is being moved to another database: try again shortly', PAUSED_S)
