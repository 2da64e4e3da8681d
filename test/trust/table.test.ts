import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Figure } from './figure.js'
import { optionsOf } from './options.js'
import { GROUPS, ROWS, type Row } from './rows.js'
import { page, results, rowsOfPage, rowsShownBy, tableText } from './table.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const numbered = (letter: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${letter}${String(i + 1).padStart(2, '0')}`)
const sources = readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => ({ name, source: readFileSync(`${root}test/${name}`, 'utf8') }))

describe('the table of trust', () => {
  it('has every attack and every fault once, in order', () => {
    expect(ROWS.map(({ id }) => id)).toEqual([...numbered('T', 34), ...numbered('F', 24)])
  })

  it('has every row in one group of the summary', () => {
    expect(GROUPS.flatMap(([, ids]) => ids).sort()).toEqual(ROWS.map(({ id }) => id).sort())
  })

  it('has a test for every row, or the reason why not', () => {
    const shown = new Set(sources.flatMap(({ source }) => rowsShownBy(source)))
    expect(shown.size).toBeGreaterThan(0)
    expect(ROWS.filter(({ id, notShown }) => !shown.has(id) && notShown === undefined).map(({ id }) => id)).toEqual([])
  })

  it('finds every call of figure by the row id in the call', () => {
    for (const { name, source } of sources.filter(({ name }) => name !== 'trust/table.test.ts')) {
      const calls = source.match(/(?<![\w.])figure\(/g)?.length ?? 0
      expect([name, source.match(/(?<![\w.])figure\(\s*'[TF]\d\d'/g)?.length ?? 0]).toEqual([name, calls])
    }
    const said = (...ids: string[]) => ids.map((id) => `figure(\n  '${id}', found)`).join('; ')
    expect(rowsShownBy(said('T01', 'F02', 'T01'))).toEqual(['T01', 'F02'])
  })

  it('has the same rows as docs/trust.md', () => {
    expect(rowsOfPage(readFileSync(`${root}docs/trust.md`, 'utf8'))).toEqual(ROWS.map(({ id, what }) => [id, what]))
  })
})

describe('a result', () => {
  const rows: Row[] = [
    { id: 'T01', what: 'one', must: 'hold' },
    { id: 'T02', what: 'two | three', must: 'hold', notShown: 'nobody can.' },
  ]
  const one: Figure = { row: 'T01', figure: '0 of 9', bar: '0', pass: true }
  const files = new Map([['T01', ['a', 'b']]] as const)
  const of = (...shown: Parameters<typeof results>[2]) => results(rows, files, shown, 'short')

  it('joins the figures of all files, each figure once', () => {
    const [first] = of(
      { file: 'a', figures: [one, one, { ...one, figure: '3 of 3' }], passed: true },
      { file: 'b', figures: [one], passed: true },
    )
    expect(first).toMatchObject({ figure: '0 of 9; 3 of 3', bar: '0', pass: true })
  })

  it('fails on a failed figure, a file without a figure, and a file with a failed test', () => {
    const good = { file: 'b', figures: [one], passed: true }
    expect(of({ file: 'a', figures: [{ ...one, pass: false }], passed: true }, good)[0]?.pass).toBe(false)
    expect(of({ file: 'a', figures: [], passed: true }, good)[0]).toMatchObject({
      pass: false,
      figure: '0 of 9; NO FIGURE from a',
    })
    expect(of(good)[0]?.pass).toBe(false)
    expect(of({ file: 'a', figures: [one], passed: false }, good)[0]?.pass).toBe(false)
  })

  it('does not pass without a test, and says why', () => {
    expect(of()[1]).toMatchObject({ figure: 'not shown: nobody can.', pass: false, files: [] })
    expect(tableText(of())).toContain('T02  not shown')
  })

  it('of the long form alone is not required of the short form', () => {
    const long = [{ ...rows[0], longOnly: true }] as Row[]
    expect(results(long, files, [], 'short')[0]).toMatchObject({ pass: false, files: [] })
    expect(results(long, files, [], 'long')[0]).toMatchObject({ pass: false, files: ['a', 'b'] })
  })

  it('is read back from the written page', () => {
    const text = page(rows, of(), { date: '2026-01-02', machine: 'a machine', form: 'long' }, '')
    expect(rowsOfPage(text)).toEqual([
      ['T01', 'one'],
      ['T02', 'two \\| three'],
    ])
    expect(text).toContain('| 2026-01-02, long |')
    expect(text).toContain('Machine: a machine.')
  })

  it('holds in part on the page if no test shows a part of it', () => {
    const figure: Figure = { ...one, row: 'T02' }
    const table = results(
      rows,
      new Map([['T02', ['a']]] as const),
      [{ file: 'a', figures: [figure], passed: true }],
      'short',
    )
    const text = page(rows, table, { date: '2026-01-02', machine: 'a machine', form: 'short' }, '')
    expect(text).toContain('| 0 of 9. Not shown: nobody can. | holds in part |')
    expect(text).toContain('0 of 2 rows hold, 1 hold in part, 0 miss their bar')
    expect(text).toMatch(/API keys.* \| 0 of 6 hold; holds in part: T02; not shown: T01 \|/)
  })

  it('stays on the page if a run counts only other rows', () => {
    const run = { date: '2026-01-02', machine: 'a machine', form: 'long' } as const
    const first = of({ file: 'a', figures: [one], passed: true }, { file: 'b', figures: [one], passed: true })
    const before = page(rows, first, run, '')
    const after = page(rows, [], { ...run, date: '2026-03-04' }, before)
    expect(after).toBe(before)
    expect(page(rows, first.slice(0, 1), { ...run, date: '2026-03-04' }, before)).toContain('| 2026-03-04, long |')
  })
})

describe('the command line', () => {
  it('accepts its options', () => {
    expect(optionsOf([], ROWS)).toEqual({ long: false, json: null, write: false, rows: [] })
    expect(optionsOf(['--long', '--json', 'f', '--rows', 'T01,F24'], ROWS)).toEqual({
      long: true,
      json: 'f',
      write: false,
      rows: ['T01', 'F24'],
    })
    expect(optionsOf(['--rows', 'T01', '--help'], ROWS)).toBe('help')
  })

  it.each([
    [['--json'], '--json needs a value'],
    [['--rows', '--long'], '--rows needs a value'],
    [['--rows', 'T35'], 'there is no row "T35"'],
    [['--rows', 'T01,'], 'there is no row ""'],
    [['--lang'], 'unknown option "--lang"'],
  ])('refuses %j', (words, message) => {
    expect(() => optionsOf(words, ROWS)).toThrow(message)
  })
})
