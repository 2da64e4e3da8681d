import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
type Row = Readonly<Record<string, string>>
interface FiguresFile {
  /** Rows by protocol, with the date and the command. */
  readonly accuracy: Readonly<Record<string, Row>>
  readonly out_of_fold: Readonly<Record<string, Row>>
  readonly ratio: Row
}
const figures: FiguresFile = JSON.parse(read('docs/figures.json'))
const { ratio, accuracy, out_of_fold } = figures
const protocols: Readonly<Record<string, Row>> = { ...accuracy, ...out_of_fold }

const MAIN = ['P1', 'P2', 'P3', 'P3_one_hand', 'P4', 'P5', 'P6_gradtype']
const ALL = [...MAIN, 'P5_late', 'P6_l2', 'P7', 'P8', 'P8_later']

describe('docs/figures.json', () => {
  it.each([
    ['README.md', MAIN, ['global_eer', 'per_user_eer', 'fnmr_at_1pct']],
    ['docs/accuracy.md', ALL, ['global_eer', 'per_user_eer', 'fnmr_at_1pct', 'fnmr_at_01pct']],
    ['docs/data-protection.md', MAIN, ['global_eer', 'fnmr_at_1pct', 'fnmr_at_01pct']],
    ['model/keystride-5.md', ALL, ['global_eer', 'per_user_eer', 'fnmr_at_1pct', 'fnmr_at_01pct']],
  ])('has the error rates in the table of %s, a row for each protocol', (file, names, columns) => {
    for (const name of names) {
      const row = protocols[name] ?? {}
      expect(read(file), name).toContain(` | ${[...columns, 'people'].map((column) => row[column]).join(' | ')} |`)
    }
  })

  it('has the rates of README and docs/benchmarks.md', () => {
    const rates = read('README.md').match(/[\d,.]+(?=(\/s| %|\s+(durable )?(verifies|sign-ins) a second)\b)/g) ?? []
    expect(rates).toEqual(expect.arrayContaining([ratio.signin_64_per_s, ratio.verify_64_per_s]))
    expect(rates.filter((rate) => ![...Object.values(ratio), '95', '1'].includes(rate))).toEqual([])
    const benchmarks = read('docs/benchmarks.md')
    for (const [name, found] of Object.entries(ratio).filter(([name]) => name.startsWith('verify_over')))
      if (!name.endsWith('percent')) expect(benchmarks, name).toContain(`| ${found} |`)
  })
})

it('npm run figures replaces the figures that are in the given reports, and keeps the others', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-figures-'))
  const file = (name: string) => join(folder, name)
  const spread = (median: number) => ({ median, min: median / 2, max: 2 * median })
  const P = {
    ...{ global_eer: 0.0322, per_user_eer: 0.0137, fnmr_at_1pct: 0.086, fnmr_at_01pct: 0.358, people: 1329 },
    intervals: { global_eer: [0.027, 0.039], per_user_eer: [0, 1], fnmr_at_1pct: [0, 1], fnmr_at_01pct: [0, 1] },
  }
  const report = {
    at: '2026-12-01T10:00:00.000Z',
    machine: { cores: 8, cpu: 'A processor', memory_gib: 32, node: 'v20.20.2' },
    spread: { verify_over_read_only_64: spread(0.05), verify_over_peer: spread(5) },
    turns: { verify_64: { per_s: spread(4321.6) } },
    scan: { ratio: 0.171 },
    idle_cpu_percent: null,
  }
  copyFileSync(join(root, 'docs/figures.json'), file('out.json'))
  writeFileSync(file('a.json'), JSON.stringify({ P1: P, P2: P }))
  writeFileSync(file('b.json'), JSON.stringify(report))
  const { intervals, ...shares } = P
  writeFileSync(
    file('c.out'),
    `P1, out of fold: {}\nP4, out of fold: ${JSON.stringify({ figures: shares, intervals })}\nmodel: 1 bytes\n`,
  )
  const args = ['--out', file('out.json'), file('a.json'), file('b.json'), file('c.out')]
  execFileSync(process.execPath, [join(root, 'bin/figures.mjs'), ...args])
  const found: FiguresFile = JSON.parse(readFileSync(file('out.json'), 'utf8'))
  const { P4, date } = found.out_of_fold
  expect(found.out_of_fold).toEqual({ ...out_of_fold, P4, date })
  expect(P4).toMatchObject({ global_eer: '3.22 [2.7, 3.9]', people: '1,329' })
  expect(found.accuracy.P1).toMatchObject({ global_eer: '3.22 [2.7, 3.9]', people: '1,329' })
  expect(found.ratio).toEqual({
    ...ratio,
    date: '2026-12-01',
    machine: '8 cores of A processor, 32 GiB, Node 20.20.2',
    verify_over_read_only_64: '0.050 (0.025 to 0.10)',
    verify_over_read_only_64_percent: '5.0',
    verify_over_peer: '5.0 (2.5 to 10.0)',
    verify_64_per_s: '4,322',
    scan_over_parse: '0.17',
    idle_cpu_percent: null,
  })
  rmSync(folder, { recursive: true })
})
