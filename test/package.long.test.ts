import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../src/storage/postgres/embedded/embedded-running.js'
import { until } from './harness/patience.js'
import { startChild } from './servers/child.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Processes whose command line contains the folder. */
const runningIn = (folder: string): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder)
      } catch {
        return false
      }
    })

describe.skipIf(!existsSync('/proc/self/cmdline'))('the package, installed in an empty folder', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'keystride-package-'))
    const npm = (cwd: string, ...args: string[]) => execFileSync('npm', args, { cwd, encoding: 'utf8' })
    const [packed] = JSON.parse(npm(root, 'pack', '--json', '--pack-destination', folder))
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
    const quick = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
    npm(folder, 'install', ...quick, join(folder, packed.filename))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each(['1', '2'])(
    'serves by `npx keystride serve` with PROCESSES=%s, and leaves nothing running',
    async (processes) => {
      const { PATH = '', HOME = '' } = process.env
      const port = String(await freePort())
      const env = { PATH, HOME, PORT: port, PROCESSES: processes, LOG_FORMAT: 'text' }
      const service = startChild('npx', ['keystride', 'serve'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
      const gone = once(service, 'close')
      let output = ''
      for (const stream of [service.stdout, service.stderr]) stream.on('data', (chunk) => (output += chunk))
      try {
        await until(() => output.includes('Next: begin a sign-in') || service.exitCode !== null, 'start')
        expect(output).toContain('More: npx keystride --help')
        const status = await fetch(`http://127.0.0.1:${port}/core/status`)
        expect(await status.json()).toMatchObject({ success: true, status: 'OK' })
        expect(runningIn(folder).length).toBeGreaterThan(Number(processes))
      } finally {
        service.kill('SIGTERM')
        // The pipes close when the last process that holds them ends.
        await gone
      }
      expect(runningIn(folder), output).toEqual([])
    },
  )
})
