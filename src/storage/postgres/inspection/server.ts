import type { ActivityFacts, HolderFacts, ReplicationFacts, ServerFacts } from '../../inspection.js'
import type { Client } from '../connection/with-client.js'
import { NotShown, only } from './reading.js'

/** The expression for a setting in `pg_settings`, which is null if the login may not read it. */
const setting = (name: string): string => `(select setting from pg_settings where name = '${name}')`

export async function readServer(client: Client): Promise<ServerFacts> {
  const { rows } = await client.query<Omit<ServerFacts, 'holders'>>(`
    select split_part(current_setting('server_version'), ' ', 1) as "version",
      current_setting('server_version_num')::int as "versionNumber", pg_is_in_recovery() as "standby",
      current_setting('max_connections')::int as "maxConnections",
      current_setting('superuser_reserved_connections')::int as "reservedConnections",
      (select least(nullif(rolconnlimit, -1), nullif(datconnlimit, -1)) from pg_roles, pg_database
        where rolname = session_user and datname = current_database()) as "ownLimit",
      pg_size_bytes(current_setting('max_wal_size'))::float8 as "maxWalBytes",
      pg_size_bytes(current_setting('shared_buffers'))::float8 as "sharedBufferBytes",
      current_setting('fsync') = 'on' as "fsync", current_setting('autovacuum') = 'on' as "autovacuum",
      current_setting('synchronous_commit') as "synchronousCommit", ${setting('data_directory')} as "dataFolder",
      (select age(datfrozenxid) from pg_database where datname = current_database()) as "transactionAge"`)
  return { ...only(rows), holders: await readHolders(client) }
}

/** Address and port of other logins' connections are null unless the login may read them. */
async function readHolders(client: Client): Promise<HolderFacts[]> {
  const { rows } = await client.query<HolderFacts>(`
    select case when client_addr is not null then host(client_addr) when client_port = -1 then 'a local socket'
        else 'an address that this login may not see' end as "address",
      coalesce(usename, '') as "login", application_name as "application", count(*)::int as "connections",
      usename = session_user as "own", usename = session_user and client_addr is not distinct from inet_client_addr() as "here"
    from pg_stat_activity where datid is not null and usename is not null
    group by 1, 2, 3, 5, 6 order by 4 desc, 1, 2, 3`)
  return rows
}

/** The state of other logins' connections is null unless the login may read it. */
export async function readActivity(client: Client): Promise<ActivityFacts> {
  const { rows } = await client.query<ActivityFacts & { hidden: number }>(`
    with idle as (select extract(epoch from clock_timestamp() - xact_start) as s from pg_stat_activity
      where state like 'idle in transaction%' and xact_start < clock_timestamp() - interval '1 minute')
    select (select count(*)::int from idle) as "idleInTransaction", (select coalesce(max(s), 0)::float8 from idle) as "oldestS",
      (select count(*)::int from pg_stat_activity where datid is not null and state is null) as "hidden"`)
  const { hidden, ...facts } = only(rows)
  if (hidden > 0) throw new NotShown(`the login may not see ${hidden} connections of other logins: grant it pg_monitor`)
  return facts
}

export async function readReplication(client: Client): Promise<ReplicationFacts> {
  const { rows: standbys } = await client.query<{
    name: string
    state: string | null
    lag: number | null
    sync: boolean
  }>(`
    select application_name as name, state, sync_state in ('sync', 'quorum') as sync,
      pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end, replay_lsn)::float8 as lag
    from pg_stat_replication order by application_name`)
  if (standbys.some(({ state }) => state === null))
    throw new NotShown('the login may not see the state of replication: grant it pg_monitor')
  const { rows: slots } = await client.query<ReplicationFacts['slots'][number]>(`
    select slot_name as "name", active, wal_status = 'lost' as "lost",
      coalesce(pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end,
        restart_lsn), 0)::float8 as "heldBytes"
    from pg_replication_slots order by slot_name`)
  const { rows } = await client.query<{ standby: boolean; waits: boolean; archive_fails: boolean }>(`
    select pg_is_in_recovery() as standby,
      current_setting('synchronous_standby_names') <> '' and current_setting('synchronous_commit') not in ('off', 'local') as waits,
      current_setting('archive_mode') <> 'off'
        and coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as archive_fails
    from pg_stat_archiver`)
  const { standby, waits, archive_fails: archiveFails } = only(rows)
  return {
    standby,
    standbys: standbys.map(({ name, state, lag, sync }) => ({
      name,
      state: state ?? '',
      lagBytes: lag ?? 0,
      synchronous: sync,
    })),
    waitsForStandby: waits,
    slots,
    archiveFails,
  }
}
