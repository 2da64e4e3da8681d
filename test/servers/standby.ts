import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DebianServer, debianPostgres } from '../../bench/shared/debian-postgres.js'
import { until } from '../harness/patience.js'
import { scalingBlock } from './scaling-page.js'

/** A primary with a synchronous standby, set up as in docs/scaling.md: a commit is answered when the standby has it on disk. */
export interface Pair {
  /** The value of DATABASE_URL: both servers, in the format of libpq. */
  readonly url: string
  readonly primary: DebianServer
  readonly standby: DebianServer
  /** Content of PgBouncer's auth_file. */
  users(): Promise<string>
  /** Makes the standby a primary without synchronous replication. Resolves when it accepts writes. */
  promote(): Promise<void>
  /** Makes the killed primary a standby of the promoted one. Resolves when it answers. */
  rewind(): Promise<void>
  close(): Promise<void>
}

const PASSWORD = 'long random text'

/** Arguments of this program in the block, with the folder and the server of the test. */
function documented(info: string, program: string, folder: string, server: DebianServer): string[] {
  const text = scalingBlock(info).replaceAll('\\\n', ' ')
  const line = new RegExp(`${program} (.*?)(?: &&)?$`, 'm').exec(text)?.[1] ?? ''
  const words = [...line.matchAll(/'([^']*)'|(\S+?)'([^']*)'|(\S+)/g)].map(
    ([, quoted, name = '', value = '', plain]) => quoted ?? plain ?? name + value,
  )
  const args = words.map((word) =>
    word
      .replace('/var/lib/postgresql/15/main', folder)
      .replace(/host=10\.0\.0\.\d/, `host=127.0.0.1 port=${server.port}`),
  )
  if (!args.includes(folder) || !args.join(' ').includes(String(server.port)))
    throw new Error(`docs/scaling.md: another ${program} than this function expects: ${line}`)
  return args.filter((arg) => !arg.startsWith('--config-file='))
}

export async function startPair(): Promise<Pair> {
  const debian = debianPostgres()
  const one = await debian.initialize('one')
  // The settings are in the file, because pg_rewind reads it. The base backup copies it.
  appendFileSync(join(one, 'postgresql.conf'), scalingBlock('ini postgresql.conf'))
  const primary = await debian.serve(one)
  await primary.run(`alter role keystride password '${PASSWORD}'`)
  await primary.run(scalingBlock('sql primary'))
  const two = debian.folder('two')
  await debian.run('pg_basebackup', ...documented('sh standby', 'pg_basebackup', two, primary))
  const standby = await debian.serve(two)
  // This is set after the base backup, so that the standby's copy of the settings is not synchronous.
  await primary.run(`alter system set synchronous_standby_names = 'standby'`)
  await primary.run('select pg_reload_conf()')
  await until(async () => (await primary.run('select sync_state from pg_stat_replication'))[0]?.sync_state === 'sync')
  const user = `keystride:${encodeURIComponent(PASSWORD)}`
  return {
    url: `postgres://${user}@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres?target_session_attrs=read-write`,
    primary,
    standby,
    async users() {
      const [, statement = ''] = /psql -XAtc "(.*)"/.exec(scalingBlock('sh pgbouncer')) ?? []
      const [row] = await primary.run(statement.replaceAll('\\"', '"'))
      return `${Object.values(row ?? {})[0]}\n`
    },
    promote: async () => void (await standby.run('select pg_promote(true, 30)')),
    async rewind() {
      for (const statement of scalingBlock('sql promoted').split(';').slice(0, -1)) await standby.run(statement)
      await debian.run('pg_rewind', ...documented('sh rewind', 'pg_rewind', one, standby))
      await primary.restart()
    },
    async close() {
      await Promise.all([primary.kill(), standby.kill()])
      debian.remove()
    },
  }
}
