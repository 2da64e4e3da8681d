import { Refusal } from '../domain/refusal.js'
import type { Homes } from '../flows/process/homes.js'
import { QUEUES, type QueueName, type QueueState } from '../storage/job-queue.js'
import type { DatabaseFacts } from '../storage/system.js'
import type { UsageBatch } from '../storage/usage.js'
import type { KeyCounts, WrappedKeyStore } from '../storage/wrapped-key.js'
import type { DataStores } from './stores.js'

/**
 * The stores over several databases. The home of an organization answers each method whose first argument is an organization's id. Every
 * other method has a rule here. A new method without one does not compile, unless its first argument is another string: a test finds it.
 */

type ByOrganization<Store> = {
  [Name in keyof Store]: Store[Name] extends (...args: infer Arguments) => Promise<unknown>
    ? Arguments extends [organizationId: string, ...rest: unknown[]]
      ? Name
      : never
    : never
}[keyof Store]
type Rules<Store> = Omit<Store, ByOrganization<Store>> & Partial<Store>
/** The rules of those stores that need some. */
type AllRules = {
  readonly [Name in keyof DataStores as Partial<DataStores[Name]> extends Rules<DataStores[Name]>
    ? never
    : Name]: Rules<DataStores[Name]>
}
type Method = (...args: unknown[]) => unknown

/** A database among several, as its stores are routed. */
interface RoutedDatabase {
  readonly name: string
  readonly stores: DataStores
}

/** Routes every store. */
export function routedStores(databases: readonly RoutedDatabase[], homes: Homes): DataStores {
  const rules: Readonly<Record<string, object>> = rulesOf(databases, homes)
  const all = databases.map((one): Readonly<Record<string, object>> => ({ ...one.stores }))
  const stores = Object.keys(all[0] ?? {}).map((name) => [
    name,
    routed(
      homes,
      all.flatMap((one) => one[name] ?? []),
      rules[name] ?? {},
    ),
  ])
  // Sound: it has every store of the first database.
  return Object.fromEntries(stores)
}

/** A store all of whose methods take an organization's id first. */
export const byHome = <Store extends object>(homes: Homes, stores: readonly Store[]): Store =>
  // Sound: it has the methods of the first store.
  routed(homes, stores, {}) as Store

/** One store over several databases, with the rules of those methods that no organization routes. */
function routed(homes: Homes, stores: readonly object[], rules: object): object {
  const methods = Object.keys(stores[0] ?? {}).map((name) => [name, byOrganization(homes, stores, name)])
  return { ...Object.fromEntries(methods), ...rules }
}

const byOrganization =
  (homes: Homes, stores: readonly object[], name: string): Method =>
  async (...args) => {
    // Sound: a method without a rule takes an organization's id first.
    const store = stores[await homes.of(args[0] as string)] as Record<string, Method>
    return store[name]?.(...args)
  }

/** The rule of methods of jobs, which run on the stores of each database. */
const ofEachDatabase = () => Promise.reject(new Error('a job runs on the stores of one database'))
const ofJobs = <Name extends string>(...names: readonly Name[]) =>
  // Sound: it has each name.
  Object.fromEntries(names.map((name) => [name, ofEachDatabase])) as Record<Name, typeof ofEachDatabase>

function rulesOf(databases: readonly RoutedDatabase[], homes: Homes): AllRules {
  const all = databases.map(({ stores }) => stores)
  const at = async (organizationId: string): Promise<DataStores> => {
    const stores = all[await homes.of(organizationId)]
    if (stores === undefined) throw new Error('an organization has no database')
    return stores
  }
  return {
    sessions: { keepsCarried: all.every((stores) => stores.sessions.keepsCarried) },
    apiKeys: {
      add: async (record, sha256) => (await at(record.organizationId)).apiKeys.add(record, sha256),
      resolve: resolveAmong(all, homes),
    },
    comparisonSets: ofJobs('withoutSet'),
    erasures: {
      list: (after, limit) =>
        nextOf(
          all,
          (stores) => stores.erasures.list(after, limit),
          ({ organizationId, id }) => organizationId + id,
          limit,
        ),
    },
    exports: {
      rows: (...args) => later(at(args[0]), (stores) => stores.exports.rows(...args)),
      pieces: (...args) => later(at(args[0]), (stores) => stores.exports.pieces(...args)),
      ...ofJobs('abandoned', 'forget'),
    },
    jobQueue: {
      ...ofJobs('send', 'take', 'done', 'failed', 'maintain'),
      states: async () => sumOfQueues(await Promise.all(all.map((stores) => stores.jobQueue.states()))),
    },
    notifications: ofJobs('derive', 'noteOutage', 'forget'),
    organizations: {
      async create(organization) {
        const index = await databaseFor(databases, organization.database)
        await all[index]?.organizations.create(organization)
        homes.note(organization.id, index)
      },
      async list() {
        const lists = await Promise.all(
          all.map(async (stores, i) => (await stores.organizations.list()).filter(({ id }) => homes.isAt(id, i))),
        )
        return lists.flat().sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
      },
    },
    outbox: ofJobs('claim', 'find', 'settle', 'state'),
    profileLinks: {
      find: (sha256) => homes.firstAtHome(all.map((stores) => stores.profileLinks.find(sha256))),
    },
    retention: ofJobs('makeAhead', 'dropOld', 'forgetOld', 'sweepSessions', 'vacuumErased', 'withEndedLinks'),
    statistics: ofJobs('countAttempts'),
    system: { database: () => factsOf(all) },
    usage: {
      add: (counted, logged) => addUsage(all, homes, { counted, logged }),
      ...ofJobs('addUpHeadcounts', 'appendCheckpoints', 'forgetRequests'),
    },
    wrappedKeys: wrappedKeysOf(all),
  }
}

/** Most API keys whose database is remembered; the oldest is dropped first. */
const KEYS_MAX = 10_000

/**
 * Looks a key up where it was found last, and then in every database. So a lost database refuses its own keys, and those that no process
 * remembers and no other database has.
 */
function resolveAmong(all: readonly DataStores[], homes: Homes): DataStores['apiKeys']['resolve'] {
  const known = new Map<string, number>()
  const remember = (hex: string, database: number) => {
    known.delete(hex)
    known.set(hex, database)
    const [oldest] = known.keys()
    if (known.size > KEYS_MAX && oldest !== undefined) known.delete(oldest)
  }
  const holderIn = async (sha256: Uint8Array, i: number) => {
    const holder = (await all[i]?.apiKeys.resolve(sha256)) ?? null
    return holder === null ? null : { ...holder, database: i }
  }
  return async (sha256) => {
    const hex = Buffer.from(sha256).toString('hex')
    const last = known.get(hex)
    const there = last === undefined ? null : await holderIn(sha256, last)
    const found =
      there !== null && homes.isAt(there.organizationId, there.database)
        ? there
        : await homes.firstAtHome(all.map((_, i) => holderIn(sha256, i)))
    if (found === null) return null
    const { database, ...holder } = found
    remember(hex, database)
    homes.note(holder.organizationId, database)
    return holder
  }
}

/** Adds usage in the databases of its organizations. Returns that of databases that are lost, and of organizations that are being moved. */
async function addUsage(
  all: readonly DataStores[],
  homes: Homes,
  { counted, logged }: UsageBatch,
): Promise<UsageBatch> {
  const ids = [...new Set(counted.map(({ organizationId }) => organizationId))]
  const home = async (id: string) => homes.of(id)
  const placed = await Promise.all(ids.map(async (id) => [id, await home(id).catch(() => null)] as const))
  const places = new Map(placed)
  const left = await Promise.all(
    [null, ...all.keys()].map(async (i): Promise<UsageBatch | null> => {
      const here = ({ organizationId }: { organizationId: string }) => places.get(organizationId) === i
      const batch = { counted: counted.filter(here), logged: logged.filter(here) }
      if (i === null || batch.counted.length === 0) return batch
      const lost = (error: unknown) => (error instanceof Refusal ? batch : { ...batch, error })
      return (await all[i]?.usage.add(batch.counted, batch.logged).catch(lost)) ?? null
    }),
  )
  return {
    counted: left.flatMap((batch) => batch?.counted ?? []),
    logged: left.flatMap((batch) => batch?.logged ?? []),
    error: left.find((batch) => batch?.error !== undefined)?.error,
  }
}

/** The index of the named database, or of the smallest one, for a new organization. */
async function databaseFor(databases: readonly RoutedDatabase[], name: string | null = null): Promise<number> {
  if (name !== null) {
    const index = databases.findIndex((one) => one.name === name)
    if (index < 0)
      throw new Error(`there is no database ${name}: there are ${databases.map((one) => one.name).join(', ')}`)
    return index
  }
  const sizes = await Promise.all(databases.map(async ({ stores }) => (await stores.system.database()).bytes))
  return sizes.indexOf(Math.min(...sizes))
}

/** The versions of the first database that answers, and the size of all. */
async function factsOf(all: readonly DataStores[]): Promise<DatabaseFacts> {
  const facts = await Promise.allSettled(all.map((stores) => stores.system.database()))
  const found = facts.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  const [first] = found
  if (first === undefined) throw facts.find((one) => one.status === 'rejected')?.reason
  return { ...first, bytes: found.reduce((sum, { bytes }) => sum + bytes, 0) }
}

/** The next rows over all databases, in the order of their keys. A row that a moved organization has in two databases occurs once. */
async function nextOf<Row>(
  all: readonly DataStores[],
  read: (stores: DataStores) => Promise<readonly Row[]>,
  keyOf: (row: Row) => string,
  limit: number,
): Promise<Row[]> {
  const rows = new Map((await Promise.all(all.map(read))).flat().map((row) => [keyOf(row), row]))
  return [...rows]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, limit)
    .map(([, row]) => row)
}

/** Iterates over rows of a store that is found first. */
async function* later<Row>(
  store: Promise<DataStores>,
  rows: (stores: DataStores) => AsyncIterable<Row>,
): AsyncGenerator<Row> {
  yield* rows(await store)
}

/** The jobs of all databases together. */
function sumOfQueues(states: readonly (readonly QueueState[])[]): QueueState[] {
  return (Object.keys(QUEUES) as QueueName[]).map((queue) => {
    const found = states.flat().filter((state) => state.queue === queue)
    const sum = (of: (state: QueueState) => number) => found.reduce((total, state) => total + of(state), 0)
    const most = (of: (state: QueueState) => number | null) => {
      const values = found.map(of).filter((value) => value !== null)
      return values.length === 0 ? null : Math.max(...values)
    }
    return {
      queue,
      waiting: sum(({ waiting }) => waiting),
      later: sum(({ later }) => later),
      running: sum(({ running }) => running),
      failed: sum(({ failed }) => failed),
      oldestWaitingS: most(({ oldestWaitingS }) => oldestWaitingS),
      lastSuccessAt: most(({ lastSuccessAt }) => lastSuccessAt),
    }
  })
}

/** The methods over all organizations of the wrapped keys. */
function wrappedKeysOf(all: readonly DataStores[]): Rules<WrappedKeyStore> {
  const totals = (counts: readonly KeyCounts[]): KeyCounts => {
    const sums = new Map<string, number>()
    for (const [id, n] of counts.flatMap((one) => [...one])) sums.set(id, (sums.get(id) ?? 0) + n)
    return sums
  }
  /** Holds the locks of all databases, in their order, while `change` runs. */
  async function aloneFrom<T>(
    i: number,
    counts: readonly KeyCounts[],
    change: (counts: KeyCounts) => T | Promise<T>,
  ): Promise<T> {
    const stores = all[i]
    if (stores === undefined) return await change(totals(counts))
    return await stores.wrappedKeys.alone<T>((here) => aloneFrom(i + 1, [...counts, here], change))
  }
  return {
    counts: async () => totals(await Promise.all(all.map((stores) => stores.wrappedKeys.counts()))),
    wrappedByOthers: (keyId, after, limit) =>
      nextOf(
        all,
        (stores) => stores.wrappedKeys.wrappedByOthers(keyId, after, limit),
        ({ organizationId }) => organizationId,
        limit,
      ),
    // The copy that a moved organization has left is wrapped anew too.
    async swap(...swapped) {
      const outcomes = await Promise.all(all.map((stores) => stores.wrappedKeys.swap(...swapped)))
      return outcomes.includes(true)
    },
    alone: (change) => aloneFrom(0, [], change),
  }
}
