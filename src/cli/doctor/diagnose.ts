import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createClock } from '../../flows/process/clock.js'
import { type Config, ConfigError, type DatabaseSettings, readConfig } from '../../process/config.js'
import type { DatabaseInspection, Reading, SessionStoreInspection } from '../../storage/inspection.js'
import type { KeyRing } from '../../storage/key-ring.js'
import { findEmbedded, inspectPostgres, inspectRedis } from '../../wiring/open-stores.js'
import { heldKeys } from '../held-keys.js'
import { checkBackup, checkErasures } from './backups.js'
import { addressesIn, checkChannels, checkStoreCertificates } from './certificates.js'
import { checkConfiguration, checkHttpServer, type Host, isLoopback } from './configuration.js'
import {
  checkActivity,
  checkMembers,
  checkPooler,
  checkReplication,
  checkRole,
  checkSchema,
  checkServer,
  checkSettings,
  checkTables,
} from './database.js'
import { type Finding, findingsOf, span } from './finding.js'
import { checkGeography } from './geography.js'
import { checkDisk, checkJobs, checkKeys, checkOutbox, checkRedisNodes } from './other-stores.js'
import { checkPlacements } from './placement.js'
import { checkSingleSignOn } from './single-sign-on.js'

/** Options that name what the checks cannot find by themselves. */
export interface DiagnosisOptions {
  readonly backup?: string
  readonly backupMaxAge: number
  readonly erasures?: string
}

/** A store or a file, or the finding that says why it cannot be used. Null if the configuration names none. */
type Opened<T> = { readonly value: T } | { readonly finding: Finding } | null

/** Runs every check, one area after the other. If a store is down, only the checks of that store are left out. Changes nothing. */
export async function diagnose(env: NodeJS.ProcessEnv, options: DiagnosisOptions): Promise<Finding[]> {
  let config: Config
  try {
    config = readConfig(env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const { problem } = findingsOf('configuration')
    return error.problems.map((line) => problem(`${line}.`, 'Correct it: the other checks need a configuration.'))
  }
  const ring = openKeys(config)
  const authorities = openAuthorities(config)
  const parts = await Promise.all(config.databases.map((named) => openPart(config, named)))
  try {
    return [
      ...checkConfiguration(env, config, host()),
      checkHttpServer(config),
      ...checkGeography(config),
      ...(await checkSingleSignOn(config)),
      ...(await Promise.all(parts.map((part) => checkStores(part, ring, authorities)))).flat(),
      ...missing(authorities),
      ...missing(ring),
      ...checkBackup(options.backup, options.backupMaxAge, keyFiles(env, config)),
      ...checkErasures(options.erasures, options.backupMaxAge, await lastErasure(parts)),
    ]
  } finally {
    for (const { store, sessions } of parts) {
      sessions?.close()
      await store?.close().catch(() => {}) // the server has gone: nothing is left to close
    }
  }
}

/** One database with its Redis. */
interface Part {
  /** The configuration with this database alone. */
  readonly config: Config
  readonly named: DatabaseSettings
  readonly database: Opened<DatabaseInspection>
  readonly redis: Opened<SessionStoreInspection>
  readonly store: DatabaseInspection | null
  readonly sessions: SessionStoreInspection | null
  /** There are further databases. */
  readonly several: boolean
}

async function openPart(whole: Config, named: DatabaseSettings): Promise<Part> {
  const config = { ...whole, databaseUrl: named.url, redisUrl: named.redisUrl, databases: [named] }
  const [database, redis] = await Promise.all([openDatabase(config, named), openRedis(config)])
  return {
    config,
    named,
    database,
    redis,
    store: usable(database),
    sessions: usable(redis),
    several: whole.databases.length > 1,
  }
}

/** Checks a database and its Redis. If it is one of several, the areas name it. */
async function checkStores(part: Part, ring: Opened<KeyRing>, authorities: Opened<string>): Promise<Finding[]> {
  const { config, named, database, redis, store, sessions, several } = part
  const found = [
    ...(await checkClocks(store, sessions)),
    ...(store === null ? missing(database) : await checkDatabase(store, config, named)),
    ...(sessions === null ? missing(redis) : await checkSessions(sessions)),
    ...(await checkPlaces(store, config)),
    ...(await checkStoreCertificates(config)),
    ...(store === null ? [] : await checkContent(store, config, ring, authorities)),
    ...(store === null || !several
      ? []
      : findingsOf('placement').ofReading('Moves of organizations', await store.placements(), checkPlacements)),
  ]
  return several ? found.map((one) => ({ ...one, area: `${one.area} ${named.name}` })) : found
}

/** Time of the latest erasure of all databases. */
async function lastErasure(parts: readonly Part[]): Promise<Reading<number | null> | null> {
  const readings = await Promise.all(parts.flatMap(({ store }) => (store === null ? [] : store.lastErasure())))
  const unread = readings.find((reading) => 'unread' in reading)
  const times = readings.flatMap((reading) => ('value' in reading && reading.value !== null ? reading.value : []))
  return readings.length === 0 ? null : (unread ?? { value: times.length === 0 ? null : Math.max(...times) })
}

const fails = (opened: Opened<unknown>): opened is { readonly finding: Finding } =>
  opened !== null && 'finding' in opened

const missing = (opened: Opened<unknown>): Finding[] => (fails(opened) ? [opened.finding] : [])

const usable = <T>(opened: Opened<T>): T | null => (opened === null || fails(opened) ? null : opened.value)

async function openDatabase(
  { databaseUrl, dataFolder }: Config,
  { setting }: DatabaseSettings,
): Promise<Opened<DatabaseInspection>> {
  const { warning, problem } = findingsOf('database')
  const url = databaseUrl ?? (await findEmbedded(dataFolder))
  if (url === null) {
    const found = `No embedded PostgreSQL runs in ${dataFolder}: the database, keys, jobs and alerts were not checked.`
    return { finding: warning(found, 'Start the service, and run this again.') }
  }
  try {
    return { value: await inspectPostgres(url) }
  } catch (error) {
    const found = `No database answers: ${reasonOf(error)}. Keys, jobs and alerts were not checked.`
    const advice = `Check ${setting}, the server and the network; a pooler also answers so while its PostgreSQL is down or its pool is used up.`
    return { finding: problem(found, advice) }
  }
}

async function openRedis({ redisUrl }: Config): Promise<Opened<SessionStoreInspection>> {
  if (redisUrl === null) return null
  try {
    return { value: await inspectRedis(redisUrl) }
  } catch (error) {
    const { problem } = findingsOf('redis')
    return { finding: problem(`No Redis answers: ${reasonOf(error)}.`, 'Check REDIS_URL, the server and the network.') }
  }
}

function openKeys(config: Config): Opened<KeyRing> {
  try {
    const value = heldKeys(config)
    return value === null ? null : { value }
  } catch (error) {
    const { problem } = findingsOf('keys')
    const found = `${join(config.dataFolder, 'encryption.key')} cannot be used: ${reasonOf(error)}.`
    return { finding: problem(found, 'Restore it from its copy: the service does not start without it.') }
  }
}

/** Reads the certificates of ALERT_CA. */
function openAuthorities({ alertCaFile }: Config): Opened<string> {
  if (alertCaFile === null) return null
  try {
    return { value: readFileSync(alertCaFile, 'utf8') }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // what readFileSync throws
    const { problem } = findingsOf('certificates')
    return {
      finding: problem(
        `ALERT_CA ${alertCaFile} cannot be read (${code}): the certificates of alert channels were not checked.`,
        'Name an existing file, or unset ALERT_CA: the service does not start without it.',
      ),
    }
  }
}

/** An error of a connection attempt to several addresses has a code and no message. */
function reasonOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string } // what the drivers reject with
  return message || code || 'unknown error'
}

const CLOCK_WARNING_MS = 5_000
const CLOCK_PROBLEM_MS = 60_000

/** Compares clocks as the service does. A failing probe of Redis is a finding of its own, in `checkSessions`. */
async function checkClocks(
  database: DatabaseInspection | null,
  sessions: SessionStoreInspection | null,
): Promise<Finding[]> {
  const { ok, note, warning, problem } = findingsOf('clocks')
  if (database === null)
    return [
      note(
        'The clocks were not compared: the database has the time of the service.',
        'Run this again with the database.',
      ),
    ]
  const off: Finding[] = []
  const clock = createClock({
    monotonicMs: () => performance.now(),
    wallMs: () => Date.now(),
    onSkew(whose, skewMs) {
      const found = `The clock of ${whose} is ${span(skewMs / 1000)} off the database's.`
      off.push((skewMs > CLOCK_PROBLEM_MS ? problem : warning)(found, 'Set it by NTP.'))
    },
  })
  try {
    await clock.setBy(() => database.clock())()
  } catch (error) {
    return [note(`The clocks were not compared: ${reasonOf(error)}.`, 'Run this again.')]
  }
  const unread = await (sessions === null
    ? null
    : clock
        .compared('Redis', () => sessions.clocks())()
        .then(
          () => null,
          (error: unknown) =>
            note(`The clock of Redis was not compared: ${reasonOf(error)}.`, 'Run this again with Redis.'),
        ))
  const compared = sessions === null || unread !== null ? 'this machine' : 'this machine and of Redis'
  const agrees = ok(`The clock of ${compared} agrees with the database's within ${CLOCK_WARNING_MS / 1000} s.`)
  return [...(off.length > 0 ? off : [agrees]), ...(unread === null ? [] : [unread])]
}

async function checkDatabase(store: DatabaseInspection, config: Config, named: DatabaseSettings): Promise<Finding[]> {
  const database = findingsOf('database')
  const replication = findingsOf('replication')
  const embedded = config.databaseUrl === null
  const pooler = await store.pooler()
  const members = await store.members()
  const pooled = 'value' in pooler && pooler.value
  return [
    ...database.ofReading('The server', await store.server(), (facts) => [
      ...checkServer(facts, config, pooled),
      checkRole(facts.standby, store.host, members),
    ]),
    ...database.ofReading('The presence of a pooler', pooler, (one) => checkPooler(one, named)),
    ...database.ofReading('The settings of a session', await store.settings(), checkSettings),
    ...database.ofReading('The schema', await store.schema(), checkSchema),
    ...database.ofReading('The sizes of the tables', await store.tables(), checkTables),
    ...database.ofReading('Idle transactions', await store.activity(), checkActivity),
    ...checkMembers(members),
    ...replication.ofReading('Replication', await store.replication(), (facts) => checkReplication(facts, embedded)),
  ]
}

async function checkSessions(sessions: SessionStoreInspection): Promise<Finding[]> {
  const { problem, ofReading } = findingsOf('redis')
  const refuses = await sessions.clocks().then(
    () => [],
    (error: unknown) => [problem(`Redis takes no writes: ${reasonOf(error)}.`, "Read Redis's log.")],
  )
  return [
    ...refuses,
    ...ofReading('Redis', await sessions.nodes(), (nodes) => checkRedisNodes(nodes, sessions.cluster)),
  ]
}

/** Checks keys, alerts and jobs, as they are in the tables. */
async function checkContent(
  store: DatabaseInspection,
  config: Config,
  ring: Opened<KeyRing>,
  authorities: Opened<string>,
): Promise<Finding[]> {
  const outbox = await store.outbox()
  return [
    ...findingsOf('keys').ofReading('The data keys', await store.keys(), (keys) =>
      fails(ring) ? [] : checkKeys(keys, usable(ring)),
    ),
    ...('value' in outbox && !fails(authorities)
      ? await checkChannels(outbox.value.channels, config, usable(authorities))
      : []),
    ...findingsOf('alerts').ofReading('Waiting alerts', outbox, checkOutbox),
    ...findingsOf('jobs').ofReading('Background jobs', await store.jobs(), checkJobs),
  ]
}

/** Checks the file systems of the service, and of the database if it is on this machine. */
async function checkPlaces(store: DatabaseInspection | null, config: Config): Promise<Finding[]> {
  const own = checkDisk({ name: 'KEYSTRIDE_DATA', folder: config.dataFolder })
  if (config.databaseUrl === null || store === null) return [own]
  const elsewhere = findingsOf('disk').note(
    "The free space of the database's disk could not be read here.",
    "Watch it on the database's machine.",
  )
  const server = await store.server()
  const folder = 'value' in server ? server.value.dataFolder : null
  const here = addressesIn(config.databaseUrl, 0).every(({ host }) => isLoopback(host))
  if (!here || folder === null || !existsSync(folder)) return [own, elsewhere]
  return [own, checkDisk({ name: "the database's folder", folder })]
}

/** Files that hold encryption keys. */
const keyFiles = ({ ENCRYPTION_KEY_FILE }: NodeJS.ProcessEnv, { encryptionKey, dataFolder }: Config): string[] => [
  ...(ENCRYPTION_KEY_FILE ? [ENCRYPTION_KEY_FILE] : []),
  ...(encryptionKey === null ? [join(dataFolder, 'encryption.key')].filter(existsSync) : []),
]

/** The machine of the check. Node raises the soft limit of open files to the hard limit, so the hard limit is read. */
function host(): Host {
  let limits = ''
  try {
    limits = readFileSync('/proc/self/limits', 'utf8')
  } catch {
    // Not Linux.
  }
  const [, most] = /^Max open files\s+\S+\s+(\S+)/m.exec(limits) ?? []
  const openFiles = most === 'unlimited' ? Number.POSITIVE_INFINITY : most === undefined ? null : Number(most)
  return { cores: availableParallelism(), openFiles }
}
