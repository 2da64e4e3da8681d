import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type EmbeddedPostgres, startEmbedded } from '../../src/storage/postgres/embedded.js'
import { answers, readPidFile } from '../../src/storage/postgres/embedded-running.js'
import { until } from '../storage/fixtures.js'
import { freePort } from './service-process.js'

/** A Redis server of a test's own, to be killed, halted and filled. */
export interface OwnRedis {
  readonly port: number
  cli(...args: string[]): Promise<string>
  kill(): Promise<void>
  /** The same server again, on its folder and port, with further options; resolves when it answers. */
  restart(...more: string[]): Promise<void>
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  close(): Promise<void>
}

export async function startOwnRedis(...more: string[]): Promise<OwnRedis> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'keystride-own-redis-'))
  let server: ChildProcess
  const cli = async (...args: string[]) =>
    (await promisify(execFile)('redis-cli', ['-p', String(port), ...args])).stdout.trim()
  const own: OwnRedis = {
    port,
    cli,
    async kill() {
      server.kill('SIGKILL')
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    },
    async restart(...more) {
      const fixed = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
      server = spawn('redis-server', [...fixed, ...more], { stdio: 'ignore' })
      await until(async () => (await cli('ping').catch(() => '')) === 'PONG')
    },
    signal: (name) => void server.kill(name),
    async close() {
      await own.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await own.restart(...more)
  return own
}

/** A PostgreSQL server of a test's own. */
export interface OwnPostgres {
  /** Connection string past every proxy; changes with a restart, as the port does. */
  url(): string
  port(): number
  /** The postmaster; its children are the backends. */
  pid(): number
  /** Its backends that serve a connection. */
  backends(): Promise<number[]>
  /** SIGKILL to the postmaster; its children follow. Gives the time of it. */
  kill(): Promise<number>
  restart(): Promise<void>
  accepts(): Promise<boolean>
  /** Gives the time of the signal. */
  signalAll(name: 'SIGSTOP' | 'SIGCONT'): Promise<number>
  close(): Promise<void>
}

export async function startOwnPostgres(
  folder = mkdtempSync(join(tmpdir(), 'keystride-own-postgres-')),
): Promise<OwnPostgres> {
  const dataFolder = join(folder, 'data')
  let server: EmbeddedPostgres = await startEmbedded({ dataFolder })
  const pid = () => readPidFile(join(dataFolder, 'postgres'))?.pid ?? 0
  const processes = async (): Promise<{ pid: number; what: string }[]> => {
    const ps = await promisify(execFile)('ps', ['-o', 'pid=,args=', '--ppid', String(pid())]).catch(() => null)
    return (ps?.stdout ?? '')
      .split('\n')
      .map((line) => ({ pid: Number.parseInt(line, 10), what: line }))
      .filter((one) => one.pid > 0)
  }
  return {
    url: () => server.url,
    port: () => Number(new URL(server.url).port),
    pid,
    backends: async () =>
      (await processes()).filter(({ what }) => what.includes('127.0.0.1(')).map(({ pid: backend }) => backend),
    async kill() {
      const at = performance.now()
      process.kill(pid(), 'SIGKILL')
      await until(async () => !(await answers(server.url)))
      return at
    },
    async restart() {
      server = await startEmbedded({ dataFolder })
    },
    accepts: () => answers(server.url),
    async signalAll(name) {
      const all = [{ pid: pid() }, ...(await processes())]
      const at = performance.now()
      for (const one of all) process.kill(one.pid, name)
      return at
    },
    async close() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
