import { type ChildProcess, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../../src/storage/postgres/embedded/embedded.js'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { migrate } from '../../src/storage/postgres/schema/migrate.js'
import { startChild } from './child.js'
import { startPgbouncer } from './pgbouncer.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A database whose login may create databases and roles. */
    databaseUrl: string
    /** A migrated database to copy, without connections. */
    templateDatabase: string
    /** Null without Redis. */
    redisUrl: string | null
  }
}

/**
 * Real servers for all test files: those of `TEST_DATABASE_URL` and `REDIS_URL`, or new ones. `TEST_POOLER=pgbouncer`
 * puts a PgBouncer in transaction mode before the database.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const disk = quickDisk()
  removeAbandoned(disk)
  const folder = mkdtempSync(path.join(disk, `${FOLDER}-${process.pid}-`))
  const given = process.env.TEST_DATABASE_URL
  const embedded = given === undefined ? await startEmbedded({ dataFolder: folder, connections: CONNECTIONS }) : null
  const serverUrl = given ?? embedded?.url ?? ''
  const pooler = process.env.TEST_POOLER === 'pgbouncer' ? await startPgbouncer(serverUrl) : null
  const databaseUrl = pooler === null ? serverUrl : `${pooler.through(serverUrl)}?prepare=false`
  const templateDatabase = `keystride_template_${process.pid}_${project.name.replaceAll('-', '_')}`
  await administer(serverUrl, `create database ${templateDatabase}`)
  await migrate(withDatabase(serverUrl, templateDatabase))
  const redis = project.name === 'without-redis' ? WITHOUT : await startRedis()
  project.provide('databaseUrl', databaseUrl)
  project.provide('templateDatabase', templateDatabase)
  project.provide('redisUrl', redis.url)
  return async () => {
    await redis.stop()
    await pooler?.close()
    if (embedded === null) await administer(serverUrl, `drop database ${templateDatabase} with (force)`)
    await embedded?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const FOLDER = 'keystride-test'
/** Each worker keeps the pools of its shared service and database, and test files open more. */
const CONNECTIONS = 200
const SHARED_MEMORY = '/dev/shm'
/** The databases of all concurrent test files need far less. */
const ROOM_BYTES = 4 * 1024 ** 3

/**
 * A folder in memory if it has room. On a shared disk a flush may take a second, and the service then correctly refuses
 * requests that these tests expect to succeed. Data in memory survives a killed process, and tests of the disk start
 * their own servers.
 */
function quickDisk(): string {
  if (!existsSync(SHARED_MEMORY)) return tmpdir()
  const { bavail, bsize } = statfsSync(SHARED_MEMORY)
  return bavail * bsize >= ROOM_BYTES ? SHARED_MEMORY : tmpdir()
}

/** Folders of runs that were killed. A killed run leaves no server (`child.ts`), but a server that is killed leaves its folder. */
function removeAbandoned(disk: string): void {
  for (const name of readdirSync(disk)) {
    const [, pid] = new RegExp(`^${FOLDER}-(\\d+)-`).exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(path.join(disk, name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statement)
  await client.end()
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

const WITHOUT = { url: null, stop: async () => {} }

async function startRedis(): Promise<{ url: string | null; stop(): Promise<void> }> {
  const given = process.env.REDIS_URL
  if (given !== undefined) return { url: given, stop: async () => {} }
  if (spawnSync('redis-server', ['--version']).status !== 0) {
    const line = 'NO REDIS: every "redis" suite is SKIPPED (set REDIS_URL, or put redis-server on PATH)'
    if (process.env.REQUIRE_REDIS === '1') throw new Error(line)
    console.warn(`\n*** ${line} ***\n`)
    return WITHOUT
  }
  const port = await freePort()
  const folder = mkdtempSync(path.join(tmpdir(), 'keystride-redis-'))
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder]
  const child = startChild('redis-server', options, { stdio: ['ignore', 'pipe', 'ignore'] })
  await ready(child)
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGTERM')
      while (child.exitCode === null && child.signalCode === null) await delay(10)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (text: Buffer) => {
      if (text.toString().includes('Ready to accept connections')) resolve()
    })
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)))
  })
}
