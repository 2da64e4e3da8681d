import { execFileSync } from 'node:child_process'
import pg from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Keystride, keystrideHere, keystrideWith } from '../harness/command.js'
import { startProcess } from '../harness/service-process.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'

describe('the program keystride', () => {
  it('prints the help of each command and its subcommands, and loads no module of a store for it', async () => {
    const traced = keystrideWith({ NODE_DEBUG: 'esm' })
    const helpOf = async (keystride: Keystride, ...words: string[]) => {
      const { status, stdout, stderr } = await keystride(...words, '--help')
      expect([words, status]).toEqual([words, 0])
      expect(stdout).toContain(`Usage: ${['keystride', ...words].join(' ')}`)
      expect(stderr).not.toMatch(/open-stores\.js|node_modules\/(postgres|pg)\//)
      if (keystride === traced) expect(stderr).toContain('cli/keystride.js')
      const [list = ''] = stdout.split('\nCommands:\n')[1]?.split('\n\n') ?? []
      return [...list.matchAll(/^ {2}(?!help)([a-z][\w-]*)/gm)].map(([, name = '']) => name)
    }
    const commands = await helpOf(traced)
    expect(commands.length).toBeGreaterThan(12)
    for (const command of commands)
      for (const below of await helpOf(traced, command)) await helpOf(keystrideHere({}), command, below)
  })

  it('warns of unknown variables, also if the configuration is invalid', async () => {
    const warning = 'keystride: warning: METRIC_PORT is not a setting of Keystride: did you mean METRICS_PORT?\n'
    for (const [PORT, status, ...commands] of [
      ['0', 0, ['config', 'check'], ['config', 'check', '--json']],
      ['many', 1, ['config', 'check'], ['serve']],
    ] as const)
      for (const args of commands) {
        const ran = await keystrideWith({ METRIC_PORT: '9100', PORT })(...args)
        expect([args, ran.status, ran.stderr.startsWith(warning)]).toEqual([args, status, true])
      }
  })
})

describe('the database schema', () => {
  let fresh: FreshDatabase
  let env: Record<string, string>
  let keystride: Keystride
  beforeEach(async () => {
    fresh = await freshDatabase({ empty: true })
    env = { DATABASE_URL: fresh.url, ENCRYPTION_KEY: Buffer.alloc(32, 3).toString('base64') }
    keystride = keystrideHere(env)
    return () => fresh.drop()
  })

  async function query<Row>(text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: fresh.url })
    await client.connect()
    try {
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }
  const schemaObjects = () =>
    query(`select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema'
      union all select nspname, null from pg_namespace where nspname like 'keystride%' or nspname = 'pgboss'`)
  const refused = (stderr: RegExp) => ({ status: 1, stderr: expect.stringMatching(stderr) })
  const NONE = /has no schema of Keystride, wanted is \d+_\S+: run "keystride migrate" first/

  it('is needed by every command other than migrate and by MIGRATE=off, which create nothing', async () => {
    for (const line of ['config check --connect', 'organization list', 'organization create A', 'erasures export'])
      expect(await keystride(...line.split(' '))).toMatchObject(refused(NONE))
    for (const PROCESSES of ['1', '2'])
      await expect(startProcess({ ...env, MIGRATE: 'off', PROCESSES })).rejects.toThrow(NONE)
    expect(await schemaObjects()).toEqual([])
  })

  it('stops commands other than migrate if it, or that of the job queue, is older or newer than expected', async () => {
    const list = () => keystride('organization', 'list')
    expect((await keystride('migrate')).stdout).toMatch(/^Applied: /)
    expect((await keystride('migrate')).stdout).toBe('The database is up to date.\n')
    await query('update pgboss.version set version = version - 1')
    expect(await list()).toMatchObject(refused(/the schema of the job queue is at another version: run/))
    await query('update pgboss.version set version = version + 1')
    expect(await list()).toMatchObject({ status: 0 })
    const history = 'keystride_history.migration'
    const [last] = await query<{ name: string }>(
      `delete from ${history} where id = (select max(id) from ${history}) returning name`,
    )
    expect(await list()).toMatchObject(refused(new RegExp(`is at \\d+_\\S+, wanted is ${last?.name}: run`)))
    await query(`insert into ${history} (name, run_on) values ('${last?.name}', now()), ('9999999999999_newer', now())`)
    expect(await list()).toMatchObject(refused(/is at 9999999999999_newer, newer than the wanted /))
    // A service with MIGRATE=off serves on a newer schema, as during a rolling update.
    const service = await startProcess({ ...env, MIGRATE: 'off' })
    expect((await fetch(`${service.core}/status`)).status).toBe(200)
    expect((await service.stop()).status).toBe(0)
  })
})

it('keystride completion completes commands, options and choices in bash', async () => {
  const { stdout: source } = await keystrideHere({})('completion', 'bash')
  const completed = (line: string) => {
    const words = line.split(' ').map((word) => `'${word}'`)
    const ask = `COMP_WORDS=(${words.join(' ')}) COMP_CWORD=${words.length - 1}; _keystride; echo "\${COMPREPLY[*]}"`
    return execFileSync('bash', ['-c', `${source}\n${ask}`], { encoding: 'utf8' }).trim()
  }
  expect(completed('keystride org')).toBe('organization')
  expect(completed('keystride organization li')).toBe('list limits')
  expect(completed('keystride key issue --sc')).toBe('--scopes')
  expect(completed('keystride completion ')).toBe('bash zsh fish --help')
})
