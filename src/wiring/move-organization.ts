import { ExpectedFault } from '../base/expected-fault.js'
import { STALE_MS } from '../flows/process/homes.js'
import type { Placement } from '../storage/placement.js'
import { type Moved, moveOrganization, takeBack } from '../storage/postgres/move/move.js'
import type { OneDatabase, Stores } from './stores.js'

/** More than a process may take to see a state of the move. */
const PAUSE_MS = STALE_MS + 200
/**
 * More than one call of a store may take, from the look-up of the organization's database on: a second for a connection, a second for each
 * statement, and some. STORE_PATIENCE multiplies it.
 */
const CALL_MS = 3000

interface Progress {
  readonly say: (line: string) => void
  /** STORE_PATIENCE of the service. */
  readonly patience: number
}

/** A database that has rows of an organization. */
interface Copy {
  readonly database: OneDatabase
  readonly placement: Placement | null
}

/** Moves an organization to the named database, or goes on with an interrupted move there. */
export async function moveTo(
  stores: Stores,
  organizationId: string,
  name: string,
  progress: Progress,
): Promise<Moved & { readonly from: string }> {
  const to = named(stores, name)
  const home = await homeOf(stores, organizationId)
  const from = home === to ? await sourceOf(stores, organizationId, to) : home
  const moved = await moveOrganization(needsOf(organizationId, { from, to }, progress))
  if (from.stores.sessions !== to.stores.sessions) await from.stores.endSessionsOf(organizationId)
  return { ...moved, from: from.name }
}

/** Takes an unfinished move back. */
export async function moveBack(stores: Stores, organizationId: string, progress: Progress): Promise<void> {
  const from = await homeOf(stores, organizationId)
  const copies = await copiesOf(stores, organizationId)
  const other = copies.find(({ database }) => database === from)?.placement?.other
  if (other === undefined) throw new ExpectedFault('no move of this organization is under way')
  await takeBack(needsOf(organizationId, { from, to: named(stores, other) }, progress))
}

/** Deletes the copies that finished moves have left, and returns the names of their databases. */
export async function deleteSources(stores: Stores, organizationId: string, progress: Progress): Promise<string[]> {
  const left = (await copiesOf(stores, organizationId)).filter(({ placement }) => placement?.state === 'left')
  for (const { database, placement } of left) {
    // The end of the move may have been interrupted.
    const to = named(stores, placement?.other ?? '')
    if (await to.placements.has(organizationId))
      await moveOrganization(needsOf(organizationId, { from: database, to }, progress))
    await database.stores.organizations.delete(organizationId)
    await database.placements.forget(organizationId)
  }
  return left.map(({ database }) => database.name)
}

/** Throws while a move of the organization is under way. */
export async function requireNoMove(stores: Stores, organizationId: string): Promise<void> {
  const copies = await copiesOf(stores, organizationId)
  if (copies.some(({ placement }) => placement !== null && placement.state !== 'left'))
    throw new ExpectedFault('the organization is being moved: go on with the move or take it back first')
}

function named({ databases }: Stores, name: string): OneDatabase {
  const found = databases.find((one) => one.name === name)
  if (found === undefined)
    throw new ExpectedFault(`there is no database ${name}: there are ${databases.map((one) => one.name).join(', ')}`)
  return found
}

async function copiesOf({ databases }: Stores, organizationId: string): Promise<Copy[]> {
  const copies = await Promise.all(
    databases.map(async (database): Promise<Copy | null> => {
      if (!(await database.placements.has(organizationId))) return null
      const list = await database.placements.list()
      return { database, placement: list.find((one) => one.organizationId === organizationId) ?? null }
    }),
  )
  return copies.filter((copy) => copy !== null)
}

/** The database that serves the organization, or that a move is closing. */
async function homeOf(stores: Stores, organizationId: string): Promise<OneDatabase> {
  const copies = await copiesOf(stores, organizationId)
  const home =
    copies.find(({ placement }) => placement === null) ??
    copies.find(({ placement }) => placement?.state !== 'left' && placement?.state !== 'arriving')
  if (home === undefined) throw new ExpectedFault('there is no organization of that id')
  return home.database
}

/** The source of a move whose switch is done; its end may have been interrupted. */
async function sourceOf(stores: Stores, organizationId: string, to: OneDatabase): Promise<OneDatabase> {
  const copies = await copiesOf(stores, organizationId)
  const source = copies.find(
    ({ placement }) => (placement?.state === 'closed' || placement?.state === 'left') && placement.other === to.name,
  )
  if (source === undefined) throw new ExpectedFault(`the organization is in ${to.name} already`)
  return source.database
}

const needsOf = (
  organizationId: string,
  { from, to }: { readonly from: OneDatabase; readonly to: OneDatabase },
  { say, patience }: Progress,
) => ({
  organizationId,
  from: { name: from.name, url: from.server() },
  to: { name: to.name, url: to.server() },
  pauseMs: PAUSE_MS,
  callMs: CALL_MS * patience,
  say,
})
