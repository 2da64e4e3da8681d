import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../../src/scoring/artifacts.js'
import { type DebianServer, debianPostgres, whyNoStandby } from '../shared/debian-postgres.js'
import { type Closing, launch, type Running } from '../shared/deployment.js'

/** A server with an empty database, and a shell for the documented commands. Everything is in a temporary folder. */
export interface Stage {
  readonly primary: DebianServer
  /** Environment of the service: its database and its encryption key. */
  readonly env: Readonly<Record<string, string>>
  /** Folder of the shell. */
  readonly files: string
  /** Runs a script with `keystride` and the programs of PostgreSQL on its PATH; returns its output. Throws with its last words. */
  shell(script: string, more?: Readonly<Record<string, string>>): Promise<string>
  /** Starts another server; `SERVER` of the documented restore. */
  another(name: string): Promise<DebianServer>
  /** Starts the service. */
  serve(more?: Readonly<Record<string, string>>): Promise<Running>
  readonly say: (line: string) => void
  close(): Promise<void>
}

/** As docs/operations.md advises. */
const SETTINGS = ['max_wal_size=2GB', 'shared_buffers=1GB']

/** The service's login, which owns the database `keystride` and is no superuser. */
export const LOGIN = 'app'

/** Starts Debian's PostgreSQL. Throws if it is not installed: the embedded one has no pg_dump. */
export async function openStage(say: (line: string) => void): Promise<Stage> {
  const missing = whyNoStandby()
  if (missing !== null) throw new Error("a drill needs pg_dump and pg_restore: install Debian's postgresql")
  const closing: Closing = []
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= (async () => {
      for (const step of closing.splice(0).reverse()) await step().catch(() => {})
    })()
    return closed
  }
  try {
    const files = mkdtempSync(join(tmpdir(), 'keystride-drill-'))
    closing.push(async () => rmSync(files, { recursive: true, force: true }))
    const debian = debianPostgres()
    closing.push(async () => debian.remove())
    const another = async (name: string) => {
      const server = await debian.serve(await debian.initialize(name), ...SETTINGS)
      closing.push(() => server.kill())
      return server
    }
    const primary = await another('primary')
    await primary.run(`create role ${LOGIN} login createrole`)
    await primary.run(`create database keystride owner ${LOGIN}`)
    const env = {
      DATABASE_URL: `postgres://${LOGIN}@127.0.0.1:${primary.port}/keystride`,
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      KEYSTRIDE_DATA: files,
      LOG_LEVEL: 'warn',
      REDIS_URL: '',
      // A store that a loaded machine is slow to reach ends no drill.
      STORE_PATIENCE: '10',
    }
    const shell = shellIn(files, `${debian.bin}:${files}/bin:${process.env.PATH}`, env)
    const serve = (more: Readonly<Record<string, string>> = {}) =>
      launch(closing, 'bin/start.mjs', /serves on \S+:(\d+)[\s\S]*Next:/, {
        ...env,
        PORT: '0',
        LOG_FORMAT: 'text',
        PROCESSES: '1',
        // A loaded machine sheds nothing: a drill measures no rate.
        QUEUE_MS: '60000',
        ...more,
      })
    return { primary, env, files, shell, another, serve, say, close }
  } catch (error) {
    await close()
    throw error
  }
}

function shellIn(files: string, path: string, env: Readonly<Record<string, string>>): Stage['shell'] {
  mkdirSync(join(files, 'bin'))
  mkdirSync(join(files, 'tmp'))
  const command = `#!/bin/sh\nexec ${process.execPath} ${join(packageRoot(), 'bin/keystride.mjs')} "$@"\n`
  writeFileSync(join(files, 'bin/keystride'), command, { mode: 0o755 })
  return async (script, more = {}) => {
    const options = {
      cwd: files,
      env: { ...process.env, ...env, PATH: path, TMPDIR: join(files, 'tmp'), ...more },
      maxBuffer: 256 * 2 ** 20,
    }
    try {
      return (await promisify(execFile)('sh', ['-ec', script], options)).stdout
    } catch (error) {
      // The fields of a rejection of execFile.
      const { code, stderr = '' } = error as { code?: unknown; stderr?: string }
      const [command = ''] = script.split('\n')
      throw new Error(`"${command}" ended with status ${code}: ${stderr.trim().split('\n').at(-1)}`)
    }
  }
}
