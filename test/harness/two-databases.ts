import { randomBytes } from 'node:crypto'
import { type DebianServer, debianPostgres } from '../../bench/shared/debian-postgres.js'
import { migrate } from '../../src/storage/postgres/schema/migrate.js'

/** Two PostgreSQL servers, each with a migrated database, and the settings of a service on both. */
export interface TwoDatabases {
  readonly servers: readonly [DebianServer, DebianServer]
  readonly urls: readonly [string, string]
  readonly env: Readonly<Record<string, string>>
  remove(): Promise<void>
}

/** The login has the rights that docs/scaling.md asks for, and no others. */
export async function startTwoDatabases(): Promise<TwoDatabases> {
  const debian = debianPostgres()
  const start = async (name: string) => {
    const server = await debian.serve(await debian.initialize(name), 'fsync=off')
    await server.run('create role service login createrole')
    await server.run('create database service owner service')
    await server.run('grant set on parameter session_replication_role to service')
    const url = `postgres://service@127.0.0.1:${server.port}/service`
    await migrate(url)
    return { server, url }
  }
  const [one, two] = await Promise.all([start('one'), start('two')])
  return {
    servers: [one.server, two.server],
    urls: [one.url, two.url],
    env: {
      DATABASE_URL: one.url,
      DATABASE_URLS: `two=${two.url}`,
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    },
    async remove() {
      await Promise.all([one.server.kill(), two.server.kill()])
      debian.remove()
    },
  }
}
