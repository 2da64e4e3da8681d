import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { BAR, holds, MUTATED, page, rowsOfPage, scores, tableText } from './scores.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const mutants = (fileName: string, noticed: number, others: readonly string[]) => [
  ...Array.from({ length: noticed }, () => ({ fileName, status: 'Killed' })),
  ...others.map((status) => ({ fileName, status })),
]

describe('a mutation score', () => {
  it('counts mutants that fail a test or time out, and no others', () => {
    const others = ['Timeout', 'Survived', 'NoCoverage', 'RuntimeError', 'CompileError', 'Ignored', 'Pending']
    expect(scores(['a.ts', 'b.ts'], [...mutants('/x/a.ts', 2, others), ...mutants('b.ts', 1, [])])).toEqual([
      { file: 'a.ts', mutants: 9, noticed: 3, percent: 33.3 },
      { file: 'b.ts', mutants: 1, noticed: 1, percent: 100 },
    ])
  })

  it(`passes from ${BAR} % on, for all files`, () => {
    const at = (noticed: number) => scores(['a.ts'], mutants('a.ts', noticed, Array(1000 - noticed).fill('Survived')))
    expect(holds(at(800))).toBe(true)
    expect(holds(at(799))).toBe(false)
    expect(holds([...at(1000), ...at(799)])).toBe(false)
  })

  it('fails without mutants', () => {
    expect(holds([])).toBe(false)
    expect(holds(scores(['a.ts'], mutants('b.ts', 9, [])))).toBe(false)
  })

  it('is printed by file with its verdict', () => {
    const table = scores(['a.ts', 'b.ts'], [...mutants('a.ts', 4, ['Survived']), ...mutants('b.ts', 1, ['Survived'])])
    expect(tableText(table).split('\n')).toEqual([
      'holds   80.0 %     4 of    5  a.ts',
      'FAILS   50.0 %     1 of    2  b.ts',
    ])
    const text = page(table, { date: '2026-01-01', machine: 'one', seconds: 125.4 })
    expect(text).toContain('Counted on 2026-01-01 in 2 min 5 s; machine: one.')
    expect(rowsOfPage(text)).toEqual([
      ['a.ts', 80],
      ['b.ts', 50],
    ])
  })
})

describe('docs/mutation.md', () => {
  it('lists every mutated file, at or above the bar', () => {
    const rows = rowsOfPage(readFileSync(`${root}docs/mutation.md`, 'utf8'))
    expect(rows.map(([file]) => file)).toEqual(MUTATED)
    expect(MUTATED.filter((file) => !existsSync(root + file))).toEqual([])
    expect(rows.filter(([, percent]) => percent < BAR)).toEqual([])
  })
})
