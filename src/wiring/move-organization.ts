import { ExpectedFault } from '../base/expected-fault.js'
import { AWAY, STALE_MS } from '../flows/process/homes.js'
import type { Placement } from '../storage/placement.js'
import { type Moved, moveOrganization, openLeftCopy, takeBack } from '../storage/postgres/move/move.js'
import type { OneDatabase, Stores } from './stores.js'

/** A process may take as long to see a state of the move as its knowledge of the placements may be old, and a little more. */
const PAUSE_MS = STALE_MS + 200

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
  const copies = await copiesOf(stores, organizationId)
  const begun = unfinished(copies)
  if (begun !== null && begun.placement.other !== name)
    throw new ExpectedFault(
      `a move to ${begun.placement.other} is under way: go on with it by --to ${begun.placement.other}, or take it back`,
    )
  const from = begun?.database ?? copies.find(({ placement }) => placement === null)?.database
  if (from === undefined) throw new ExpectedFault('there is no organization of that id')
  if (from === to) throw new ExpectedFault(`the organization is in ${name} already`)
  const moved = await moveOrganization(needsOf(organizationId, { from, to }, progress))
  if (from.stores.sessions !== to.stores.sessions) await from.stores.endSessionsOf(organizationId)
  return { ...moved, from: from.name }
}

/** Takes an unfinished move back. */
export async function moveBack(stores: Stores, organizationId: string, progress: Progress): Promise<void> {
  const begun = unfinished(await copiesOf(stores, organizationId))
  if (begun === null) throw new ExpectedFault('no move of this organization is under way')
  const { database: from, placement } = begun
  await takeBack(needsOf(organizationId, { from, to: named(stores, placement.other) }, progress))
}

/** Deletes the copies that finished moves have left, and returns the names of their databases. */
export async function deleteSources(stores: Stores, organizationId: string): Promise<string[]> {
  const copies = await copiesOf(stores, organizationId)
  const left = copies.filter(({ placement }) => placement?.state === 'left')
  if (left.length > 0 && !copies.some(({ placement }) => placement === null || !AWAY.includes(placement.state)))
    throw new ExpectedFault('no other database serves the organization: the copy that was left may be its last')
  for (const { database } of left) {
    await openLeftCopy(database, organizationId)
    await database.stores.organizations.delete(organizationId)
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

/** All copies. Rejects while a database is lost, because it may have another one. */
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

/** The source of a move that has not ended; null if there is none. */
function unfinished(copies: readonly Copy[]): (Copy & { readonly placement: Placement }) | null {
  for (const { database, placement } of copies)
    if (placement !== null && placement.state !== 'left' && placement.state !== 'arriving')
      return { database, placement }
  return null
}

const needsOf = (
  organizationId: string,
  { from, to }: { readonly from: OneDatabase; readonly to: OneDatabase },
  { say, patience }: Progress,
) => ({
  organizationId,
  from,
  to,
  pauseMs: PAUSE_MS * patience,
  say,
})
