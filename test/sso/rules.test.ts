import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readSsoSettings } from '../../src/sso/settings.js'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

it('the rules of docs/sso.md are those that are tested', () => {
  const documented = [
    ...(read('docs/sso.md')
      .split('## Rules')[1]
      ?.matchAll(/^\| (.+), ([\d.]+.*?) \| (.+) \|$/gm) ?? []),
  ]
  const tested = [
    ...read('test/sso/protocol.long.test.ts').matchAll(
      /^ {2}describe\('(.*)'|^ {4}it\('(\D*)([\d.]+.*?): (.*)', async/gm,
    ),
  ]
  let group = ''
  const titles = tested.flatMap(([, named, standard = '', section, rule]) => {
    if (named !== undefined) group = named
    return named === undefined ? [[standard.trim() || group, section, rule]] : []
  })
  expect(titles.length).toBeGreaterThan(20)
  expect(documented.map(([, ...parts]) => parts)).toEqual(titles)
})

it('the settings of docs/sso.md can be read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-sso-docs-'))
  const path = join(folder, 'sso.json')
  const [whole = '', ...parts] = [...read('docs/sso.md').matchAll(/```json\n([\s\S]*?)```/g)].map(
    ([, text = '']) => text,
  )
  const settings = JSON.parse(whole)
  const readable = (more: object) => {
    writeFileSync(path, JSON.stringify({ ...settings, ...more }))
    return readSsoSettings(path)
  }
  expect(readable({}).clients[0]?.id).toBe('wiki')
  for (const part of parts) {
    // A client, or fields of the file.
    const more = part.startsWith('{') ? { clients: [JSON.parse(part)] } : JSON.parse(`{${part}}`)
    expect(readable(more)).toBeTruthy()
  }
  expect(parts.length).toBeGreaterThan(3)
  rmSync(folder, { recursive: true })
})
