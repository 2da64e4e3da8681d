import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type DebianPostgres,
  type DebianServer,
  debianPostgres,
  whyNoStandby,
} from '../../../../bench/shared/debian-postgres.js'
import { migrate } from '../../../../src/storage/postgres/schema/migrate.js'

const why = whyNoStandby()
if (why !== null) console.warn(`\n*** ${why} ***\n`)

/** The partitions depend on the month of the test, so the dump excludes them. */
const PARTITIONS = 'keystride.authentication_2*'

/** A dump without comments (including those in function bodies), empty lines, session settings and psql commands. */
const normalised = (dump: string): string =>
  dump
    .split('\n')
    .map((line) => line.replace(/(^|\s)-- .*$|^--$/, '').trimEnd())
    .filter((line) => !/^(SET .*|SELECT pg_catalog\.set_config.*|\\.*|)$/.test(line))
    .join('\n')
    .concat('\n')

describe.skipIf(why !== null)('the schema of a new database', { timeout: 60_000 }, () => {
  let debian: DebianPostgres
  let server: DebianServer
  beforeAll(async () => {
    debian = debianPostgres()
    server = await debian.serve(await debian.initialize('primary'))
    await server.run('create role app login createrole')
    await server.run('create database service owner app')
  }, 60_000)
  afterAll(async () => {
    await server?.kill()
    debian?.remove()
  })

  // `vitest run --update` writes the file anew: its diff shows the effect of a change on every table, policy and grant.
  it('is the one in schema.sql, grants and settings of functions included', async () => {
    await migrate(`postgres://app@127.0.0.1:${server.port}/service`)
    const file = join(debian.folder('dump'), 'schema.sql')
    const from = `postgres://keystride@127.0.0.1:${server.port}/service`
    await debian.run(
      'pg_dump',
      '--schema-only',
      '--schema=keystride',
      `--exclude-table=${PARTITIONS}`,
      '-f',
      file,
      from,
    )
    await expect(normalised(readFileSync(file, 'utf8'))).toMatchFileSnapshot('schema.sql')
  })
})
