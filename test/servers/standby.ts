import { type DebianServer, debianPostgres } from '../../bench/shared/debian-postgres.js'
import { until } from '../storage/fixtures.js'

/** A primary with a synchronous standby: a commit is answered when the standby has it on disk. */
export interface Pair {
  /** The value of DATABASE_URL: both servers, in the format of libpq. */
  readonly url: string
  readonly primary: DebianServer
  readonly standby: DebianServer
  /** Makes the standby a primary without synchronous replication. Resolves when it accepts writes. */
  promote(): Promise<void>
  close(): Promise<void>
}

export async function startPair(): Promise<Pair> {
  const debian = debianPostgres()
  const primary = await debian.serve(await debian.initialize('one'))
  const two = debian.folder('two')
  const from = `host=127.0.0.1 port=${primary.port} user=keystride application_name=standby`
  await debian.run('pg_basebackup', '-D', two, '-d', from, '-R', '-X', 'stream', '--checkpoint=fast', '--no-sync')
  const standby = await debian.serve(two)
  // Set after the base backup, so that the standby's copy of the settings is not synchronous.
  await primary.run(`alter system set synchronous_standby_names = 'standby'`)
  await primary.run('select pg_reload_conf()')
  await until(async () => (await primary.run('select sync_state from pg_stat_replication'))[0]?.sync_state === 'sync')
  return {
    url: `postgres://keystride@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres?target_session_attrs=read-write`,
    primary,
    standby,
    promote: async () => void (await standby.run('select pg_promote(true, 30)')),
    async close() {
      await Promise.all([primary.kill(), standby.kill()])
      debian.remove()
    },
  }
}
