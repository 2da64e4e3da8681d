import type { Config, DatabaseSettings } from '../../process/config.js'
import type {
  ActivityFacts,
  HolderFacts,
  MemberFacts,
  ReplicationFacts,
  SchemaFacts,
  ServerFacts,
  TableFacts,
  WrongSetting,
} from '../../storage/inspection.js'
import { count, type Finding, findingsOf, size, span } from './finding.js'

const database = findingsOf('database')
const replication = findingsOf('replication')

const OLDEST_VERSION = 140_000
/** The advice of docs/operations.md. */
const WAL_BYTES = 2 * 2 ** 30
const BUFFER_BYTES = 256 * 2 ** 20
/** A quarter of the transaction ids. Autovacuum freezes from 200 million on, so an older transaction shows that it could not. */
const TRANSACTION_AGE = 1_000_000_000

/** Checks the settings of the server; the service sets those of the embedded server. `pooled`: connections go through a pooler. */
export function checkServer(facts: ServerFacts, config: Config, pooled: boolean): Finding[] {
  const embedded = config.databaseUrl === null
  const { ok, note, warning, problem } = database
  const findings = [ok(`PostgreSQL ${facts.version} answers.`)]
  if (facts.versionNumber < OLDEST_VERSION)
    findings.push(problem(`PostgreSQL ${facts.version} is too old.`, 'Use PostgreSQL 14 or newer.'))
  if (!facts.fsync) findings.push(problem('fsync is off: a power failure destroys the database.', 'Set fsync = on.'))
  if (facts.synchronousCommit === 'off')
    findings.push(
      warning('synchronous_commit is off: a crash loses answered attempts.', 'Set synchronous_commit = on.'),
    )
  if (!facts.autovacuum)
    findings.push(problem('autovacuum is off: the tables grow without end.', 'Set autovacuum = on.'))
  if (facts.transactionAge > TRANSACTION_AGE)
    findings.push(
      problem(
        `The oldest row version is ${count(facts.transactionAge, 'transaction')} old; at 2 billion the database stops.`,
        'End old transactions and prepared transactions, and run VACUUM.',
      ),
    )
  findings.push(checkConnections(facts, pooled ? null : poolsOf(config)))
  if (!embedded && facts.maxWalBytes < WAL_BYTES)
    findings.push(
      note(
        `max_wal_size is ${size(facts.maxWalBytes)}: under a sustained load, checkpoints about double the log.`,
        'Set max_wal_size = 2GB.',
      ),
    )
  if (!embedded && facts.sharedBufferBytes < BUFFER_BYTES)
    findings.push(
      note(
        `shared_buffers is ${size(facts.sharedBufferBytes)}, and the replay index is read at random positions.`,
        "Set shared_buffers to about a quarter of the server's memory.",
      ),
    )
  return findings
}

/** The most connections that the processes of this machine open. */
interface Pools {
  readonly connections: number
  /** The sum as text. */
  readonly sum: string
}

/**
 * Single sign-on alone is one process. A process with the role `jobs` writes one export at a time, on a connection of its own. The
 * supervisor of several processes needs one connection, unless it serves single sign-on.
 */
function poolsOf({ roles, processes, databasePool }: Config): Pools {
  if (roles.every((role) => role === 'sso')) return { connections: databasePool, sum: 'DATABASE_POOL' }
  const exports = roles.includes('jobs')
  const sum = `PROCESSES x ${exports ? '(DATABASE_POOL + 1 for an export)' : 'DATABASE_POOL'}`
  const connections = processes * (exports ? databasePool + 1 : databasePool)
  if (processes === 1) return { connections, sum }
  const supervisor = roles.includes('sso') ? databasePool : 1
  return { connections: connections + supervisor, sum: `${sum}, and ${supervisor} of their supervisor` }
}

/** Checks the limits of connections. `pools` is null if a pooler opens the connections. */
function checkConnections(
  { maxConnections, reservedConnections, holders, ownLimit }: ServerFacts,
  pools: Pools | null,
): Finding {
  const permitted = maxConnections - reservedConnections
  const most = Math.min(permitted, ownLimit ?? Number.POSITIVE_INFINITY)
  const used = total(holders)
  const elsewhere = holders.filter(({ here }) => !here)
  const free = Math.min(
    permitted - total(elsewhere),
    (ownLimit ?? Number.POSITIVE_INFINITY) - total(elsewhere.filter(({ own }) => own)),
  )
  const need = `the processes of this machine open up to ${pools?.connections} (${pools?.sum})`
  if (pools !== null && pools.connections > most)
    return database.problem(
      `The server permits ${count(most, 'connection')}, and ${need}.`,
      'Raise max_connections, or lower DATABASE_POOL or PROCESSES.',
    )
  if (used > 0.9 * permitted)
    return database.warning(
      `${used} of ${count(permitted, 'connection')} are in use: ${held(holders)}.`,
      'Raise max_connections, or end connections of other programs.',
    )
  if (pools !== null && pools.connections > free)
    return database.warning(
      `The server permits ${count(most, 'connection')}, and ${need}; others leave ${Math.max(0, free)}: ${held(elsewhere)}.`,
      'Raise max_connections or the limit of the login, lower DATABASE_POOL, or end connections of other programs.',
    )
  const text = `The server permits ${count(most, 'connection')}, ${used} are in use`
  return database.ok(pools === null ? `${text}.` : `${text}, and ${need}.`)
}

const total = (holders: readonly HolderFacts[]): number =>
  holders.reduce((sum, { connections }) => sum + connections, 0)

const NAMED = 5

/** The largest holders of connections, such as `40 from 10.0.0.2 (keystride, login app)`. */
function held(holders: readonly HolderFacts[]): string {
  const named = holders.slice(0, NAMED).map(({ address, login, application, connections }) => {
    const program = application === '' ? 'unnamed' : application
    return `${connections} from ${address} (${program}, login ${login})`
  })
  const rest = total(holders.slice(NAMED))
  return [...named, ...(rest === 0 ? [] : [`${rest} more`])].join(', ')
}

export function checkPooler(pooler: boolean, { prepare, setting }: DatabaseSettings): Finding {
  if (!pooler) return database.ok('No pooler is between this machine and the server.')
  return prepare === true
    ? database.note(
        `A pooler is between this machine and the server, and prepare=true in ${setting} keeps statements prepared.`,
        'Keep it only with PgBouncer 1.21 or newer and max_prepared_statements above 0.',
      )
    : database.ok('A pooler is between this machine and the server, and statements do not stay prepared.')
}

export function checkSettings(wrong: readonly WrongSetting[]): Finding {
  if (wrong.length === 0) return database.ok('Sessions have the settings that the service needs.')
  const list = wrong.map(({ name, found, wanted }) => `${name} is ${found} instead of ${wanted}`)
  return database.problem(
    `Sessions have other settings than the service needs, and the pooler does not pass them on: ${list.join(', ')}.`,
    'Run "keystride migrate", then end the connections that the pooler holds (RECONNECT in the console of PgBouncer).',
  )
}

export function checkSchema({ found, wanted, migrationsMissing, unfit }: SchemaFacts): Finding {
  if (unfit === null) return database.ok(`The schema is at ${wanted}, the version of this build.`)
  if (found === null || migrationsMissing > 0)
    return database.problem(
      `The schema is at ${found ?? 'no version'}, this build wants ${wanted}: ${count(migrationsMissing, 'migration')} missing.`,
      'Run "keystride migrate", or start the service, which migrates unless MIGRATE=off.',
    )
  return database.problem(
    `The schema does not fit: ${unfit}.`,
    unfit.includes('keystride migrate')
      ? 'Run "keystride migrate" with this build.'
      : 'Run the version of Keystride that the message names.',
  )
}

/** Autovacuum starts at 50 dead rows plus a fifth of the live ones. It does not keep up with a table that has clearly more than twice as many. */
const deadRowsMax = (live: number): number => 10_000 + 0.4 * live
const LARGEST = 3

export function checkTables(tables: readonly TableFacts[]): Finding[] {
  const largest = tables.slice(0, LARGEST).map(({ name, bytes }) => `${name} ${size(bytes)}`)
  const total = tables.reduce((sum, { bytes }) => sum + bytes, 0)
  const behind = tables.filter(({ liveRows, deadRows }) => deadRows > deadRowsMax(liveRows))
  return [
    database.ok(`The tables take ${size(total)}; the largest are ${largest.join(', ')}.`),
    ...behind.map(({ name, deadRows, liveRows, lastVacuumAt }) =>
      database.warning(
        `${name} has ${count(deadRows, 'dead row')} next to ${liveRows.toLocaleString('en')} live ones, last vacuum ${lastVacuumAt === null ? 'never' : new Date(lastVacuumAt).toISOString()}.`,
        'End long transactions and unused replication slots, and give autovacuum more cost limit.',
      ),
    ),
  ]
}

export const checkActivity = ({ idleInTransaction, oldestS }: ActivityFacts): Finding =>
  idleInTransaction === 0
    ? database.ok('No transaction has been idle for more than a minute.')
    : database.warning(
        `${count(idleInTransaction, 'transaction')} idle for more than a minute, the oldest for ${span(oldestS)}.`,
        'End them: they hold locks and keep autovacuum from removing rows (pg_stat_activity names the program).',
      )

/** Log by which a standby may be behind, and log that a slot may hold, before the finding is a warning or a problem. */
const LAG_BYTES = 64 * 2 ** 20
const HELD_BYTES = 2 ** 30
const HELD_PROBLEM_BYTES = 16 * 2 ** 30

export function checkReplication(facts: ReplicationFacts, embedded: boolean): Finding[] {
  const { ok, note, warning, problem } = replication
  const { standby, standbys, waitsForStandby, slots, archiveFails } = facts
  const findings = standbys.map(({ name, state, lagBytes, synchronous }) =>
    state !== 'streaming' || lagBytes > LAG_BYTES
      ? warning(`Standby ${name} is ${size(lagBytes)} behind (${state}).`, 'Check its network, disk and log.')
      : ok(
          `Standby ${name} is ${size(lagBytes)} behind${synchronous && waitsForStandby ? ', and commits wait for it' : ''}.`,
        ),
  )
  if (standbys.length > 0 && !waitsForStandby)
    findings.push(
      note(
        'No commit waits for a standby: a promotion may lose attempts and profiles that were answered.',
        'Set synchronous_standby_names, with two standbys if the loss of one must not stop writes (docs/scaling.md).',
      ),
    )
  if (standbys.length === 0 && !embedded && !standby)
    findings.push(
      note('The server has no standby.', 'Add one if a lost server must not stop sign-ins (docs/scaling.md).'),
    )
  if (!standby && waitsForStandby && standbys.every(({ synchronous }) => !synchronous))
    findings.push(
      problem(
        'synchronous_standby_names is set and no synchronous standby is connected: no commit returns.',
        'Start the standby, or clear synchronous_standby_names.',
      ),
    )
  for (const { name, active, heldBytes, lost } of slots) {
    const text = `Replication slot ${name} ${active ? 'holds' : 'has no reader, and holds'} ${size(heldBytes)} of log`
    const advice = 'Start its reader, or drop the slot: the log that it holds fills the disk.'
    if (lost)
      findings.push(warning(`Replication slot ${name} has lost the log that it needs.`, 'Make its standby again.'))
    else if (heldBytes > HELD_PROBLEM_BYTES) findings.push(problem(`${text}.`, advice))
    else if (!active || heldBytes > HELD_BYTES) findings.push(warning(`${text}.`, advice))
    else findings.push(ok(`${text}.`))
  }
  if (archiveFails)
    findings.push(
      problem(
        'The server cannot archive its log: a restore ends at the last archived segment.',
        'Read the log of the server, and correct archive_command.',
      ),
    )
  return findings
}

/** `host` is the server that was read. It is a standby only if no server of `members` takes writes. */
export function checkRole(standby: boolean, host: string, members: readonly MemberFacts[]): Finding {
  if (!standby) return database.ok(`${host} takes writes.`)
  const lost = members.filter(({ role }) => role === 'unreachable').map((one) => one.host)
  const text = `${host} answers and is a standby, which takes no writes`
  const risk = 'Two servers that take writes lose data (docs/scaling.md, "A fail-over").'
  if (lost.length > 0)
    return database.problem(
      `${text}; ${lost.join(', ')}: no answer.`,
      `First make sure that PostgreSQL at ${lost.join(', ')} is off, or bring its pooler back if it runs; promote ${host} only then. ${risk}`,
    )
  return database.problem(
    `${text}; DATABASE_URL names no primary.`,
    `Add the primary to DATABASE_URL as another host:port, or make sure that it is off; promote ${host} only then. ${risk}`,
  )
}

export function checkMembers(members: readonly MemberFacts[]): Finding[] {
  if (members.length < 2) return []
  const primaries = members.filter(({ role }) => role === 'primary')
  const lost = members.filter(({ role }) => role === 'unreachable').map(({ host }) => host)
  return [
    ...(lost.length === 0
      ? [replication.ok('Every server of DATABASE_URL answers.')]
      : [
          replication.warning(
            `${lost.join(', ')} of DATABASE_URL: no answer.`,
            'If another server was promoted since, bring it back as a standby by pg_rewind and never by a plain start ' +
              '(docs/scaling.md, "A fail-over"); otherwise start it, or its pooler.',
          ),
        ]),
    ...(primaries.length > 1
      ? [
          replication.problem(
            `${primaries.map(({ host }) => host).join(' and ')} both take writes.`,
            'Stop the one that was replaced: rows written there are lost.',
          ),
        ]
      : []),
  ]
}
