import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { BAR, holds, MUTATED, scores } from './scores.js'

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
})

it('every mutated file exists', () => {
  expect(MUTATED.filter((file) => !existsSync(root + file))).toEqual([])
})
