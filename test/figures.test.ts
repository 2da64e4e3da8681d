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
  readonly accuracy: Readonly<Record<'P1' | 'P2', Row>>
  readonly out_of_fold: Readonly<Record<'P3' | 'P3_one_hand' | 'P4', Row>>
  readonly ratio: Row
}
const figures: FiguresFile = JSON.parse(read('docs/figures.json'))
const { ratio } = figures
const protocols = { ...figures.accuracy, ...figures.out_of_fold }
type Protocol = keyof typeof protocols

/** The given columns of a protocol's figures, as cells of a Markdown table. */
const cells = (protocol: Protocol, ...columns: readonly string[]) =>
  ` | ${columns.map((column) => protocols[protocol][column]).join(' | ')} |`
const EER = ['global_eer', 'per_user_eer'] as const
const FNMR = ['fnmr_at_1pct', 'fnmr_at_01pct'] as const

/** Documents, each with a text that it must contain. */
const PRINTED: readonly (readonly [file: string, text: string])[] = [
  ...(['P1', 'P2', 'P3', 'P3_one_hand', 'P4'] as const).flatMap((protocol) => [
    ['README.md', cells(protocol, ...EER, 'fnmr_at_1pct', 'people')] as const,
    ['docs/accuracy.md', cells(protocol, ...EER, ...FNMR, 'people')] as const,
    ['docs/data-protection.md', cells(protocol, 'global_eer', ...FNMR, 'people')] as const,
    ['model/keystride-3.md', cells(protocol, ...EER, ...FNMR, 'people')] as const,
  ]),
  ['README.md', `${ratio.verify_64_per_s}\ndurable verifies a second over 64 connections`],
  ['README.md', `${ratio.verify_over_read_only_64_percent} % of what the same machine`],
  ['docs/architecture.md', `the scan takes ${ratio.scan_over_parse} of the time of JSON.parse and zod`],
  ['docs/benchmarks.md', `sessions in Redis, 64 connections: ${ratio.verify_64_per_s} |`],
  [
    'docs/benchmarks.md',
    `checks the key and answers: ${ratio.read_only_64_per_s} | ${ratio.verify_over_read_only_64} |`,
  ],
  ['docs/benchmarks.md', `at 256 connections: ${ratio.verify_256_per_s} |`],
  ['docs/benchmarks.md', `${ratio.read_only_256_per_s} | ${ratio.verify_over_read_only_256} |`],
  ['docs/benchmarks.md', `${ratio.peer_64_per_s} | ${ratio.verify_over_peer} |`],
  ['docs/benchmarks.md', `${ratio.spared_peer_64_per_s} | ${ratio.verify_over_spared_peer} |`],
  ['docs/benchmarks.md', `| ${ratio.scan_over_parse} | 0.25 at most |`],
  ['docs/benchmarks.md', `| ${ratio.two_over_one} |`],
  ['docs/benchmarks.md', `| ${ratio.embedded_over_redis} |`],
  ['docs/benchmarks.md', `| ${ratio.p99_over_peer_at_its_highest_rate} |`],
  ['docs/benchmarks.md', `| ${ratio.idle_cpu_percent} | 1 at most |`],
  ['docs/benchmarks.md', `${ratio.date}; lowest and highest\nround`],
]

describe('docs/figures.json', () => {
  it.each(PRINTED)('has the figures that %s prints: %j', (file, text) => {
    expect(text).not.toContain('undefined')
    expect(read(file)).toContain(text)
  })

  it('has every error rate of the README, of the page on data protection and of the model card', () => {
    const known = Object.values(protocols).flatMap((row) => Object.values(row))
    for (const file of ['README.md', 'docs/data-protection.md', 'model/keystride-3.md']) {
      const rates = read(file).match(/\d+\.\d+ \[\d+\.\d+, \d+\.\d+\]/g) ?? []
      expect(rates.length).toBeGreaterThanOrEqual(15)
      expect(rates.filter((rate) => !known.includes(rate))).toEqual([])
    }
  })

  it('has every rate that the README prints', () => {
    const rates = read('README.md').match(/[\d,.]+(?=(\/s| %|\s+(durable )?(verifies|sign-ins) a second)\b)/g) ?? []
    expect(rates).toContain(ratio.verify_64_per_s)
    const known = [...Object.values(ratio), '95', '1']
    expect(rates.filter((rate) => !known.includes(rate))).toEqual([])
  })
})

describe('npm run figures', () => {
  it('replaces the figures that are in the given reports and keeps the others', () => {
    const folder = mkdtempSync(join(tmpdir(), 'keystride-figures-'))
    const file = (name: string) => join(folder, name)
    const spread = (median: number) => ({ median, min: median / 2, max: 2 * median })
    const P = {
      ...{ global_eer: 0.0322, per_user_eer: 0.0137, fnmr_at_1pct: 0.086, fnmr_at_01pct: 0.358, people: 1329 },
      intervals: {
        global_eer: [0.027, 0.039],
        per_user_eer: [0.008, 0.021],
        fnmr_at_1pct: [0, 1],
        fnmr_at_01pct: [0, 1],
      },
    }
    const report = {
      at: '2026-12-01T10:00:00.000Z',
      machine: { cores: 8, cpu: 'A processor', memory_gib: 32, node: 'v20.20.2' },
      spread: { verify_over_read_only_64: spread(0.05), two_over_one: spread(1.5), verify_over_peer: spread(5) },
      turns: { verify_64: { per_s: spread(4321.6) } },
      scan: { ratio: 0.171 },
      idle_cpu_percent: null,
    }
    try {
      copyFileSync(join(root, 'docs/figures.json'), file('out.json'))
      writeFileSync(file('a.json'), JSON.stringify({ P1: P, P2: { ...P, people: 5 } }))
      writeFileSync(file('b.json'), JSON.stringify(report))
      execFileSync(process.execPath, [
        join(root, 'bin/figures.mjs'),
        '--out',
        file('out.json'),
        file('a.json'),
        file('b.json'),
      ])
      const found: FiguresFile = JSON.parse(readFileSync(file('out.json'), 'utf8'))
      expect(found.out_of_fold).toEqual(figures.out_of_fold)
      expect(found.accuracy.P1).toEqual({
        global_eer: '3.22 [2.7, 3.9]',
        per_user_eer: '1.37 [0.8, 2.1]',
        fnmr_at_1pct: '8.6 [0.0, 100.0]',
        fnmr_at_01pct: '35.8 [0.0, 100.0]',
        people: '1,329',
      })
      expect(found.ratio).toEqual({
        ...ratio,
        date: '2026-12-01',
        machine: '8 cores of A processor, 32 GiB, Node 20.20.2',
        verify_over_read_only_64: '0.050 (0.025 to 0.10)',
        verify_over_read_only_64_percent: '5.0',
        two_over_one: '1.50 (0.75 to 3.0)',
        verify_over_peer: '5.0 (2.5 to 10.0)',
        verify_64_per_s: '4,322',
        scan_over_parse: '0.17',
        idle_cpu_percent: null,
      })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
