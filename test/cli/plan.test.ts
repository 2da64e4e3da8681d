import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { costsFile } from '../../src/scoring/artifacts.js'
import { keystrideWith } from './command.js'

const keystride = keystrideWith({})
const plan = (...args: string[]) => keystride('plan', ...args)
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keystride-plan-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('keystride plan', () => {
  it('plans with the shipped costs, and shows their machine, the arithmetic and the first bottleneck', async () => {
    const { status, stdout, stderr } = await plan('--people', '100000', '--peak', '20', '--growth', '20%')
    expect([status, stderr]).toEqual([0, ''])
    const { machine, measured_at } = JSON.parse(readFileSync(costsFile(), 'utf8'))
    expect(stdout).toContain(`Costs of ${measured_at}, measured on ${machine}`)
    expect(stdout).toMatch(/^peak +24 .*20 x 1.2 \^ 1 years$/m)
    expect(stdout).toContain('Breaks first: ')
  })

  it('reads the costs from a report of the bench, and prints JSON', async () => {
    const file = join(folder, 'report.json')
    writeFileSync(file, JSON.stringify({ costs: JSON.parse(readFileSync(costsFile(), 'utf8')) }))
    const { stdout } = await plan('--people', '1000', '--peak', '2', '--costs', file, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ target: { people: 1000, peakPerS: 2 }, limits: expect.any(Array) })
  })

  it('reports options and files that it cannot use', async () => {
    const off = join(folder, 'off.json')
    writeFileSync(off, JSON.stringify({ ...JSON.parse(readFileSync(costsFile(), 'utf8')), presses: 'many' }))
    const failed = async (...args: string[]) => {
      const { status, stderr } = await plan(...args)
      // 2 if the parser refuses, 1 if the plan does.
      expect([1, 2]).toContain(status)
      return stderr
    }
    const target = ['--people', '10', '--peak', '2']
    expect(await failed('--people', '10')).toContain("required option '--peak <n>' not specified")
    expect(await failed('--people', '-1', '--peak', '2')).toContain('wanted a whole number from 1 up')
    expect(await failed(...target, '--growth', 'much')).toContain('wanted a share such as 0.2 or 20%')
    expect(await failed(...target, '--p99', '0.001')).toContain('cannot be promised')
    expect(await failed(...target, '--costs', join(folder, 'absent.json'))).toContain('no such file')
    expect(await failed(...target, '--costs', off)).toMatch(/off\.json: presses: must be a number$/m)
  })
})
