import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { wireRefusals } from '../src/http/refusals.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const document = readFileSync(join(root, 'docs/interface-tests.md'), 'utf8')

/** Rows whose last cell names tests in the form `file`: title, separated by semicolons. */
const rows = document
  .split('\n')
  .filter((line) => line.startsWith('|') && line.includes('.test.ts`'))
  .map((line) =>
    line
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim()),
  )

const named = rows.flatMap((cells) =>
  (cells.at(-1) ?? '').split(/; (?=`)/).map((one) => {
    const [, file = '', title = ''] = /^`(.+?)`: (.+)$/.exec(one) ?? []
    return { row: cells[0] ?? '', file, title: title.replaceAll('\\|', '|') }
  }),
)

/** Whether a source file contains a title, in any kind of quotes. */
const holds = (source: string, title: string) => source.includes(title) || source.includes(title.replaceAll("'", "\\'"))

describe('docs/interface-tests.md', () => {
  it('names tests that exist', () => {
    expect(named.length).toBeGreaterThan(60)
    const missing = named.filter(({ file, title }) => {
      const path = join(root, file)
      return !existsSync(path) || !holds(readFileSync(path, 'utf8'), title)
    })
    expect(missing).toEqual([])
  })

  it('has every refusal of the service', () => {
    const kinds = Object.keys(wireRefusals).filter((kind) => !document.includes(`\`${kind}\``))
    expect(kinds).toEqual([])
  })
})
