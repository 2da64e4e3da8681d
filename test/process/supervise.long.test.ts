import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { superviseFronts } from '../../src/process/supervise.js'
import { until } from '../harness/patience.js'

const file = fileURLToPath(new URL('front-file.mjs', import.meta.url))
const dying = fileURLToPath(new URL('front-file-dies.mjs', import.meta.url))
const seeing = fileURLToPath(new URL('front-file-sees.mjs', import.meta.url))
const erasing = fileURLToPath(new URL('front-file-erases.mjs', import.meta.url))
const { execPath } = process
/** Programs that cannot be spawned. The error of the first comes as an event, that of the second is thrown by `fork`. */
const FAILING = { event: '/absent/node', throw: '/absent\0/node' } as const

let stop = async () => {}
afterEach(async () => {
  process.execPath = execPath
  await stop()
})

/** Two fronts that run `run` with `args`; `lines` are the log. */
async function supervised(run = file, args: string[] = []) {
  const lines: { message: string; facts: Record<string, unknown> }[] = []
  const { metricsText } = await superviseFronts({
    file: run,
    args,
    processes: 2,
    host: '127.0.0.1',
    port: 0,
    log: (message, facts) => lines.push({ message, facts }),
    onStop: (one) => {
      stop = one
    },
  })
  /** Processes that serve, that should, and restarts, as `/metrics` has them. */
  const counts = async () =>
    [...(await metricsText()).matchAll(/^keystride_process\w* (\d+)$/gm)].map(([, n]) => Number(n))
  return { lines, counts }
}

/** The fronts of this process. */
const pids = (): number[] =>
  execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, ppid, ...args]) => Number(ppid) === process.pid && args.includes(file))
    .map(([pid]) => Number(pid))

describe('a supervisor', () => {
  it.each(['event', 'throw'] as const)(
    'restarts a front once the system can fork again (error by %s)',
    async (how) => {
      const { lines, counts } = await supervised()
      expect(await counts()).toEqual([2, 2, 0])
      const [first = 0, other = 0] = pids()
      process.execPath = FAILING[how]
      process.kill(first, 'SIGKILL')
      const failed = () => lines.filter(({ message }) => message.includes('could not be started: trying again'))
      await until(async () => failed().length > 1)
      expect(failed()[0]?.facts).toEqual({
        front: expect.any(Number),
        why: expect.stringContaining('absent'),
        waitMs: 500,
      })
      expect(pids()).toEqual([other])
      // The next failed start may come between the two counts.
      await until(async () => {
        const n = failed().length
        return (await counts()).join() === [1, 2, n].join() && failed().length === n
      })
      process.execPath = execPath
      await until(async () => pids().length === 2)
      expect(pids()).toContain(other)
    },
    90_000,
  )

  // Regression: such a front was lost for good, and the supervisor served with one front too few.
  it('restarts a front that served and exits while the other one still starts', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keystride-fronts-'))
    const starts = join(folder, 'starts')
    writeFileSync(starts, '')
    const { lines, counts } = await supervised(dying, [starts])
    expect(lines).toMatchObject([{ facts: { front: 0, status: 1, waitMs: 100 } }])
    await until(async () => (await counts())[0] === 2)
    expect(await counts()).toEqual([2, 2, 1])
    rmSync(folder, { recursive: true })
  }, 60_000)

  // Regression: each deletion added a listener to every front, and Node printed a warning of a leak.
  it('passes on many deletions at once by one listener for each front', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keystride-fronts-'))
    const heard = join(folder, 'heard')
    writeFileSync(heard, '')
    const warnings: string[] = []
    const note = (warning: Error) => warnings.push(warning.name)
    process.on('warning', note)
    const { counts } = await supervised(erasing, [heard])
    expect(await counts()).toEqual([2, 2, 0])
    const times = (kind: string) =>
      readFileSync(heard, 'utf8')
        .split('\n')
        .filter((line) => line === kind).length
    await until(async () => times('all-forgot') === 16)
    expect(times('forget-person')).toBe(16)
    process.off('warning', note)
    expect(warnings).toEqual([])
    rmSync(folder, { recursive: true })
  }, 60_000)

  it('tells the other fronts which organizations one has seen', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keystride-fronts-'))
    const heard = join(folder, 'heard')
    writeFileSync(heard, '')
    const { counts } = await supervised(seeing, [heard])
    await counts()
    await until(async () => readFileSync(heard, 'utf8') !== '')
    expect(readFileSync(heard, 'utf8')).toBe('front 1: one\n')
    rmSync(folder, { recursive: true })
  }, 60_000)

  it.each(['event', 'throw'] as const)('ends its start if the system cannot fork (error by %s)', async (how) => {
    process.execPath = FAILING[how]
    await expect(supervised()).rejects.toThrow(/^cannot start a process of the service: .*absent/)
  })
})
