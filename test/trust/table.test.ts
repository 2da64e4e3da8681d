import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Figure, RowId } from '../harness/figure.js'
import { page, results, rowsOf, rowsShownBy } from './table.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const written = readFileSync(`${root}docs/trust.md`, 'utf8')
const numbered = (letter: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${letter}${String(i + 1).padStart(2, '0')}`)
const sources = readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && name !== 'trust/table.test.ts')
  .map((name) => ({ file: `test/${name}`, source: readFileSync(`${root}test/${name}`, 'utf8') }))

describe('docs/trust.md', () => {
  it('has every attack and every fault once, in order', () => {
    expect(rowsOf(written).map(({ id }) => id)).toEqual([...numbered('T', 34), ...numbered('F', 24)])
  })

  it('names the tests of each row, and has a test for every row or the reason why not', () => {
    for (const { id, tests, notShown } of rowsOf(written)) {
      const shown = sources.filter(({ source }) => rowsShownBy(source).includes(id)).map(({ file }) => file)
      expect([id, ...[...tests.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, file]) => file).sort()]).toEqual([
        id,
        ...shown.sort(),
      ])
      expect([id, shown.length > 0 || notShown !== null]).toEqual([id, true])
    }
  })

  it('is unchanged by a run that counts no row', () => {
    const [, machine = ''] = /Machine of the last run: (.*)\.$/m.exec(written) ?? []
    expect(page(written, [], { date: '2026-01-02', machine, form: 'long' })).toBe(written)
  })
})

it('every call of figure has the row id in the call', () => {
  for (const { file, source } of sources) {
    const calls = source.match(/(?<![\w.])figure\(/g)?.length ?? 0
    expect([file, source.match(/(?<![\w.])figure\(\s*'[TF]\d\d'/g)?.length ?? 0]).toEqual([file, calls])
  }
})

describe('a row', () => {
  const one: Figure = { row: 'T01', figure: '0 of 9 lost', bar: '0', pass: true }
  const good = { file: 'b', figures: [one], passed: true }
  const of = (...shown: Parameters<typeof results>[2]) =>
    results(['T01', 'T02'], new Map<RowId, string[]>([['T01', ['a', 'b']]]), shown, 'short')

  it('has the figures of all its files, with the counts of equal figures added', () => {
    const more = { ...one, figure: '3 of 3 kept; 1 of 1,991 lost' }
    const [first, second] = of({ file: 'a', figures: [one, more], passed: true }, good)
    expect(first).toMatchObject({ figure: '1 of 2,009 lost; 3 of 3 kept', bar: '0', pass: true })
    expect(second).toMatchObject({ pass: false, files: [] })
  })

  it('fails on a failed figure, a file without a figure, and a file with a failed test', () => {
    expect(of({ file: 'a', figures: [{ ...one, pass: false }], passed: true }, good)[0]?.pass).toBe(false)
    expect(of({ file: 'a', figures: [], passed: true }, good)[0]).toMatchObject({
      pass: false,
      figure: '0 of 9 lost; NO FIGURE from a',
    })
    expect(of(good)[0]?.pass).toBe(false)
    expect(of({ file: 'a', figures: [one], passed: false }, good)[0]?.pass).toBe(false)
  })

  it('is written with its verdict: in part if no test shows a part of it', () => {
    const run = { date: '2026-01-02', machine: 'a machine', form: 'long' } as const
    const table = of({ file: 'a', figures: [one], passed: true }, good)
    const before = '| T01 | a \\| b | none | FAILS | w, then |\n| T02 | c | seen | holds | x, y, then |'
    const after = page(before, table.slice(0, 1), run)
    expect(after).toContain('| T01 | a \\| b | 0 of 18 lost | holds | [a](../a), [b](../b), 2026-01-02\\* |')
    expect(after).toContain('| T02 | c | seen | holds | x, y, then |')
    const inPart = page(before.replace('seen', 'seen. Not shown: d.'), [{ ...one, row: 'T02', files: ['e'] }], run)
    expect(inPart).toContain('| 0 of 9 lost. Not shown: d. | holds in part | [e](../e), 2026-01-02\\* |')
    expect(inPart).toContain('0 of 2 rows hold, 1 hold in part, 1 miss')
  })
})
