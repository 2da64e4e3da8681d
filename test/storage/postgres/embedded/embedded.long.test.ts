import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir, totalmem } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { transpileModule } from 'typescript'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bufferMib, type EmbeddedPostgres, startEmbedded } from '../../../../src/storage/postgres/embedded/embedded.js'
import { answers, isRunning, readPidFile } from '../../../../src/storage/postgres/embedded/embedded-running.js'
import { until } from '../../../harness/patience.js'
import { startChild } from '../../../servers/child.js'

const source = fileURLToPath(new URL('../../../../src/storage/postgres/embedded/', import.meta.url))
const compiled = fileURLToPath(new URL(`../../../../build/embedded-test-${process.pid}/`, import.meta.url))
let dataFolder: string
let stopping: EmbeddedPostgres[]
let services: ChildProcess[]

/** Compiles the shipped files, for services in processes that the tests can kill. */
beforeAll(() => {
  mkdirSync(compiled, { recursive: true })
  for (const name of readdirSync(source).filter((one) => one.startsWith('embedded')))
    writeFileSync(
      path.join(compiled, name.replace('.ts', '.js')),
      transpileModule(readFileSync(path.join(source, name), 'utf8'), { compilerOptions: { module: 99, target: 9 } })
        .outputText,
    )
})
afterAll(() => rmSync(compiled, { recursive: true, force: true }))

beforeEach(() => {
  dataFolder = path.join(mkdtempSync(path.join(tmpdir(), 'keystride-embedded-')), '.keystride')
  stopping = []
  services = []
})
afterEach(async () => {
  for (const service of services) service.kill('SIGKILL')
  for (const one of stopping) await one.stop()
  await (await startEmbedded({ dataFolder })).stop()
  expect(serverPid()).toBeNull()
  rmSync(path.dirname(dataFolder), { recursive: true, force: true })
})

async function start(): Promise<EmbeddedPostgres> {
  const started = await startEmbedded({ dataFolder })
  stopping.push(started)
  return started
}

/** Another process that starts the same database and then waits; resolves with its url. */
function service(): Promise<{ child: ChildProcess; url: string }> {
  const code = `import { startEmbedded } from ${JSON.stringify(path.join(compiled, 'embedded.js'))}
    const { url } = await startEmbedded({ dataFolder: ${JSON.stringify(dataFolder)} })
    console.log(url)
    setInterval(() => {}, 1000)`
  const child = startChild(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  services.push(child)
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (text: Buffer) => resolve({ child, url: text.toString().trim() }))
    child.once('exit', (status, signal) => reject(new Error(`the service ended with ${status ?? signal}`)))
  })
}

const serverPid = () => readPidFile(path.join(dataFolder, 'postgres'))?.pid ?? null

async function ask<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}
const write = (url: string) => ask(url, (sql) => sql`create table kept as select 42 as n`)
const read = (url: string) => ask(url, async (sql) => (await sql`select n from kept`)[0]?.n)

describe('the embedded PostgreSQL', () => {
  it('keeps data over a stop and a start, leaves no process, and starts if a stale postmaster.pid names another one', async () => {
    const first = await start()
    await write(first.url)
    const pid = serverPid() ?? 0
    await first.stop()
    expect(isRunning(pid)).toBe(false)
    const lines = [process.pid, path.join(dataFolder, 'postgres'), 1, 5432, '', '127.0.0.1', '1 1', 'ready']
    writeFileSync(path.join(dataFolder, 'postgres/postmaster.pid'), `${lines.join('\n')}\n`)
    expect(await read((await start()).url)).toBe(42)
  })

  it('has a login that is no superuser, UTF-8, durable commits, and buffers by the machine’s memory, within bounds', async () => {
    const { url } = await start()
    const [row] = await ask(
      url,
      (sql) => sql`
        select rolsuper, rolbypassrls, current_setting('fsync') as fsync, current_setting('server_encoding') as encoding,
          current_setting('synchronous_commit') as commit, current_setting('listen_addresses') as address,
          (select setting::int / 128 from pg_settings where name = 'shared_buffers') as mib
        from pg_roles where rolname = current_user`,
    )
    expect([1, 4, 24, 512].map((gib) => bufferMib(gib * 2 ** 30))).toEqual([64, 128, 768, 1024])
    expect(row).toEqual({
      ...{ rolsuper: false, rolbypassrls: false, fsync: 'on', encoding: 'UTF8', commit: 'on', address: '127.0.0.1' },
      mib: bufferMib(Math.min(totalmem(), process.constrainedMemory() || totalmem())),
    })
    expect(new URL(url).password.length).toBeGreaterThanOrEqual(32)
    expect(statSync(path.join(dataFolder, 'postgres/keystride.json')).mode & 0o777).toBe(0o600)
    await expect(ask(url.replace('keystride:', 'postgres:'), (sql) => sql`select 1`)).rejects.toThrow('password')
  })

  it('is shared by two services on one folder, and ends with the first one', async () => {
    const first = await start()
    const second = await startEmbedded({ dataFolder })
    // The second is stopped before the first, because it would take the stop of the first for a crash and restart the server.
    stopping.unshift(second)
    expect(second.url).not.toBe('')
    expect(new URL(second.url).port).toBe(new URL(first.url).port)
    const other = await service()
    expect(other.url).toBe(first.url)
    other.child.kill('SIGKILL')
    await write(first.url)
    expect(await read(first.url)).toBe(42)
  })

  it('is started once by two concurrent services on an empty folder', async () => {
    const [one, two] = await Promise.all([service(), service()])
    expect(one.url).toBe(two.url)
  })

  it.each(['its service', 'server and service'])('starts after a kill of %s', async (killed) => {
    const { child, url } = await service()
    await write(url)
    if (killed !== 'its service') process.kill(serverPid() ?? 0, 'SIGKILL')
    child.kill('SIGKILL')
    expect(await read((await start()).url)).toBe(42)
  })

  it('is restarted on its port when killed, and stays down once stopped', async () => {
    const { url, stop } = await start()
    await write(url)
    const first = serverPid() ?? 0
    process.kill(first, 'SIGKILL')
    await until(async () => ![null, first].includes(serverPid()) && (await answers(url)))
    expect(await read(url)).toBe(42)
    process.kill(serverPid() ?? 0, 'SIGKILL')
    await stop()
    expect(await answers(url)).toBe(false)
  })

  it('is adopted, and then stopped, if it outlived its service', async () => {
    const { child, url } = await service()
    await write(url)
    const pid = serverPid() ?? 0
    child.kill('SIGSTOP') // a stopped service does nothing, and its server gets no signal of its death
    writeFileSync(path.join(dataFolder, 'postgres/keystride.owner'), '999999999\n')
    const adopted = await start()
    expect(adopted.url).toBe(url)
    expect(await read(adopted.url)).toBe(42)
    await adopted.stop()
    expect(isRunning(pid)).toBe(false)
  })

  it('starts after a kill during the making of the database', async () => {
    const child = service()
    child.catch(() => {})
    await until(async () => existsSync(dataFolder) && readdirSync(dataFolder).some((name) => name.includes('making')))
    services[0]?.kill('SIGKILL')
    await write((await start()).url)
    expect(readdirSync(dataFolder).filter((name) => name.includes('making'))).toEqual([])
  })
})
