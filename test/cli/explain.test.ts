import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { suggestWords } from '../../src/domain/typing-words.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { openScorer } from '../../src/scoring/scorer.js'
import { recompute, type Trace } from '../../src/scoring/trace.js'
import { person } from '../../src/typist/made-up-person.js'
import { keystrideHere } from '../harness/command.js'

const folder = mkdtempSync(join(tmpdir(), 'keystride-explain-'))
afterAll(() => rmSync(folder, { recursive: true }))

const explain = (...args: string[]) => keystrideHere({})('explain', ...args)
const pattern = (who: number, session: number, mode: 'visible' | 'sensitive' = 'visible') =>
  person(who).types(suggestWords('en', session).join(' '), session, { mode })
const file = (name: string, content: unknown): string => {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
const references = [1, 2, 3, 4, 5].map((n) => file(`reference ${n}.json`, pattern(7, n)))
const [reference = ''] = references

describe('keystride explain', () => {
  it('prints the evidence for and against, in words and numbers', async () => {
    const other = file('other.json', pattern(8, 6))
    const { status, stdout, stderr } = await explain('--reference', ...references, '--probe', other)
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^confidence +0\.\d{3} against 5 references \(keystride-\d+\)/)
    expect(stdout).toMatch(/^bot likelihood +\d+\.\d %/m)
    expect(stdout).toMatch(/^Spoke against: \d+ key pairs, together -\d+\.\d\d$/m)
  })

  it('prints a trace that is reproduced bit for bit', async () => {
    const own = file('own.json', pattern(7, 6))
    const { stdout } = await explain('--reference', ...references, '--probe', own, '--json')
    const trace = JSON.parse(stdout) as Trace
    expect(recompute(openScorer(wasmFile(), modelFile()), trace)).toMatchObject({ ...trace.result })
    expect(trace.nReferences).toBe(5)
  })

  it('takes all patterns in one file, and names no key of masked patterns', async () => {
    const masked = (session: number) => pattern(7, session, 'sensitive')
    const all = { references: [1, 2, 3, 4, 5].map(masked), probe: masked(6) }
    const { status, stdout } = await explain('--patterns', file('all.json', all))
    expect(status).toBe(0)
    expect(stdout).toMatch(/^keys \d+ and \d+ /m)
    expect(stdout).not.toMatch(/Space|Backspace/)
  })

  const good = file('good.json', pattern(7, 6))
  const probe = (path: string) => ['--reference', reference, '--probe', path]
  it.each<[args: string[], message: RegExp]>([
    [['--probe', good], /^keystride: no reference came/],
    [['--reference', reference], /^keystride: no probe came/],
    [probe(join(folder, 'none.json')), /none\.json cannot be read: there is no such file/],
    [probe(file('bad.json', '{oh')), /bad\.json .*must be a JSON object in valid UTF-8/],
    [probe(file('empty.json', {})), /empty\.json is no acceptable typing pattern: agent/],
    [['--patterns', file('list.json', { references: 1, probe: 1 })], /references is no list/],
    [['--patterns', file('text.json', 'nonsense')], /wanted JSON in UTF-8, 8 bytes of something else came/],
    [['--patterns', file('one.json', { references: [{}], probe: {} })], /one\.json, references\.0 is no acceptable/],
    [['--patterns', good, '--probe', good], /wanted the one or the other/],
    [['--reference', ...Array<string>(17).fill(reference), '--probe', good], /17 references came: wanted 16/],
  ])('describes what it cannot use in one line, with status 1: %j', async (args, message) => {
    const { status, stdout, stderr } = await explain(...args)
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(message)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })
})
