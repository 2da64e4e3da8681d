import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { redisIsHere } from '../harness/flushed-redis.js'
import { until } from '../harness/patience.js'
import { startChild } from '../servers/child.js'

const root = new URL('../..', import.meta.url).pathname
const CONFIG = 'test/interrupted/vitest.config.ts'

/**
 * The programs of a run, by name: those of the session that its main process began, and the server of the suite, which has a
 * session of its own and the run's folder in its command line. A backend of PostgreSQL ends with its server.
 */
function programsOf(leader: number): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [, name = '', rest = ''] = /\((.*)\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? []
        const [state, , , session] = rest.split(' ')
        const isOfSuite = readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(`keystride-test-${leader}-`)
        return (Number(session) === leader || isOfSuite) && state !== 'Z' ? [name] : []
      } catch {
        return [] // The process has ended.
      }
    })
}

/** A run of the suite, in a process group of its own, whose only test never ends. Resolves when its servers run. */
async function endlessRun() {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-interrupted-'))
  const file = join(folder, 'worker')
  const { TEST_DATABASE_URL: _, REDIS_URL: __, VITEST: ___, ...env } = process.env
  const run = ['node_modules/vitest/vitest.mjs', 'run', '--config', CONFIG]
  const main = startChild('setsid', [process.execPath, ...run], {
    cwd: root,
    env: { ...env, INTERRUPTED_FILE: file },
    stdio: 'ignore',
  })
  await until(() => existsSync(file) || main.exitCode !== null, 'start')
  return {
    leader: main.pid ?? 0,
    worker: Number(readFileSync(file, 'utf8')),
    remove: () => rmSync(folder, { recursive: true }),
  }
}
type Run = Awaited<ReturnType<typeof endlessRun>>

const WAYS: readonly (readonly [name: string, interrupt: (run: Run) => void])[] = [
  ['Ctrl-C', ({ leader }) => process.kill(-leader, 'SIGINT')],
  ['SIGTERM', ({ leader }) => process.kill(leader, 'SIGTERM')],
  ['a killed main process', ({ leader }) => process.kill(leader, 'SIGKILL')],
  ['a killed worker', ({ worker }) => process.kill(worker, 'SIGKILL')],
]

const hasServers = process.platform === 'linux' && redisIsHere()

describe.skipIf(!hasServers)('a run of tests that is interrupted', () => {
  it.each(WAYS)('leaves no process behind: %s', async (_, interrupt) => {
    const run = await endlessRun()
    onTestFinished(() => {
      if (programsOf(run.leader).length > 0) process.kill(-run.leader, 'SIGKILL')
    })
    let servers: string[] = []
    await until(() => {
      servers = programsOf(run.leader).filter((name) => ['redis-server', 'postgres'].includes(name))
      // A backend that was just forked looks like one more server.
      return servers.length <= 4
    })
    expect(servers.sort()).toEqual(['postgres', 'postgres', 'redis-server', 'redis-server'])
    interrupt(run)
    await until(() => programsOf(run.leader).length === 0)
    run.remove()
  })
})
