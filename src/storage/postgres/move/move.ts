import { setTimeout as delay } from 'node:timers/promises'
import { ExpectedFault } from '../../../base/expected-fault.js'
import type { PlacementState } from '../../placement.js'
import { codeOf, FORBIDDEN, FOREIGN_KEY } from '../connection/errors.js'
import { type Client, connectClient, endClient, withClient } from '../connection/with-client.js'
import { limitWaiting, untilUnlocked } from '../schema/table-locks.js'
import { agree, type Both, clearRows, copyChanged, copyRows, takeChanged } from './copy-rows.js'
import { ARCHIVES, type MovedTable, movedTables } from './moved-tables.js'
import { addTriggers, dropTriggers, LOCKED_MS, type Say } from './triggers.js'
import { guard, within } from './within.js'

/** A database of a move. */
interface MoveEnd {
  readonly name: string
  /** Connection string of the server in use. */
  readonly server: () => string
}

interface MoveNeeds {
  readonly organizationId: string
  readonly from: MoveEnd
  readonly to: MoveEnd
  /** Longer than a process may serve an organization without a look at its placement, ms. */
  readonly pauseMs: number
  readonly say: Say
}

export interface Moved {
  readonly rows: number
  /** Time for which calls were refused, ms. */
  readonly pausedMs: number
}

const REPAIRS_MAX = 3
/** Longest wait for the organization's open writes during the pause. */
const CLOSE_MS = 2000
/** Longest time of the last changes, after which the source serves again. */
const LAST_ROUND_MS = 15_000
const CLEAR_TRIES = 5
const [REOPEN_TRIES, REOPEN_AGAIN_MS] = [20, 500]

/**
 * Moves an organization to another database while it serves: copies its rows from one snapshot, then the rows that changed meanwhile,
 * compares both copies, refuses calls for the last changes, and switches in one transaction of the destination. An interrupted move goes
 * on with the same call. The source keeps its copy in the state `left`, in which it refuses writes.
 */
export const moveOrganization = (needs: MoveNeeds): Promise<Moved> => alone(needs, (move) => move.run())

/** Takes an unfinished move back: the source serves as before, and the destination's part of the copy is deleted. */
export const takeBack = (needs: MoveNeeds): Promise<void> => alone(needs, (move) => move.undo())

/** Lets the rows of a copy that a move has left be deleted. */
export const openLeftCopy = ({ server }: MoveEnd, organizationId: string): Promise<void> =>
  withClient(server(), async (client) => dropTriggers(client, await movedTables(client), organizationId, () => {}), {
    queryMs: 0,
  })

/** Runs the steps of a move, while no other call moves the organization from or to one of the two databases. */
async function alone<T>(needs: MoveNeeds, work: (move: Move) => Promise<T>): Promise<T> {
  const { from, to, organizationId } = needs
  const clients: Client[] = []
  const open = async ({ server }: MoveEnd): Promise<Client> => {
    const client = await connectClient(server(), { queryMs: 0 })
    clients.push(client)
    return client
  }
  try {
    for (const end of [from, to]) await guard(await open(end), organizationId)
    return await work(new Move(needs, await open(from), await open(to)))
  } finally {
    await Promise.all(clients.map(endClient))
  }
}

/** The steps of one move. */
class Move {
  readonly #needs: MoveNeeds
  readonly #from: Client
  readonly #to: Client
  readonly #id: string
  #rows = 0

  constructor(needs: MoveNeeds, from: Client, to: Client) {
    this.#needs = needs
    this.#from = from
    this.#to = to
    this.#id = needs.organizationId
  }

  async run(): Promise<Moved> {
    const { from, to } = this.#needs
    const tables = await this.#fitting()
    const { here, there, isThere } = await this.#states()
    if (here === 'left') throw new ExpectedFault(`the organization has left ${from.name}`)
    if (here === 'closed' && there !== 'arriving') {
      if (isThere && (there === null || there === 'left')) return await this.#leave(performance.now())
      throw new ExpectedFault(`${from.name} is closed, and ${to.name} has not the organization`)
    }
    if (there === null ? isThere : there !== 'arriving' && there !== 'left')
      throw new ExpectedFault(`${to.name} has the organization too: delete one of the copies`)
    if (there === 'arriving' && here !== null && here !== 'copying') await this.#setState('leaving')
    else await this.#copyAll(tables)
    await this.#verify(tables)
    // The comparison took a while; this round leaves little for the last one.
    await this.#round(tables)
    return await this.#close(tables)
  }

  async undo(): Promise<void> {
    const { from, to } = this.#needs
    const tables = await this.#fitting()
    const { here, there } = await this.#states()
    if (here === 'left' || (here === 'closed' && there !== 'arriving'))
      throw new ExpectedFault(`the organization has moved to ${to.name}: move it from there`)
    if (here === null && there !== 'arriving')
      throw new ExpectedFault(`no move from ${from.name} to ${to.name} is under way`)
    if (there === 'arriving') {
      await this.#clear(tables)
      await this.#forget(this.#to)
    }
    await dropTriggers(this.#from, tables, this.#id, this.#needs.say)
    await this.#forget(this.#from)
  }

  /** The tables, if the destination may be written without its triggers. Both databases have the schema of this version. */
  async #fitting(): Promise<MovedTable[]> {
    await this.#asCopier(async () => {})
    return await movedTables(this.#from)
  }

  /** The state at the source, that at the destination, and whether the destination has the organization. */
  async #states() {
    const stateIn = (client: Client) =>
      this.#asSystem(client, async () => {
        const { rows } = await client.query<{ state: PlacementState }>(
          'select state from keystride.placement where organization_id = $1',
          [this.#id],
        )
        const has = await client.query('select from keystride.organization where organization_id = $1', [this.#id])
        return { state: rows[0]?.state ?? null, has: has.rowCount === 1 }
      })
    const [source, destination] = [await stateIn(this.#from), await stateIn(this.#to)]
    if (!source.has) throw new ExpectedFault(`${this.#needs.from.name} has no organization of that id`)
    return { here: source.state, there: destination.state, isThere: destination.has }
  }

  /** Copies every table but the late ones from one snapshot. Starts anew if an earlier copy was interrupted. */
  async #copyAll(tables: readonly MovedTable[]): Promise<void> {
    const { from, to, say } = this.#needs
    await this.#asSystem(this.#from, () => this.#place(this.#from, 'copying', to.name))
    await this.#asSystem(this.#to, () => this.#place(this.#to, 'arriving', from.name))
    // An earlier move in the other direction has left them.
    await dropTriggers(this.#to, tables, this.#id, say)
    await this.#clear(tables)
    await addTriggers(this.#from, tables, this.#id, say)
    await this.#makePartitions()
    await this.#snapshot(async () => {
      await this.#from.query('delete from keystride.moved_row where organization_id = $1', [this.#id])
      for (const table of tables.filter(({ late }) => !late)) {
        const rows = await this.#asCopier((both) => copyRows(both, table, this.#id))
        this.#rows += rows
        if (rows > 0) say(`copied ${rows.toLocaleString('en')} rows of ${table.name}`)
      }
    })
    await this.#setState('leaving')
  }

  /** Deletes the organization's rows in the destination. Rows that are only added go with the organization's row. */
  async #clear(tables: readonly MovedTable[]): Promise<void> {
    const names = tables.flatMap(({ name, appendOnly }) => (appendOnly || name === 'organization' ? [] : name))
    for (let tries = 1; ; tries++) {
      await this.#asCopier(async () => {
        for (const name of [...ARCHIVES, ...names]) await clearRows(this.#to, name, this.#id)
      })
      try {
        return await this.#asSystem(this.#to, () => clearRows(this.#to, 'organization', this.#id))
      } catch (error) {
        // A job that began before has added a row.
        if (codeOf(error) !== FOREIGN_KEY || tries === CLEAR_TRIES) throw error
      }
    }
  }

  /** One round: copies the rows that changed since the last one. */
  #round(tables: readonly MovedTable[], more: (both: Both) => Promise<void> = async () => {}): Promise<void> {
    return this.#snapshot(() =>
      this.#asCopier(async (both) => {
        const changed = await takeChanged(both, this.#id)
        const early = tables.filter(({ late }) => !late)
        const differing = await copyChanged(both, early, this.#id)
        if (differing !== null) throw new ExpectedFault(`changed rows of ${differing} differ after they were copied`)
        if (changed > 0) this.#needs.say(`copied ${changed.toLocaleString('en')} changed rows`)
        await more(both)
      }),
    )
  }

  /** Compares both copies of every table but the late ones, and copies one anew that differs, such as one in which rows have expired. */
  async #verify(tables: readonly MovedTable[]): Promise<void> {
    const { say } = this.#needs
    for (let tries = 0; ; tries++) {
      const differing: string[] = []
      await this.#round(tables, async (both) => {
        for (const table of tables.filter(({ late }) => !late)) {
          if (await agree(both, table, this.#id)) continue
          differing.push(table.name)
          if (!table.appendOnly) await clearRows(both.to, table.name, this.#id)
          await copyRows(both, table, this.#id)
        }
      })
      if (differing.length === 0) return say('both copies have the same counts and checksums')
      if (tries === REPAIRS_MAX)
        throw new ExpectedFault(`the copies differ in ${differing.join(', ')}: the source goes on`)
      say(`copied ${differing.join(', ')} anew`)
    }
  }

  /** Refuses calls, copies the rest, and switches. Reopens the source after a failure before the switch. */
  async #close(tables: readonly MovedTable[]): Promise<Moved> {
    const begun = performance.now()
    let [complete, expired] = [false, false]
    const timer = setTimeout(() => {
      if (complete) return
      expired = true
      for (const client of [this.#from, this.#to]) void client.end().catch(() => {})
    }, this.#needs.pauseMs + LAST_ROUND_MS)
    try {
      await this.#setState('closing')
      await delay(this.#needs.pauseMs)
      // Every write of the organization shares this lock, so that none is under way once the state is set.
      await this.#asSystem(this.#from, async () => {
        await this.#from.query(`set local lock_timeout = '${CLOSE_MS}ms'`)
        await this.#from.query('select pg_advisory_xact_lock(keystride.move_lock($1))', [this.#id])
        await this.#place(this.#from, 'closed', this.#needs.to.name)
      })
      await this.#round(tables, async (both) => {
        for (const table of tables.filter(({ late }) => late)) {
          await clearRows(both.to, table.name, this.#id)
          this.#rows += await copyRows(both, table, this.#id)
          if (!(await agree(both, table, this.#id))) throw new ExpectedFault(`the copies differ in ${table.name}`)
        }
        await both.to.query('delete from keystride.placement where organization_id = $1', [this.#id])
        complete = true
      })
    } catch (error) {
      // If the answer to the commit got lost, the destination may serve already: the same call finds out.
      if (!complete) await this.#reopen()
      throw expired ? new ExpectedFault('the last changes took too long: run this again') : error
    } finally {
      clearTimeout(timer)
    }
    return await this.#leave(begun)
  }

  /** Serves the organization from the source again. The connection of the move may be lost. */
  async #reopen(): Promise<void> {
    const { from, to } = this.#needs
    for (let tries = 1; tries <= REOPEN_TRIES; tries++) {
      try {
        await withClient(from.server(), (client) =>
          this.#asSystem(client, () => this.#place(client, 'leaving', to.name)),
        )
        return this.#needs.say(`${from.name} serves again`)
      } catch {
        await delay(REOPEN_AGAIN_MS)
      }
    }
    this.#needs.say('the organization stays refused: run this again')
  }

  /** Ends the source's part, from which nothing is delivered any more. */
  async #leave(begun: number): Promise<Moved> {
    await this.#asSystem(this.#from, async () => {
      await this.#from.query(
        `update keystride.alert_delivery set state = 'dropped' where organization_id = $1 and state = 'waiting'`,
        [this.#id],
      )
      for (const table of ['alert_channel', 'profile_link', 'moved_row']) await clearRows(this.#from, table, this.#id)
      await this.#place(this.#from, 'left', this.#needs.to.name)
    })
    return { rows: this.#rows, pausedMs: performance.now() - begun }
  }

  #setState(state: PlacementState): Promise<void> {
    return this.#asSystem(this.#from, () => this.#place(this.#from, state, this.#needs.to.name))
  }

  /** The time stays that of the begin of the move, or of its end. */
  async #place(client: Client, state: PlacementState, other: string): Promise<void> {
    await client.query(
      `insert into keystride.placement as p (organization_id, state, other) values ($1, $2, $3)
       on conflict (organization_id) do update set state = excluded.state, other = excluded.other,
         since = case when excluded.state in ('copying', 'arriving', 'left') then excluded.since else p.since end`,
      [this.#id, state, other],
    )
  }

  #forget(client: Client): Promise<void> {
    return this.#asSystem(client, async () => {
      for (const table of ['placement', 'moved_row']) await clearRows(client, table, this.#id)
    })
  }

  /** Partitions of the months of the organization's attempts, where the destination has none. */
  async #makePartitions(): Promise<void> {
    const oldest = await this.#asSystem(this.#from, async () => {
      const { rows } = await this.#from.query<{ oldest: Date }>(
        `select keystride.time_of(id) as oldest from keystride.authentication where organization_id = $1 order by id limit 1`,
        [this.#id],
      )
      return rows[0]?.oldest ?? null
    })
    if (oldest === null) return
    const months = Math.ceil((Date.now() - oldest.getTime()) / (28 * 86_400_000))
    await untilUnlocked(this.#to, this.#needs.say, LOCKED_MS, () =>
      this.#asSystem(this.#to, async () => {
        await limitWaiting(this.#to)
        await this.#to.query('select keystride.ensure_partitions($1, $2)', [months, oldest])
      }),
    )
  }

  /** One transaction that sees every organization. */
  #asSystem<T>(client: Client, work: () => Promise<T>): Promise<T> {
    return within(client, { of: this.#id }, work)
  }

  /** One transaction of the source that sees one state of the organization. */
  #snapshot<T>(work: () => Promise<T>): Promise<T> {
    return within(this.#from, { of: this.#id, options: 'isolation level repeatable read' }, work)
  }

  /** One transaction of the destination that fires no trigger and checks no foreign key, because the rows have passed both at the source. */
  #asCopier<T>(work: (both: Both) => Promise<T>): Promise<T> {
    const before = async () => {
      try {
        await this.#to.query(`select set_config('session_replication_role', 'replica', true)`)
      } catch (error) {
        if (codeOf(error) !== FORBIDDEN) throw error
        throw new ExpectedFault(
          `the login of ${this.#needs.to.name} may not write without triggers; an administrator must run once: grant set on parameter session_replication_role to the login (PostgreSQL 15 or newer)`,
        )
      }
    }
    return within(this.#to, { of: this.#id, before }, () => work({ from: this.#from, to: this.#to }))
  }
}
