import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { BAR, holds, MUTATED, page, rowsOfPage, scores } from './scores.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const mutants = (fileName: string, noticed: number, others: readonly string[]) => [
  ...Array.from({ length: noticed }, () => ({ fileName, status: 'Killed' })),
  ...others.map((status) => ({ fileName, status })),
]

it(`a mutation score counts mutants that fail a test or time out, and passes from ${BAR} % on, for all files`, () => {
  const others = ['Timeout', 'Survived', 'NoCoverage', 'RuntimeError', 'CompileError', 'Ignored', 'Pending']
  const table = scores(['a.ts', 'b.ts'], [...mutants('/x/a.ts', 2, others), ...mutants('b.ts', 1, [])])
  expect(table).toEqual([
    { file: 'a.ts', mutants: 9, noticed: 3, percent: 33.3 },
    { file: 'b.ts', mutants: 1, noticed: 1, percent: 100 },
  ])
  const at = (noticed: number) => scores(['a.ts'], mutants('a.ts', noticed, Array(1000 - noticed).fill('Survived')))
  expect([at(800), at(799), [...at(1000), ...at(799)], []].map(holds)).toEqual([true, false, false, false])
  expect(rowsOfPage(page(table, { date: '2026-01-01', machine: 'one', seconds: 125.4 }))).toEqual([
    ['a.ts', 33.3],
    ['b.ts', 100],
  ])
})

it('docs/mutation.md lists every mutated file, at or above the bar', () => {
  const rows = rowsOfPage(readFileSync(`${root}docs/mutation.md`, 'utf8'))
  expect(rows.map(([file]) => file)).toEqual(MUTATED)
  expect(MUTATED.filter((file) => !existsSync(root + file))).toEqual([])
  expect(rows.filter(([, percent]) => percent < BAR)).toEqual([])
})
