import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { CapacityPlan } from '../../src/capacity/capacity.js'
import { PATH_VERSION } from '../../src/flows/attempt/path-version.js'
import { costsFile } from '../../src/scoring/artifacts.js'
import { keystrideHere } from '../harness/command.js'

const folder = mkdtempSync(join(tmpdir(), 'keystride-plan-'))
afterAll(() => rmSync(folder, { recursive: true }))

const plan = (...args: string[]) => keystrideHere({})('plan', ...args)
const costs = JSON.parse(readFileSync(costsFile(), 'utf8'))
const report = (name: string, content: unknown) => {
  writeFileSync(join(folder, name), JSON.stringify(content))
  return join(folder, name)
}

/** The plan for a peak and 2,000 people for each sign-in a second. */
async function planned(peak: number): Promise<Pick<CapacityPlan, 'lines' | 'limits'>> {
  const { stdout } = await plan('--people', String(2000 * peak), '--peak', String(peak), '--json')
  return JSON.parse(stdout)
}

const whole = (value: number) => Math.round(value).toLocaleString('en')
const short = (value: number) => (value < 1 ? value.toFixed(1) : Number(value.toPrecision(2)).toLocaleString('en'))

/** The row of docs/scaling.md for a peak. */
async function rowOf(peak: number): Promise<string> {
  const { lines } = await planned(peak)
  const of = (name: string) => lines.find((line) => line.name === name)?.value.typical ?? Number.NaN
  const connections = of('connections to PostgreSQL')
  const cells = [
    ...[whole(peak), whole(of('processes')), whole(of('masters of Redis'))],
    `${short(of('memory of Redis') / 1024)} GiB`,
    whole(Math.ceil(of('cores of PostgreSQL'))),
    `${whole(connections)}${connections > 97 ? ': PgBouncer' : ''}`,
    `${short(of('storage of PostgreSQL') / 1024)} TiB`,
  ]
  return `| ${cells.join(' | ')} |`
}

describe('keystride plan', () => {
  it('plans with the shipped costs, and shows their machine, the arithmetic and the first bottleneck', async () => {
    const { status, stdout, stderr } = await plan('--people', '100000', '--peak', '20', '--growth', '20%')
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`Costs of ${costs.measured_at}, measured on ${costs.machine}`)
    expect(stdout).toMatch(/^peak +24 .*20 x 1.2 \^ 1 years$/m)
    expect(stdout).toContain('Breaks first: ')
  })

  it('has shipped costs of the present path, and says that older ones must be measured again', async () => {
    const ago = (path_version: number) => report('older.json', { ...costs, path_version })
    const older = await plan('--people', '1000', '--peak', '2', '--costs', ago(PATH_VERSION - 1))
    expect(older.stdout).toContain('measure again')
    expect((await plan('--people', '1000', '--peak', '2')).stdout).not.toContain('measure again')
    expect(costs.path_version).toBe(PATH_VERSION)
  })

  it('reads the costs from a report of the bench, and prints JSON', async () => {
    const args = ['--people', '1000', '--peak', '2', '--costs', report('report.json', { costs }), '--json']
    expect(JSON.parse((await plan(...args)).stdout)).toMatchObject({ target: { people: 1000, peakPerS: 2 } })
  })

  it('has its figures for the shipped costs in docs/scaling.md', async () => {
    const page = readFileSync(fileURLToPath(new URL('../../docs/scaling.md', import.meta.url)), 'utf8')
    const rows: string[] = []
    for (const peak of [100, 1000, 5000, 30_000]) rows.push(await rowOf(peak))
    const [, found = ''] = /^\| sign-ins\/s at the peak .*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(page) ?? []
    expect(found.trim().split('\n')).toEqual(rows)
    const { limits } = await planned(100)
    const oneRedis = limits.find(({ part }) => part.startsWith('one Redis'))?.signInsPerS ?? 0
    expect(page.replaceAll('\n', ' ')).toContain(`one Redis at ${whole(oneRedis)} sign-ins/s`)
  })

  const target = ['--people', '10', '--peak', '2']
  it.each<[args: string[], status: number, message: string]>([
    [['--people', '10'], 2, "required option '--peak <n>' not specified"],
    [['--people', '-1', '--peak', '2'], 2, 'wanted a whole number from 1 up'],
    [[...target, '--growth', 'much'], 2, 'wanted a share such as 0.2 or 20%'],
    [[...target, '--p99', '0.001'], 1, 'cannot be promised'],
    [[...target, '--costs', join(folder, 'absent.json')], 1, 'no such file'],
    [
      [...target, '--costs', report('off.json', { ...costs, presses: 'many' })],
      1,
      'off.json: presses: must be a number',
    ],
    [
      [...target, '--costs', report('old.json', { ...costs, schema: 'keystride-costs/1' })],
      1,
      'old.json: schema: must be keystride-costs/2: measure the costs again by npm run bench -- path --costs FILE',
    ],
    [[...target, '--remembered', '0.5'], 2, "unknown option '--remembered'"],
  ])('reports what it cannot use: %j', async (args, status, message) => {
    expect(await plan(...args)).toMatchObject({ status, stderr: expect.stringContaining(message) })
  })
})
