import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configTable } from '../src/process/config.js'
import { type ServiceProcess, startProcess } from './faults/service-process.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const documents = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .trim()
  .split('\n')

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
const blocks = [...readme.matchAll(/```sh walk\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')

describe('the walk through a sign-in', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-readme-'))
  let service: ServiceProcess
  beforeAll(async () => {
    service = await startProcess({ KEYSTRIDE_DATA: folder })
  })
  afterAll(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('works as printed, from the bootstrap to the deletion', () => {
    const script = blocks
      .join('\necho "=== next"\n')
      .replaceAll('.keystride/demo.json', join(folder, 'demo.json'))
      .replaceAll('http://localhost:8080/core', service.core)
      .replaceAll('npx keystride', `node ${join(root, 'bin/keystride.mjs')}`)
    const output = execFileSync('bash', ['-euo', 'pipefail', '-c', script], { cwd: root, encoding: 'utf8' })
    const answers = output.split('=== next').map((part) =>
      part
        .trim()
        .split(/(?<=\})(?=\{"timestamp)/)
        .filter((text) => text !== '')
        .map((text) => JSON.parse(text)),
    )
    const [, created, enrolled, verified, stranger, deleted] = answers
    expect(created?.[0]).toMatchObject({ success: true, created: true, userRef: 'ann@example.com' })
    expect(enrolled?.map(({ biometricStatus }) => biometricStatus)).toEqual([...Array(4).fill('in-progress'), 'ok'])
    expect(verified?.[0].authentication).toMatchObject({ authenticated: true, recommendedAction: 'auth' })
    expect(stranger?.[0].authentication.authenticated).toBe(false)
    expect(deleted?.[0]).toMatchObject({ success: true, user_id: 'ann@example.com', n_patterns_deleted: 5 })
  })

  it('can begin with the curl line that the service prints when it starts', () => {
    const line = service.output().match(/curl -i .*$/m)?.[0] ?? 'false'
    const output = execFileSync('bash', ['-c', line.replace('curl -i', 'curl -si')], { encoding: 'utf8' })
    expect(output).toMatch(/^HTTP\/1\.1 404/)
    expect(output).toContain('suggestedWords')
  })
})

describe('the configuration table', () => {
  it('is the list that config.ts checks', () => {
    const rows = configTable().map(
      ({ name, fallback, meaning }) => `| \`${name}\` | ${fallback === '' ? '' : `\`${fallback}\``} | ${meaning} |`,
    )
    const wanted = ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n')
    expect(readme).toContain(`<!-- configuration -->\n${wanted}\n<!-- /configuration -->`)
  })
})

describe('the README', () => {
  it('is short', () => {
    expect(readme.split('\n').length - 1).toBeLessThanOrEqual(220)
  })

  it('links to every document', () => {
    const targets = linksIn('README.md', readme)
    expect(
      documents.filter((file) => !targets.includes(file) && !['README.md', 'bench/README.md'].includes(file)),
    ).toEqual([])
  })
})

describe('every document', () => {
  const help = (...words: string[]) =>
    execFileSync(process.execPath, [join(root, 'bin/keystride.mjs'), ...words, '--help'], { encoding: 'utf8' })

  it('names commands that package.json and the command line know', () => {
    const scripts = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts)
    const known = new Set(
      help()
        .match(/^ {2}[a-z][\w-]*/gm)
        ?.map((name) => name.trim()),
    )
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

  it('has pictures of at most 200 kB', () => {
    const pictures = documents.flatMap((file) =>
      [...read(file).matchAll(/!\[[^\]]+\]\(([^)]+)\)|src(?:set)?="([^"]+\.png)"/g)].map(([, inMarkdown, inHtml]) =>
        normalize(join(dirname(file), inMarkdown ?? inHtml ?? '')),
      ),
    )
    expect(pictures).toContain('docs/try-page.png')
    expect(pictures).toContain('docs/console-sign-in-dark.png')
    expect(pictures.filter((picture) => statSync(join(root, picture)).size > 200_000)).toEqual([])
  })
})
