import { setTimeout as delay } from 'node:timers/promises'
import { reasonOf as faultOf } from '../base/error-reason.js'
import { ExpectedFault } from '../base/expected-fault.js'
import { logAtIntervals } from '../base/log-at-intervals.js'
import { Refusal } from '../domain/refusal.js'
import type { Config, DatabaseSettings } from '../process/config.js'
import type { Logger } from '../process/log.js'
import { connectPostgres, type Database, requireSettings } from '../storage/postgres/connection/client.js'
import { isLost, isTransient } from '../storage/postgres/connection/errors.js'
import { lateDatabase } from '../storage/postgres/connection/late-database.js'
import { observedDatabase } from '../storage/postgres/connection/observed-database.js'
import { poolerBetween } from '../storage/postgres/connection/pooler.js'
import { askServers, primaryAmong, serversOf } from '../storage/postgres/connection/primary.js'
import { startEmbedded } from '../storage/postgres/embedded/embedded.js'
import { backupRoleSql } from '../storage/postgres/schema/backup-role.js'
import { migrate, requireSchema } from '../storage/postgres/schema/migrate.js'
import type { StoreObserver } from '../storage/store-observer.js'

export type SchemaChoice = 'migrate' | 'at-least' | 'exact'

/** Connections in addition to the processes' pools: migrations, a console, and the server's own. */
const FURTHER_CONNECTIONS = 20

/** About five seconds in all, including the time-outs of the pings. */
const FIRST_PINGS = 20
const FIRST_PING_EVERY_MS = 50

/** Enough for full pools of all serving processes and of the supervising one. */
const connectionsFor = ({ processes, databasePool }: Config): number =>
  Math.max(60, (processes + 1) * databasePool + FURTHER_CONNECTIONS)

/** An open database. */
export interface OpenedDatabase {
  readonly name: string
  readonly database: Database
  /** Connection string of all of its servers. */
  readonly url: string
  readonly embedded: boolean
  /** It did not answer at the start, and is opened as soon as it does. */
  readonly away: string | null
  /** Migrations that opening applied. */
  readonly migrated: readonly string[]
  readonly backupRoleSql: () => Promise<string | null>
}

interface DatabaseOptions {
  readonly config: Config
  readonly log: Logger
  readonly supervised: boolean
  readonly schema: SchemaChoice
  /** The list to which the step is added that stops an embedded database. */
  readonly closing: (() => Promise<void>)[]
  readonly observer: StoreObserver | null
}

/** One of several databases. If it does not answer, it is opened as soon as it does, and refuses every call until then. */
export async function openAmong(named: DatabaseSettings, options: DatabaseOptions): Promise<OpenedDatabase> {
  const { config, log } = options
  try {
    return await openDatabase(named, options)
  } catch (error) {
    if (!(error instanceof DatabaseAway || error instanceof Refusal || isTransient(error) || isLost(error))) throw error
    const report = logAtIntervals((why) => log.error({ database: named.name, why }, 'a database is out of reach'))
    report(faultOf(error))
    const database = lateDatabase({
      open: async () => (await openDatabase(named, options)).database,
      onOpened: () => log.info({ database: named.name }, 'a database answers'),
      onFailed: (fault) => report(faultOf(fault)),
      url: named.url ?? '',
      patience: config.storePatience,
    })
    return {
      name: named.name,
      database,
      url: named.url ?? '',
      embedded: false,
      away: faultOf(error),
      migrated: [],
      backupRoleSql: async () => null,
    }
  }
}

/** Starts the embedded database or finds the configured one, checks or migrates its schema, and connects. */
export async function openDatabase(named: DatabaseSettings, options: DatabaseOptions): Promise<OpenedDatabase> {
  const { config, log, supervised, schema, closing, observer } = options
  const say = (line: string) => log.info(line)
  const embedded =
    named.url === null
      ? await startEmbedded({
          dataFolder: config.dataFolder,
          connections: connectionsFor(config),
          watched: !supervised,
          log: say,
        })
      : null
  if (embedded !== null) closing.push(() => embedded.stop())
  const url = embedded?.url ?? named.url ?? ''
  const primary = await primaryOf(named, url)
  const migrated = await atVersion(primary, schema, say).catch((error: unknown) => {
    throw databaseFault(named, error)
  })
  const pooled = embedded === null && (await poolerBetween(primary))
  const prepare = named.prepare ?? !pooled
  const warn = (line: string) => log.warn(line)
  const settings = {
    url,
    primary,
    max: config.databasePool,
    prepare,
    pooled,
    log: warn,
    patience: config.storePatience,
  }
  const database =
    observer === null
      ? connectPostgres(settings)
      : observedDatabase(connectPostgres({ ...settings, waited: observer.waited }), observer)
  try {
    await untilAnswered(database)
    await requireSettings(database)
  } catch (error) {
    await database.close()
    throw error
  }
  return {
    name: named.name,
    database,
    url,
    embedded: embedded !== null,
    away: null,
    migrated,
    backupRoleSql: () => backupRoleSql(primary),
  }
}

/** The first connection may be slow. */
async function untilAnswered(database: Database): Promise<void> {
  for (let left = FIRST_PINGS; ; left--) {
    try {
      await database.ping()
      return
    } catch (error) {
      if (left === 0) throw error
      await delay(FIRST_PING_EVERY_MS)
    }
  }
}

/** Names of the migrations applied: none unless `schema` is `migrate`. */
async function atVersion(primary: string, schema: SchemaChoice, log: (line: string) => void): Promise<string[]> {
  if (schema === 'migrate') return await migrate(primary, log)
  await requireSchema(primary, { newer: schema === 'at-least' })
  return []
}

/** The server that takes writes. */
async function primaryOf({ setting }: DatabaseSettings, url: string): Promise<string> {
  const servers = serversOf(url)
  if (servers.length === 1) return url
  const asked = await askServers(servers)
  const primary = primaryAmong(asked)
  if (primary !== null) return primary.url
  const answers = asked.map(({ url, answer }) => {
    const why = answer instanceof Error ? (reasonOf(answer) ?? answer.message) : 'a standby'
    return `${new URL(url).host}: ${why}`
  })
  throw new DatabaseAway(`no server of ${setting} takes writes (${answers.join('; ')})`)
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

/** The database may answer later. */
class DatabaseAway extends ExpectedFault {}

/** Maps known errors of the first connection to errors for the operator; other errors are unchanged. */
function databaseFault({ setting }: DatabaseSettings, error: unknown): unknown {
  const reason = error instanceof Error ? reasonOf(error) : null
  if (reason === null) return error
  const line = `${setting}: ${reason}`
  return /no database answers|not ready|no connection left/.test(reason)
    ? new DatabaseAway(line)
    : new ExpectedFault(line)
}
