import { availableParallelism } from 'node:os'
import { v7 } from 'uuid'
import { ExpectedFault } from '../base/expected-fault.js'
import { createOrganizationFlows, type OrganizationFlows } from '../flows/organization/organizations.js'
import { type Clock, createClock } from '../flows/process/clock.js'
import { type Check, PING_LIMIT_MS } from '../flows/process/health.js'
import { createHomes } from '../flows/process/homes.js'
import type { Config, DatabaseSettings } from '../process/config.js'
import type { Logger } from '../process/log.js'
import { codeHashThreadFile } from '../scoring/artifacts.js'
import { createCodeHash } from '../storage/crypto/code-hash-argon2.js'
import { keyFile } from '../storage/crypto/key-file.js'
import { createKeyWrap } from '../storage/crypto/key-wrap-aes.js'
import { createVault } from '../storage/crypto/vault-aes.js'
import { openGeography } from '../storage/geography-files.js'
import type { SessionStoreInspection } from '../storage/inspection.js'
import { givenKeys, type KeyRing } from '../storage/key-ring.js'
import { postgresAttemptLocks } from '../storage/postgres/attempt/attempt-lock.js'
import { postgresAttemptLog } from '../storage/postgres/attempt/attempt-log.js'
import { postgresAuthentications } from '../storage/postgres/attempt/authentication.js'
import { postgresInvalidPatterns } from '../storage/postgres/attempt/invalid-patterns.js'
import { postgresRefusedPatterns } from '../storage/postgres/attempt/refused-patterns.js'
import { endEverySession, postgresSessions } from '../storage/postgres/attempt/session.js'
import type { Database } from '../storage/postgres/connection/client.js'
import { serversOf } from '../storage/postgres/connection/primary.js'
import { postgresAlerts } from '../storage/postgres/insight/alerts.js'
import { postgresExports } from '../storage/postgres/insight/exports.js'
import { postgresJobQueue } from '../storage/postgres/insight/job-queue.js'
import { postgresNotifications } from '../storage/postgres/insight/notifications.js'
import { postgresOutbox } from '../storage/postgres/insight/outbox.js'
import { postgresRetention } from '../storage/postgres/insight/retention.js'
import { postgresStatistics } from '../storage/postgres/insight/statistics.js'
import { postgresSystem } from '../storage/postgres/insight/system.js'
import { postgresUsage } from '../storage/postgres/insight/usage.js'
import { postgresApiKeys } from '../storage/postgres/organization/api-key.js'
import { postgresOrganizations } from '../storage/postgres/organization/organization.js'
import { postgresPlacements } from '../storage/postgres/organization/placement.js'
import { postgresPolicies } from '../storage/postgres/organization/policies.js'
import { postgresTypingWords } from '../storage/postgres/organization/typing-words.js'
import { postgresWrappedKeys } from '../storage/postgres/organization/wrapped-key.js'
import { postgresAccounts } from '../storage/postgres/person/account.js'
import { postgresComparisonSets } from '../storage/postgres/person/comparison-set.js'
import { postgresDirectory } from '../storage/postgres/person/directory.js'
import { postgresErasures } from '../storage/postgres/person/erasures.js'
import { postgresPendingActions } from '../storage/postgres/person/pending-action.js'
import { postgresPreferredLanguages } from '../storage/postgres/person/preferred-language.js'
import { postgresProfiles } from '../storage/postgres/person/profile.js'
import { endEveryLink, postgresProfileLinks } from '../storage/postgres/person/profile-link.js'
import { postgresSecurityCodes } from '../storage/postgres/person/security-code.js'
import { postgresUserLog } from '../storage/postgres/person/user-log.js'
import { postgresOneTimePasswords } from '../storage/postgres/sso/one-time-password.js'
import { postgresSsoAccounts } from '../storage/postgres/sso/sso-account.js'
import { postgresSsoArtifacts } from '../storage/postgres/sso/sso-artifact.js'
import { postgresSsoKeys } from '../storage/postgres/sso/sso-key.js'
import { postgresStrangerTries } from '../storage/postgres/sso/stranger-tries.js'
import type { StoreObserver } from '../storage/store-observer.js'
import type { WrappedKeyStore } from '../storage/wrapped-key.js'
import { type OpenedDatabase, openAmong, openDatabase, type SchemaChoice } from './open-database.js'
import { byHome, routedStores } from './routed-stores.js'
import type { DataStores, OneDatabase, Stores } from './stores.js'

/**
 * Opens every store that the configuration names. `schema` decides about a database of another version: `migrate` migrates it,
 * `at-least` accepts a newer one, `exact` accepts none; the last two throw otherwise and change nothing. Without `redis`, Redis is
 * not opened: administration does not need it. `observer` sees every call of the stores. With `supervised`, the supervising process
 * restarts an embedded database that dies. If there are several databases, one that does not answer is opened later. After a failure,
 * closes everything that was opened.
 */
export async function openStores(
  config: Config,
  log: Logger,
  {
    redis: withRedis,
    supervised = false,
    schema = 'exact',
    observer = null,
  }: { redis: boolean; supervised?: boolean; schema?: SchemaChoice; observer?: StoreObserver | null },
): Promise<Stores> {
  const closing: (() => Promise<void>)[] = []
  const close = async () => {
    for (const step of closing.splice(0).reverse()) await step()
  }
  try {
    const options = { config, log, supervised, schema, closing, observer }
    const { databases: named } = config
    const open = named.length === 1 ? openDatabase : openAmong
    const opened = await allOpened(
      named.map((one) => open(one, options)),
      ({ database }) => closing.push(() => database.close()),
    )
    const awake = opened.find(({ away }) => away === null)
    if (awake === undefined) throw new ExpectedFault(opened.map(({ away }) => away).join('; '))
    const clock = createClock({
      monotonicMs: () => performance.now(),
      wallMs: () => Date.now(),
      onSkew: (whose, skewMs, off) =>
        log.warn({ whose, skewMs }, off ? "a clock is off the database's" : "a clock agrees with the database's again"),
    })
    const redises = withRedis ? await openRedises(named, options) : []
    const limitMs = PING_LIMIT_MS * config.storePatience
    const several = named.length > 1
    const databaseChecks = opened.map((one) => databaseCheck(one, clock, { leads: one === awake, several, limitMs }))
    const cacheChecks = redisChecks(redises, named, clock, limitMs)
    // No call may use this machine's clock.
    await databaseChecks[opened.indexOf(awake)]?.ping()
    const parts = opened.map((one, i): Part => {
      // Databases with one Redis share its check.
      const checks = [databaseChecks[i], cacheChecks[redises.indexOf(redises[i] ?? null)]].flatMap((check) =>
        check?.group === undefined ? [] : check.name,
      )
      return { ...one, redis: redises[i] ?? null, checks }
    })
    return await assembled(parts, {
      keyRing:
        config.encryptionKey === null
          ? keyFile(config.dataFolder)
          : givenKeys(config.encryptionKey, config.encryptionKeysPrevious),
      geography: openGeography(config.geography, (line) => log.warn(line)),
      ports: new Set(opened.flatMap(({ url }, i) => portsOf(url, named[i]?.redisUrl ?? null))),
      clock,
      checks: [...databaseChecks, ...cacheChecks.filter((check) => check !== null)],
      embedded: opened.some(({ embedded }) => embedded),
      processes: config.processes,
      patience: config.storePatience,
      closing,
      close,
      observer,
    })
  } catch (error) {
    await close()
    throw error
  }
}

/** As in the health of the service. */
const CLOCK_OFF_MS = 60_000

type OpenedRedis = Awaited<ReturnType<typeof openRedis>>

/** A database with its Redis, and the names of the checks that concern only the two. */
interface Part extends OpenedDatabase {
  readonly redis: OpenedRedis | null
  readonly checks: readonly string[]
}

/** The parts that all databases share, before those that read wrapped keys. */
interface Common extends Pick<Stores, 'geography' | 'ports' | 'clock' | 'checks' | 'embedded' | 'close'> {
  readonly keyRing: KeyRing
  readonly closing: (() => Promise<void>)[]
  readonly observer: StoreObserver | null
  readonly processes: number
  readonly patience: number
}

/** The stores over all databases, and the stores of each. With one database, both are the same. */
async function assembled(parts: readonly Part[], common: Common): Promise<Stores> {
  const { closing, observer, processes, patience, ...given } = common
  const data = parts.map((part) => ({
    ...part,
    stores: dataStores(part, observer),
    placements: postgresPlacements(part.database),
    server: () => part.database.server(),
  }))
  const [first] = data
  if (first === undefined) throw new Error('there is no database')
  const homes = data.length === 1 ? null : createHomes(data, { monotonicMs: () => performance.now(), patience })
  if (homes !== null) closing.push(() => homes.stop())
  await homes?.ready
  const routed = homes === null ? first.stores : routedStores(data, homes)
  const keys = openKeys(given.keyRing, routed.wrappedKeys, processes)
  closing.push(() => keys.codeHash.close())
  const databases: OneDatabase[] = []
  const shared = { ...given, ...keys, databases }
  const each = data.map((part): Stores => ({ ...part.stores, ...shared, ...administeredBy(part), databaseOf: () => 0 }))
  databases.push(...data.map((part, i) => ({ ...part, stores: each[i] as Stores })))
  if (homes === null) return each[0] as Stores
  const all = async (work: (stores: Stores) => Promise<void>) => void (await Promise.all(each.map(work)))
  const rates = each.flatMap(({ rateAccounts }) => rateAccounts ?? [])
  return {
    ...routed,
    ...shared,
    rateAccounts: rates.length < each.length ? null : byHome(homes, rates),
    endSessionsOf: (organizationId) => all((stores) => stores.endSessionsOf(organizationId)),
    endEverySession: () => all((stores) => stores.endEverySession()),
    endEveryLink: () => all((stores) => stores.endEveryLink()),
    databaseOf: homes.known,
  }
}

/** The administration of one database and its Redis. */
const administeredBy = ({ database, redis }: Part) => ({
  rateAccounts: redis?.rateAccounts ?? null,
  endSessionsOf: async (organizationId: string) => redis?.endEverySession(organizationId),
  async endEverySession() {
    await endEverySession(database)
    await redis?.endEverySession()
  },
  endEveryLink: () => endEveryLink(database),
})

/** The check of a database. The clock follows the one that `leads`, and is compared with the others. */
function databaseCheck(
  { name, database }: OpenedDatabase,
  clock: Clock,
  { leads, several, limitMs }: { leads: boolean; several: boolean; limitMs: number },
): Check {
  const called = several ? `PostgreSQL ${name}` : 'PostgreSQL'
  const ping = leads ? clock.setBy(() => database.ping()) : () => pingWithin(database, clock)
  return { name: called, ping, limitMs, ...(several ? { group: 'PostgreSQL' } : {}) }
}

/** Rejects also if the clock of the database is far off, because a person's times would jump with a move. */
async function pingWithin(database: Database, { now }: Clock): Promise<void> {
  const offMs = Math.abs((await database.ping()) - now())
  if (offMs > CLOCK_OFF_MS) throw new Error(`its clock is ${Math.round(offMs / 1000)} s off`)
}

/** Opens the Redis of each database; databases with the same address share one. Null without Redis. */
async function openRedises(
  named: readonly DatabaseSettings[],
  { config, log, observer, closing }: Pick<Common, 'closing' | 'observer'> & { config: Config; log: Logger },
): Promise<(OpenedRedis | null)[]> {
  const urls = [...new Set(named.flatMap(({ redisUrl }) => redisUrl ?? []))]
  const say = (line: string) => log.info(line)
  const opened = await allOpened(
    urls.map((url) => openRedis(url, config.storePatience, say, observer)),
    (redis) => closing.push(() => redis.close()),
  )
  return named.map(({ redisUrl }) => opened[urls.indexOf(redisUrl ?? '')] ?? null)
}

/** Waits for all, so that those that were opened can be closed if another one was not. */
async function allOpened<T>(opening: readonly Promise<T>[], opened: (one: T) => void): Promise<T[]> {
  const outcomes = await Promise.allSettled(opening)
  const all = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  all.forEach(opened)
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  return all
}

/** The check of each Redis, by database. */
function redisChecks(
  redises: readonly (OpenedRedis | null)[],
  named: readonly DatabaseSettings[],
  clock: Clock,
  limitMs: number,
): (Check | null)[] {
  const several = new Set(redises).size > 1
  return redises.map((redis, i) => {
    if (redis === null || redises.indexOf(redis) < i) return null
    const name = several ? `Redis ${named[i]?.name}` : 'Redis'
    return { name, ping: clock.compared(name, () => redis.ping()), limitMs, ...(several ? { group: 'Redis' } : {}) }
  })
}

/** The parts that use the encryption keys. */
function openKeys(keyRing: KeyRing, wrappedKeys: WrappedKeyStore, processes: number) {
  const keyWrap = createKeyWrap(keyRing)
  const vault = createVault({ keyWrap, wrappedKeyOf: (organizationId) => wrappedKeys.find(organizationId) })
  const codeHash = createCodeHash({
    pepperOf: (organizationId) => vault.codePepper(organizationId),
    threadFile: codeHashThreadFile(),
    atOnce: processes > 1 ? 1 : Math.max(1, availableParallelism() - 1),
  })
  return { keyWrap, vault, codeHash }
}

/** The stores of one database; sessions are in Redis if there is one. */
const dataStores = ({ database, redis }: Part, observer: StoreObserver | null): DataStores => ({
  organizations: postgresOrganizations(database),
  apiKeys: postgresApiKeys(database),
  accounts: postgresAccounts(database),
  profiles: postgresProfiles(database),
  profileLinks: postgresProfileLinks(database),
  pendingActions: postgresPendingActions(database),
  comparisonSets: postgresComparisonSets(database),
  authentications: postgresAuthentications(database, observer?.committed),
  attemptLog: postgresAttemptLog(database),
  statistics: postgresStatistics(database),
  policies: postgresPolicies(database),
  usage: postgresUsage(database),
  directory: postgresDirectory(database),
  alerts: postgresAlerts(database),
  notifications: postgresNotifications(database),
  outbox: postgresOutbox(database),
  attemptLocks: postgresAttemptLocks(database),
  invalidPatterns: postgresInvalidPatterns(database),
  refusedPatterns: postgresRefusedPatterns(database),
  securityCodes: postgresSecurityCodes(database),
  typingWords: postgresTypingWords(database),
  preferredLanguages: postgresPreferredLanguages(database),
  jobQueue: postgresJobQueue(database),
  system: postgresSystem(database),
  exports: postgresExports(database),
  retention: postgresRetention(database),
  erasures: postgresErasures(database),
  userLog: postgresUserLog(database),
  oneTimePasswords: postgresOneTimePasswords(database),
  ssoKeys: postgresSsoKeys(database),
  ssoAccounts: postgresSsoAccounts(database),
  strangerTries: postgresStrangerTries(database),
  wrappedKeys: postgresWrappedKeys(database),
  sessions: redis?.sessions ?? postgresSessions(database),
  ssoArtifacts: redis?.ssoArtifacts ?? postgresSsoArtifacts(database),
})

/** Ports of every database server and of every Redis node. */
function portsOf(databaseUrl: string, redisUrl: string | null): number[] {
  const nodes = (redisUrl ?? '').split(',').filter((node) => node !== '')
  const portOf = (url: string, usual: number) => Number(new URL(url.trim()).port) || usual
  const servers = serversOf(databaseUrl).map((server) => portOf(server, 5432))
  return [...servers, ...nodes.map((node) => portOf(node, 6379))]
}

/** Loads the client only if Redis is used: loading its modules takes 190 ms. */
async function openRedis(url: string, patience: number, log: (line: string) => void, observer: StoreObserver | null) {
  const [{ connectRedis }, { endEverySession, redisSessions }, { redisRateAccounts }, { redisSsoArtifacts }] =
    await Promise.all([
      import('../storage/redis/client.js'),
      import('../storage/redis/session.js'),
      import('../storage/redis/rate-account.js'),
      import('../storage/redis/sso-artifact.js'),
    ])
  const redis = await connectRedis({ url, log, observer, patience })
  return {
    sessions: redisSessions(redis),
    ssoArtifacts: redisSsoArtifacts(redis),
    rateAccounts: redisRateAccounts(redis),
    endEverySession: (organizationId?: string) => endEverySession(redis, organizationId),
    ping: () => redis.ping(),
    close: () => redis.close(),
  }
}

/** Administration on open stores. */
export const administration = (stores: Stores): OrganizationFlows =>
  createOrganizationFlows({ ...stores, newId: () => v7(), now: stores.clock.now })

export { findEmbedded } from '../storage/postgres/embedded/embedded.js'
export { inspectPostgres } from '../storage/postgres/inspection/inspection.js'
export { readBackup } from '../storage/postgres/schema/backup.js'

/** Inspects the sessions in Redis. The client is loaded only here. */
export const inspectRedis = async (url: string): Promise<SessionStoreInspection> =>
  (await import('../storage/redis/inspection.js')).inspectRedis(url)
