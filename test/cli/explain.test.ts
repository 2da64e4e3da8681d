import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { suggestWords } from '../../src/domain/typing-words.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { openScorer } from '../../src/scoring/scorer.js'
import { recompute, type Trace } from '../../src/scoring/trace.js'
import { person } from '../../src/typist/made-up-person.js'
import { keystrideWith } from './command.js'

const keystride = keystrideWith({})
const explain = (...args: string[]) => keystride('explain', ...args)
const pattern = (who: number, session: number, mode: 'visible' | 'sensitive' = 'visible') =>
  person(who).types(suggestWords('en', session).join(' '), session, { mode })
let folder: string
const file = (name: string, content: unknown): string => {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
const references = () => [1, 2, 3, 4, 5].map((n) => file(`reference ${n}.json`, pattern(7, n)))

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keystride-explain-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('keystride explain', () => {
  it('prints its help', async () => {
    const { status, stdout } = await explain('--help')
    expect([status, stdout]).toEqual([0, expect.stringContaining('Usage: keystride explain')])
  })

  it('prints the evidence for and against, in words and numbers', async () => {
    const { status, stdout, stderr } = await explain(
      '--reference',
      ...references(),
      '--probe',
      file('p.json', pattern(8, 6)),
    )
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^confidence +0\.\d{3} against 5 references \(keystride-\d+\)/)
    expect(stdout).toMatch(/^bot likelihood +\d+\.\d %/m)
    expect(stdout).toMatch(/^ {2}typed (at the usual pace|\d+ % (slower|faster) than usual)$/m)
    expect(stdout).toMatch(/^Spoke against: \d+ key pairs, together -\d+\.\d\d$/m)
    expect(stdout).toMatch(
      /^\S.* -\d+\.\d\d +\d +.*\d+ ms (longer|shorter|slower|faster) than usual \(usual -?\d+ ms, here/m,
    )
  })

  it('prints a trace that is reproduced bit for bit', async () => {
    const [first = '', ...others] = references()
    const args = ['--reference', first, '--reference', ...others, '--probe', file('p.json', pattern(7, 6)), '--json']
    const trace = JSON.parse((await explain(...args)).stdout) as Trace
    const again = recompute(openScorer(wasmFile(), modelFile()), trace)
    for (const [key, value] of Object.entries(trace.result))
      expect(Object.is((again as unknown as Record<string, unknown>)[key], value)).toBe(true)
    expect(trace.nReferences).toBe(5)
  })

  it('takes all patterns in one file, and names no key of masked patterns', async () => {
    const all = {
      references: [1, 2, 3, 4, 5].map((n) => pattern(7, n, 'sensitive')),
      probe: pattern(7, 6, 'sensitive'),
    }
    const { status, stdout } = await explain('--patterns', file('all.json', all))
    expect(status).toBe(0)
    expect(stdout).toMatch(/^keys \d+ and \d+ /m)
    expect(stdout).not.toMatch(/Space|Backspace/)
  })

  it('describes a bad file and the expected form in one line, with status 1', async () => {
    const [reference = ''] = references()
    const good = file('good.json', pattern(7, 6))
    const cases: [string[], RegExp][] = [
      [['--probe', good], /^keystride: no reference came: wanted one/],
      [['--reference', reference], /^keystride: no probe came: wanted --probe/],
      [
        ['--reference', join(folder, 'none.json'), '--probe', good],
        /none\.json cannot be read: there is no such file\n$/,
      ],
      [['--reference', reference, '--probe', folder], /cannot be read: .*directory/],
      [
        ['--reference', reference, '--probe', file('bad.json', '{oh')],
        /bad\.json .*must be a JSON object in valid UTF-8\n$/,
      ],
      [
        ['--reference', reference, '--probe', file('empty.json', {})],
        /empty\.json is no acceptable typing pattern: agent/,
      ],
      [['--patterns', file('array.json', '[]')], /wanted an object with references \(a list\) and probe/],
      [['--patterns', file('list.json', { references: 1, probe: 1 })], /references is no list/],
      [['--patterns', file('text.json', 'nonsense')], /wanted JSON in UTF-8, 8 bytes of something else came/],
      [['--patterns', file('one.json', { references: [{}], probe: {} })], /one\.json, references\.0 is no acceptable/],
      [['--patterns', good, '--probe', good], /wanted the one or the other/],
      [
        ['--reference', ...Array<string>(17).fill(reference), '--probe', good],
        /17 references came: wanted 16 at the most/,
      ],
    ]
    for (const [args, message] of cases) {
      const { status, stdout, stderr } = await explain(...args)
      expect([status, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(message)
      expect(stderr.trim().split('\n')).toHaveLength(1)
    }
  }, 120_000)
})
