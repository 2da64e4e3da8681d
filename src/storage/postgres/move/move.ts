import { setTimeout as delay } from 'node:timers/promises'
import { ExpectedFault } from '../../../base/expected-fault.js'
import type { PlacementState } from '../../placement.js'
import { codeOf } from '../connection/errors.js'
import { MAINTENANCE_NAME } from '../connection/session-settings.js'
import { openSql, type Sql, type Transaction } from '../connection/sql.js'
import { type Both, clearRows, copyChanged, copyRows, sumOf, takeChanged } from './copy-rows.js'
import { type MovedTable, movedTables } from './moved-tables.js'

/** A database of a move. */
interface MoveEnd {
  readonly name: string
  readonly url: string
}

interface MoveNeeds {
  readonly organizationId: string
  readonly from: MoveEnd
  readonly to: MoveEnd
  /** Longer than a process may serve an organization without a look at its placement, ms. */
  readonly pauseMs: number
  /** Longer than a call that a process has accepted may take, ms. */
  readonly callMs: number
  readonly say: (line: string) => void
}

export interface Moved {
  readonly rows: number
  /** Time for which calls were refused, ms. */
  readonly pausedMs: number
}

const CONNECT_S = 10
const REPAIRS_MAX = 3
/** Statements of the service queue behind a wait for a lock of a table. */
const LOCK_MS = 150
const LOCK_TRIES = 200
const LOCK_AGAIN_MS = 100
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Moves an organization to another database while it serves: copies its rows from one snapshot, then the rows that changed meanwhile, in
 * rounds, compares both copies, refuses calls for the last round, and switches in one transaction of the destination. An interrupted
 * move goes on with the same call. The source keeps its copy in the state `left`.
 */
export const moveOrganization = (needs: MoveNeeds): Promise<Moved> => alone(needs, (move) => move.run())

/** Takes an unfinished move back: the source serves as before, and the destination's part of the copy is deleted. */
export const takeBack = (needs: MoveNeeds): Promise<void> => alone(needs, (move) => move.undo())

/** Runs the steps of a move, while no other call moves the organization in either database. */
async function alone<T>(needs: MoveNeeds, work: (move: Move) => Promise<T>): Promise<T> {
  const ends = [needs.from, needs.to]
  const [from, to, ...guards] = [...ends, ...ends].map(connect)
  if (from === undefined || to === undefined) throw new Error('a move has two ends')
  const within = async (left: readonly Sql[]): Promise<{ value: T }> => {
    const [guard, ...others] = left
    if (guard === undefined) return { value: await work(new Move(needs, from, to)) }
    return (await guard.begin(async (held) => {
      await held`select set_config('idle_in_transaction_session_timeout', '0', true)`
      const [row] = await held<{ free: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtextextended(${`keystride guard ${needs.organizationId}`}, 0)) as free`
      if (row?.free !== true) throw new ExpectedFault('another move of the organization is under way')
      return await within(others)
    })) as { value: T } // begin() unwraps arrays of promises; this is none
  }
  try {
    return (await within(guards)).value
  } finally {
    await Promise.all([from, to, ...guards].map((sql) => sql.end({ timeout: 1 })))
  }
}

const connect = ({ url }: MoveEnd): Sql =>
  openSql(url, {
    connectS: CONNECT_S,
    log: () => {},
    prepare: false,
    pooled: true,
    applicationName: MAINTENANCE_NAME,
  })

/** The steps of one move. */
class Move {
  readonly #needs: MoveNeeds
  readonly #from: Sql
  readonly #to: Sql
  readonly #id: string
  readonly #trigger: string
  #rows = 0

  constructor(needs: MoveNeeds, from: Sql, to: Sql) {
    this.#needs = needs
    this.#from = from
    this.#to = to
    this.#id = needs.organizationId
    this.#trigger = `moved_${needs.organizationId.replaceAll('-', '')}`
  }

  async run(): Promise<Moved> {
    const { to } = this.#needs
    const tables = await this.#fitting()
    const [state, arriving, there] = await this.#states()
    if (there && arriving === null && (state === 'closed' || state === 'left'))
      return await this.#leave(tables, performance.now())
    if (arriving === null && there)
      throw new ExpectedFault(`${to.name} has a copy of the organization: delete that copy first`)
    if (state === null || state === 'copying' || arriving === null) await this.#copyAll(tables)
    else await this.#setState('leaving')
    await this.#verify(tables)
    // The comparison took a while; this round leaves little for the last one.
    await this.#round(tables)
    return await this.#close(tables)
  }

  async undo(): Promise<void> {
    const { from, to } = this.#needs
    const tables = await this.#fitting()
    const [state, arriving, there] = await this.#states()
    if (there && arriving === null && (state === 'closed' || state === 'left'))
      throw new ExpectedFault(`the organization is in ${to.name}: move it from there`)
    if (state === null && arriving === null)
      throw new ExpectedFault(`no move from ${from.name} to ${to.name} is under way`)
    if (arriving !== null) {
      await this.#clear(tables)
      await this.#asSystem(this.#to, (sql) => this.#forget(sql))
    }
    await this.#dropTriggers(this.#from, tables)
    await this.#asSystem(this.#from, (sql) => this.#forget(sql))
  }

  /** The tables, if both databases have the same schema and the destination may be written without its triggers. */
  async #fitting(): Promise<MovedTable[]> {
    const versions = await Promise.all(
      [this.#from, this.#to].map(
        (sql) => sql<{ name: string }[]>`select name from keystride_history.migration order by id desc limit 1`,
      ),
    )
    const [here, there] = versions.map(([row]) => row?.name)
    if (here !== there)
      throw new ExpectedFault(`the databases have other schemas (${here}, ${there}): run "keystride migrate"`)
    await this.#asCopier(async () => {})
    return await movedTables(this.#from)
  }

  /** The states at the source and at the destination, and whether the destination has the organization. */
  async #states(): Promise<[PlacementState | null, PlacementState | null, boolean]> {
    const stateIn = (sql: Sql) =>
      this.#asSystem(sql, async (held) => {
        const [row] = await held<{ state: PlacementState }[]>`
          select state from keystride.placement where organization_id = ${this.#id}`
        const { count } = await held`select from keystride.organization where organization_id = ${this.#id}`
        return { state: row?.state ?? null, has: count === 1 }
      })
    const [source, destination] = [await stateIn(this.#from), await stateIn(this.#to)]
    if (!source.has) throw new ExpectedFault(`${this.#needs.from.name} has no organization of that id`)
    return [source.state, destination.state, destination.has]
  }

  /** Copies every table but the late ones from one snapshot. Starts anew if an earlier copy was interrupted. */
  async #copyAll(tables: readonly MovedTable[]): Promise<void> {
    const { from, to, say } = this.#needs
    await this.#asSystem(this.#to, (sql) => this.#place(sql, 'arriving', from.name))
    await this.#asSystem(this.#from, (sql) => this.#place(sql, 'copying', to.name))
    // An interrupted move in the other direction may have left them.
    await this.#dropTriggers(this.#to, tables)
    await this.#clear(tables)
    await this.#addTriggers(tables)
    await this.#makePartitions()
    await this.#snapshot(async (source) => {
      await source`delete from keystride.moved_row where organization_id = ${this.#id}`
      for (const table of tables.filter(({ late }) => !late)) {
        const rows = await this.#asCopier((target) => copyRows({ from: source, to: target }, table, this.#id))
        this.#rows += rows
        if (rows > 0) say(`copied ${rows.toLocaleString('en')} rows of ${table.name}`)
      }
    })
    await this.#setState('leaving')
  }

  /** Deletes the organization's rows in the destination. Rows that are only added go with the organization's row. */
  async #clear(tables: readonly MovedTable[]): Promise<void> {
    await this.#asCopier(async (sql) => {
      for (const table of tables)
        if (!table.appendOnly && table.name !== 'organization') await clearRows(sql, table, this.#id)
    })
    await this.#asSystem(this.#to, (sql) => sql`delete from keystride.organization where organization_id = ${this.#id}`)
  }

  /** One round: copies the rows that changed since the last one. */
  #round(tables: readonly MovedTable[], more: (both: Both) => Promise<void> = async () => {}): Promise<void> {
    const early = tables.filter(({ late }) => !late)
    return this.#snapshot((from) =>
      this.#asCopier(async (to) => {
        const changed = await takeChanged({ from, to }, this.#id)
        await copyChanged({ from, to }, early, this.#id)
        if (changed > 0) this.#needs.say(`copied ${changed.toLocaleString('en')} changed rows`)
        await more({ from, to })
      }),
    )
  }

  /** Compares both copies of every table but the late ones, and copies one anew that differs, such as one in which rows have expired. */
  async #verify(tables: readonly MovedTable[]): Promise<void> {
    const { say } = this.#needs
    for (let repairs = 0; ; repairs++) {
      const differing: string[] = []
      await this.#round(tables, async (both) => {
        for (const table of tables.filter(({ late }) => !late)) {
          if (await this.#agrees(both, table, true)) continue
          differing.push(table.name)
          if (!table.appendOnly) await clearRows(both.to, table, this.#id)
          await copyRows(both, table, this.#id)
        }
      })
      if (differing.length === 0) return say('both copies have the same counts and checksums')
      say(`copied ${differing.join(', ')} anew`)
      if (repairs === REPAIRS_MAX)
        throw new ExpectedFault(`the copies differ in ${differing.join(', ')}: the source goes on`)
    }
  }

  async #agrees({ from, to }: Both, table: MovedTable, hashed: boolean): Promise<boolean> {
    const [here, there] = await Promise.all([from, to].map((sql) => sumOf(sql, table, this.#id, hashed)))
    return here?.n === there?.n && here?.sum === there?.sum
  }

  /** Refuses calls, copies the rest, compares, and switches. Reopens the source after a failure. */
  async #close(tables: readonly MovedTable[]): Promise<Moved> {
    const begun = performance.now()
    let complete = false
    try {
      await this.#setState('closing')
      await delay(this.#needs.pauseMs)
      // Every write of the organization shares this lock, so that none is under way once the state is set.
      await this.#asSystem(this.#from, async (sql) => {
        await sql`select pg_advisory_xact_lock(keystride.move_lock(${this.#id}))`
        await this.#place(sql, 'closed', this.#needs.to.name)
      })
      await this.#round(tables, async (both) => {
        await this.#copyLate(both, tables)
        await both.to`delete from keystride.placement where organization_id = ${this.#id}`
        complete = true
      })
    } catch (error) {
      // If the answer to the commit got lost, the destination may serve already: the same call finds out.
      if (!complete) await this.#setState('leaving')
      throw error
    }
    return await this.#leave(tables, begun)
  }

  /** Copies the tables that come last, and compares the counts of all. */
  async #copyLate(both: Both, tables: readonly MovedTable[]): Promise<void> {
    for (const table of tables.filter(({ late }) => late)) {
      await clearRows(both.to, table, this.#id)
      this.#rows += await copyRows(both, table, this.#id)
    }
    for (const table of tables)
      if (!(await this.#agrees(both, table, table.late)))
        throw new ExpectedFault(`the copies differ in ${table.name}: the source goes on`)
  }

  /** Ends the source's part. Its triggers refuse writes until the last call has ended; then nothing is delivered from it any more. */
  async #leave(tables: readonly MovedTable[], begun: number): Promise<Moved> {
    await this.#setState('left')
    const pausedMs = performance.now() - begun
    await delay(this.#needs.callMs)
    await this.#dropTriggers(this.#from, tables)
    await this.#asSystem(this.#from, async (sql) => {
      await sql`update keystride.alert_delivery set state = 'dropped' where organization_id = ${this.#id} and state = 'waiting'`
      await sql`delete from keystride.alert_channel where organization_id = ${this.#id}`
      await sql`delete from keystride.moved_row where organization_id = ${this.#id}`
    })
    return { rows: this.#rows, pausedMs }
  }

  #setState(state: PlacementState): Promise<void> {
    return this.#asSystem(this.#from, (sql) => this.#place(sql, state, this.#needs.to.name))
  }

  async #place(sql: Transaction, state: PlacementState, other: string): Promise<void> {
    await sql`
      insert into keystride.placement as p (organization_id, state, other) values (${this.#id}, ${state}, ${other})
      on conflict (organization_id) do update set state = excluded.state, other = excluded.other, since = excluded.since`
  }

  async #forget(sql: Transaction): Promise<void> {
    await sql`delete from keystride.placement where organization_id = ${this.#id}`
    await sql`delete from keystride.moved_row where organization_id = ${this.#id}`
  }

  /** Partitions of the months of the organization's attempts, where the destination has none. */
  async #makePartitions(): Promise<void> {
    const [{ oldest } = { oldest: null }] = await this.#asSystem(
      this.#from,
      (sql) => sql<{ oldest: Date | null }[]>`
        select keystride.time_of(id) as oldest from keystride.authentication
        where organization_id = ${this.#id} order by id limit 1`,
    )
    if (oldest === null) return
    const months = Math.ceil((Date.now() - oldest.getTime()) / (28 * 86_400_000))
    await this.#asSystem(this.#to, (sql) => sql`select keystride.ensure_partitions(${months}, ${oldest})`)
  }

  #addTriggers(tables: readonly MovedTable[]): Promise<void> {
    return forTables(this.#from, tables, ({ name, key }) => {
      const noting = `execute function keystride.note_moved_row(${key.map((one) => `'${one.name}'`).join(', ')})`
      return `
        drop trigger if exists ${this.#trigger} on keystride.${name};
        drop trigger if exists ${this.#trigger}_deleted on keystride.${name};
        create trigger ${this.#trigger} after insert or update on keystride.${name}
          for each row when (new.organization_id = '${this.#id}') ${noting};
        create trigger ${this.#trigger}_deleted after delete on keystride.${name}
          for each row when (old.organization_id = '${this.#id}') ${noting}`
    })
  }

  #dropTriggers(sql: Sql, tables: readonly MovedTable[]): Promise<void> {
    return forTables(
      sql,
      tables,
      ({ name }) => `
        drop trigger if exists ${this.#trigger} on keystride.${name};
        drop trigger if exists ${this.#trigger}_deleted on keystride.${name}`,
    )
  }

  /** One transaction that sees every organization. */
  #asSystem<T>(sql: Sql, work: (sql: Transaction) => Promise<T>): Promise<T> {
    return within(sql, 'read write', this.#id, async (held) => {
      await held`select set_config('role', 'keystride_system', true)`
      return await work(held)
    })
  }

  /** One transaction of the source that sees one state of the organization. */
  #snapshot<T>(work: (sql: Transaction) => Promise<T>): Promise<T> {
    return within(this.#from, 'isolation level repeatable read', this.#id, async (held) => {
      await held`select set_config('role', 'keystride_system', true)`
      return await work(held)
    })
  }

  /** One transaction of the destination that fires no trigger and checks no foreign key, because both have done so at the source. */
  #asCopier<T>(work: (sql: Transaction) => Promise<T>): Promise<T> {
    return within(this.#to, 'read write', this.#id, async (held) => {
      try {
        await held`select set_config('session_replication_role', 'replica', true)`
      } catch (error) {
        if (codeOf(error) !== '42501') throw error
        throw new ExpectedFault(
          `the login of ${this.#needs.to.name} may not write without triggers; an administrator must run once: grant set on parameter session_replication_role to the login (PostgreSQL 15 or newer)`,
        )
      }
      await held`select set_config('role', 'keystride_system', true)`
      return await work(held)
    })
  }
}

/** Changes each table by itself, with a short wait for its lock. */
async function forTables(
  sql: Sql,
  tables: readonly MovedTable[],
  statementOf: (table: MovedTable) => string,
): Promise<void> {
  for (const table of tables)
    for (let tries = 1; ; tries++) {
      try {
        await sql.begin((held) => held.unsafe(`set local lock_timeout = '${LOCK_MS}ms'; ${statementOf(table)}`))
        break
      } catch (error) {
        if (codeOf(error) !== LOCK_NOT_AVAILABLE || tries === LOCK_TRIES) throw error
        await delay(LOCK_AGAIN_MS)
      }
    }
}

/**
 * Runs `work` in a transaction without limits of time. All transactions of a move share a lock, so that the next call of a killed one
 * waits for a commit that is under way.
 */
async function within<T>(sql: Sql, options: string, id: string, work: (sql: Transaction) => Promise<T>): Promise<T> {
  const result = await sql.begin(options, async (held) => {
    await held`
      select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true),
        set_config('bytea_output', 'hex', true), set_config('extra_float_digits', '1', true),
        pg_advisory_xact_lock(hashtextextended(${`keystride mover ${id}`}, 0))`
    return { value: await work(held) }
  })
  return (result as { value: T }).value // begin() unwraps arrays of promises; this is none
}
