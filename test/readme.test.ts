import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { configTable } from '../src/process/config.js'
import { keystrideHere } from './harness/command.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const documents = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((file) => existsSync(join(root, file)))

/** The files that a document links to, as paths in the repository; with `headings`, including the anchors. */
const linksIn = (file: string, text: string, headings = false): string[] =>
  [...text.replace(/```[\s\S]*?```/g, '').matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1] ?? '')
    .filter((target) => !/^\w+:/.test(target))
    .map((target) => (target.startsWith('#') ? file + target : normalize(join(dirname(file), target))))
    .map((target) => (headings ? target : target.replace(/#.*/, '')))

/** Whether the path exists and, if the target has an anchor, GitHub generates this anchor for one of its headings. */
function resolves(target: string): boolean {
  const [path = '', anchor] = target.split('#')
  if (!existsSync(join(root, path))) return false
  if (anchor === undefined) return true
  const anchors = [...read(path).matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
  return anchors.includes(anchor)
}

const CONFIGURATION = /<!-- configuration -->\n([\s\S]*?)\n<!-- \/configuration -->/

it('operations has every setting of config.ts, and the README some of them, in the same words and order', () => {
  const rows = configTable().map(
    ({ name, fallback, meaning }) => `| \`${name}\` | ${fallback === '' ? '' : `\`${fallback}\``} | ${meaning} |`,
  )
  const head = ['| variable | default | meaning |', '|---|---|---|']
  const inFile = (file: string) => CONFIGURATION.exec(read(file))?.[1]?.split('\n') ?? []
  expect(inFile('docs/operations.md')).toEqual([...head, ...rows])
  const shown = inFile('README.md')
  expect(shown).toEqual([...head, ...rows.filter((row) => shown.includes(row))])
  expect(shown.length).toBeGreaterThan(15)
})

it('the README links to every document', () => {
  const targets = linksIn('README.md', readme)
  const others = documents.filter((file) => !['README.md', 'bench/README.md'].includes(file))
  expect(others.filter((file) => !targets.includes(file))).toEqual([])
})

describe('every document', () => {
  it('names commands that package.json and the command line know', async () => {
    const { stdout: help } = await keystrideHere({})('--help')
    const scripts = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts)
    const known = new Set(help.match(/^ {2}[a-z][\w-]*/gm)?.map((name) => name.trim()))
    const benches = readFileSync(join(root, 'bench/README.md'), 'utf8')
    const unknown = documents.flatMap((file) => {
      const text = read(file)
      const named = (pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1] ?? '')
      return [
        ...named(/npm run (?:--silent )?([\w:]+)/g).filter((name) => !scripts.includes(name)),
        ...named(/npm run bench -- ([a-z]\w*)/g).filter((name) => !benches.includes(`| \`${name}\` |`)),
        ...named(/(?:npx |`)keystride ([a-z][\w-]*)/g).filter((name) => !known.has(name)),
      ].map((name) => `${file}: ${name}`)
    })
    expect(known.size).toBeGreaterThan(10)
    expect(unknown).toEqual([])
  })

  it('links to files and headings that exist', () => {
    const broken = documents.flatMap((file) =>
      linksIn(file, read(file), true)
        .filter((target) => !resolves(target))
        .map((target) => `${file}: ${target}`),
    )
    expect(broken).toEqual([])
  })

  it('names paths of the repository that exist', () => {
    const missing = documents.flatMap((file) =>
      [...read(file).matchAll(/(?<![\w/.@-])((?:src|test|assembly|bench|bin|docs|model)\/[\w./-]*\w)(?!\S*[*{<])/g)]
        .map((match) => match[1] ?? '')
        .filter((path) => !existsSync(join(root, path)))
        .map((path) => `${file}: ${path}`),
    )
    expect(missing).toEqual([])
  })
})
