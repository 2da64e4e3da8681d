import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { v7 } from 'uuid'
import { ExpectedFault } from '../base/expected-fault.js'
import { createOrganizationFlows, type OrganizationFlows } from '../flows/organization/organizations.js'
import { createClock } from '../flows/process/clock.js'
import { PING_LIMIT_MS } from '../flows/process/health.js'
import type { Config } from '../process/config.js'
import type { Logger } from '../process/log.js'
import { codeHashThreadFile } from '../scoring/artifacts.js'
import { createCodeHash } from '../storage/crypto/code-hash-argon2.js'
import { keyFile } from '../storage/crypto/key-file.js'
import { createKeyWrap } from '../storage/crypto/key-wrap-aes.js'
import { createVault } from '../storage/crypto/vault-aes.js'
import { openGeography } from '../storage/geography-files.js'
import type { SessionStoreInspection } from '../storage/inspection.js'
import { givenKeys } from '../storage/key-ring.js'
import { postgresAttemptLocks } from '../storage/postgres/attempt/attempt-lock.js'
import { postgresAttemptLog } from '../storage/postgres/attempt/attempt-log.js'
import { postgresAuthentications } from '../storage/postgres/attempt/authentication.js'
import { postgresInvalidPatterns } from '../storage/postgres/attempt/invalid-patterns.js'
import { postgresRefusedPatterns } from '../storage/postgres/attempt/refused-patterns.js'
import { endEverySession, postgresSessions } from '../storage/postgres/attempt/session.js'
import { connectPostgres, type Database, requireSettings } from '../storage/postgres/connection/client.js'
import { observedDatabase } from '../storage/postgres/connection/observed-database.js'
import { poolerBetween } from '../storage/postgres/connection/pooler.js'
import { askServers, primaryAmong, serversOf } from '../storage/postgres/connection/primary.js'
import { startEmbedded } from '../storage/postgres/embedded/embedded.js'
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
import { backupRoleSql } from '../storage/postgres/schema/backup-role.js'
import { migrate, requireSchema } from '../storage/postgres/schema/migrate.js'
import { postgresOneTimePasswords } from '../storage/postgres/sso/one-time-password.js'
import { postgresSsoAccounts } from '../storage/postgres/sso/sso-account.js'
import { postgresSsoArtifacts } from '../storage/postgres/sso/sso-artifact.js'
import { postgresSsoKeys } from '../storage/postgres/sso/sso-key.js'
import { postgresStrangerTries } from '../storage/postgres/sso/stranger-tries.js'
import type { StoreObserver } from '../storage/store-observer.js'
import type { Stores } from './stores.js'

export type SchemaChoice = 'migrate' | 'at-least' | 'exact'

/** Connections in addition to the processes' pools: migrations, a console, and the server's own. */
const FURTHER_CONNECTIONS = 20

/** About five seconds in all, including the time-outs of the pings. */
const FIRST_PINGS = 20
const FIRST_PING_EVERY_MS = 50

/** Enough for full pools of all serving processes and of the supervising one. */
const connectionsFor = ({ processes, databasePool }: Config): number =>
  Math.max(60, (processes + 1) * databasePool + FURTHER_CONNECTIONS)

/**
 * Opens every store that the configuration names. `schema` decides about a database of another version: `migrate` migrates it,
 * `at-least` accepts a newer one, `exact` accepts none; the last two throw otherwise and change nothing. Without `redis`, Redis is
 * not opened: administration does not need it. `observer` sees every call of the stores. With `supervised`, the supervising process
 * restarts an embedded database that dies. After a failure, closes everything that was opened.
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
    const { url, primary, embedded, migrated, database } = await openDatabase(config, log, {
      supervised,
      schema,
      closing,
      observer,
    })
    const clock = createClock({
      monotonicMs: () => performance.now(),
      wallMs: () => Date.now(),
      onSkew: (whose, skewMs, off) =>
        log.warn({ whose, skewMs }, off ? "a clock is off the database's" : "a clock agrees with the database's again"),
    })
    const pingDatabase = clock.setBy(() => database.ping())
    await untilAnswered(pingDatabase)
    await requireSettings(database)
    const redis =
      config.redisUrl === null || !withRedis
        ? null
        : await openRedis(config.redisUrl, config.storePatience, (line) => log.info(line), observer)
    if (redis !== null) closing.push(() => redis.close())
    const keys = openKeys(config, database)
    const limitMs = PING_LIMIT_MS * config.storePatience
    closing.push(() => keys.codeHash.close())
    return {
      ...postgresStores(database, observer),
      ...keys,
      sessions: redis?.sessions ?? postgresSessions(database),
      ssoArtifacts: redis?.ssoArtifacts ?? postgresSsoArtifacts(database),
      rateAccounts: redis?.rateAccounts ?? null,
      endSessionsOf: async (organizationId) => redis?.endEverySession(organizationId),
      async endEverySession() {
        await endEverySession(database)
        await redis?.endEverySession()
      },
      endEveryLink: () => endEveryLink(database),
      geography: openGeography(config.geography, (line) => log.warn(line)),
      ports: portsOf(url, config.redisUrl),
      clock,
      checks: [
        { name: 'PostgreSQL', ping: pingDatabase, limitMs },
        ...(redis === null ? [] : [{ name: 'Redis', ping: clock.compared('Redis', () => redis.ping()), limitMs }]),
      ],
      embedded,
      migrated,
      backupRoleSql: () => backupRoleSql(primary),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

interface DatabaseOptions {
  readonly supervised: boolean
  readonly schema: SchemaChoice
  /** The list to which the steps are added that close the opened database. */
  readonly closing: (() => Promise<void>)[]
  readonly observer: StoreObserver | null
}

/** Starts the embedded database or finds the configured one, checks or migrates its schema, and connects. */
async function openDatabase(config: Config, log: Logger, { supervised, schema, closing, observer }: DatabaseOptions) {
  const say = (line: string) => log.info(line)
  const embedded =
    config.databaseUrl === null
      ? await startEmbedded({
          dataFolder: config.dataFolder,
          connections: connectionsFor(config),
          watched: !supervised,
          log: say,
        })
      : null
  if (embedded !== null) closing.push(() => embedded.stop())
  const url = embedded?.url ?? config.databaseUrl ?? ''
  const primary = await primaryOf(url)
  const migrated = await atVersion(primary, schema, say).catch((error: unknown) => {
    throw databaseFault(error)
  })
  const pooled = embedded === null && (await poolerBetween(primary))
  const prepare = config.databasePrepare ?? !pooled
  const warn = (line: string) => log.warn(line)
  const options = { url, primary, max: config.databasePool, prepare, pooled, log: warn, patience: config.storePatience }
  const database =
    observer === null
      ? connectPostgres(options)
      : observedDatabase(connectPostgres({ ...options, waited: observer.waited }), observer)
  closing.push(() => database.close())
  return { url, primary, embedded: embedded !== null, migrated, database }
}

/** Encryption keys, and the parts that use them. */
function openKeys(config: Config, database: Database) {
  const keyRing =
    config.encryptionKey === null
      ? keyFile(config.dataFolder)
      : givenKeys(config.encryptionKey, config.encryptionKeysPrevious)
  const keyWrap = createKeyWrap(keyRing)
  const wrappedKeys = postgresWrappedKeys(database)
  const vault = createVault({ keyWrap, wrappedKeyOf: (organizationId) => wrappedKeys.find(organizationId) })
  const codeHash = createCodeHash({
    pepperOf: (organizationId) => vault.codePepper(organizationId),
    threadFile: codeHashThreadFile(),
    atOnce: config.processes > 1 ? 1 : Math.max(1, availableParallelism() - 1),
  })
  return { keyRing, keyWrap, wrappedKeys, vault, codeHash }
}

const postgresStores = (database: Database, observer: StoreObserver | null) => ({
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
})

/** Names of the migrations applied: none unless `schema` is `migrate`. */
async function atVersion(primary: string, schema: SchemaChoice, log: (line: string) => void): Promise<string[]> {
  if (schema === 'migrate') return await migrate(primary, log)
  await requireSchema(primary, { newer: schema === 'at-least' })
  return []
}

/** Waits for the database's clock, because no call may use this machine's. The first connection may be slow. */
async function untilAnswered(ping: () => Promise<void>): Promise<void> {
  for (let left = FIRST_PINGS; ; left--) {
    try {
      return await ping()
    } catch (error) {
      if (left === 0) throw error
      await delay(FIRST_PING_EVERY_MS)
    }
  }
}

/** The server that takes writes. */
async function primaryOf(url: string): Promise<string> {
  const servers = serversOf(url)
  if (servers.length === 1) return url
  const asked = await askServers(servers)
  const primary = primaryAmong(asked)
  if (primary !== null) return primary.url
  const answers = asked.map(({ url, answer }) => {
    const why = answer instanceof Error ? (reasonOf(answer) ?? answer.message) : 'a standby'
    return `${new URL(url).host}: ${why}`
  })
  throw new ExpectedFault(`no server of DATABASE_URL takes writes (${answers.join('; ')})`)
}

const REFUSED: Readonly<Record<string, string>> = {
  '28P01': 'refuses the password',
  '28000': 'refuses the login',
  '3D000': 'does not exist',
  '53300': 'has no connection left',
  '57P03': 'is not ready yet',
}
const AWAY = /^(ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENOENT)$/

/** The reason why a first connection failed, in words for the operator; null for an unknown error. */
function reasonOf(error: Error): string | null {
  const code = 'code' in error ? String(error.code) : ''
  const refused = REFUSED[code]
  if (refused !== undefined) return `the database ${refused} (${code})`
  if (AWAY.test(code)) return `no database answers (${code})`
  return /timeout/i.test(error.message) ? 'no database answers (timeout)' : null
}

/** Maps known errors of the first connection to errors for the operator; other errors are unchanged. */
function databaseFault(error: unknown): unknown {
  const reason = error instanceof Error ? reasonOf(error) : null
  return reason === null ? error : new ExpectedFault(`DATABASE_URL: ${reason}`)
}

/** Ports of every database server and of every Redis node. */
function portsOf(databaseUrl: string, redisUrl: string | null): Set<number> {
  const nodes = (redisUrl ?? '').split(',').filter((node) => node !== '')
  const portOf = (url: string, usual: number) => Number(new URL(url.trim()).port) || usual
  const servers = serversOf(databaseUrl).map((server) => portOf(server, 5432))
  return new Set([...servers, ...nodes.map((node) => portOf(node, 6379))])
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
