import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** The mechanical part of plain technical English: words and openings of a sentence that are not used, and what to write. */
const RULES: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/(?:^|[.;:!] )(Who|Whoever|Whom|Whose)\b(?![^.]*\?)/, 'name the person or the thing'],
  [/(?:^|[.;!] )(What)\b(?![^.]*\?)/, 'name the thing: "The rows that ..."'],
  [/(?:^|[.;!] )(Of)\b/, 'start with the subject'],
  [/\b(whoever|whomever)\b/i, 'name the person or the thing'],
  [/\b(besides?)\b/i, 'next to, with, in addition to, at the same time'],
  [/\b(around)\b/i, 'near, about, in, surrounding; a workaround is one word'],
  [/\b(told|untold)\b/i, 'notified, passed, said; "told apart": distinguished'],
  [/\b(laid|overlaid)\b/i, 'placed, aligned, packed'],
  [/\b(by the book)\b/i, 'as specified'],
  [/\b(hangs? on|hung on)\b/i, 'depends on'],
  [/\b(dear|dearer|dearest)\b/i, 'expensive, cost'],
  [/\b(is|are|be|been|was|were) (let (?!in\b|out\b|through\b))/i, 'may, can'],
  [/\b(heeded|heeds?|heeding)\b/i, 'respects, applies'],
  [/\b(betimes|whence|thence|therewith|whereof|thereof|hence)\b/i, 'so, from there'],
]

/** Folders and files whose sentences are held to the rules. */
const HELD: readonly string[] = [
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'README.md',
  'SECURITY.md',
  'assembly/',
  'bench/',
  'bin/',
  'docs/',
  'model/',
  'src/',
  'test/',
]

interface Sentence {
  readonly line: number
  readonly text: string
}

/** Comments, and the titles of tests. Code in backticks and links do not count. */
export function sentencesOf(file: string, text: string): Sentence[] {
  if (file.endsWith('.md'))
    return text.split('\n').map((line, i) => ({ line: i + 1, text: line.replace(/^[\s>#*|-]+/, '') }))
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const lineOf = (at: number) => source.getLineAndCharacterOfPosition(at).line + 1
  const found = new Map<number, string>()
  const comments = (at: number) => {
    for (const range of [
      ...(ts.getLeadingCommentRanges(text, at) ?? []),
      ...(ts.getTrailingCommentRanges(text, at) ?? []),
    ])
      found.set(range.pos, text.slice(range.pos, range.end))
  }
  const visit = (node: ts.Node): void => {
    comments(node.getFullStart())
    comments(node.end)
    const title = titleOf(node)
    if (title !== null) found.set(node.getStart(), title)
    node.getChildren(source).forEach(visit)
  }
  visit(source)
  return [...found].map(([at, raw]) => ({ line: lineOf(at), text: plain(raw) }))
}

const TITLED = /^(it|describe|test)\b/
function titleOf(node: ts.Node): string | null {
  if (!ts.isCallExpression(node) || !TITLED.test(node.expression.getText())) return null
  const [title] = node.arguments
  return title !== undefined && ts.isStringLiteralLike(title) ? title.text : null
}

/** One line, without comment marks. */
const plain = (comment: string): string =>
  comment
    .replace(/^\/\*\*?|\*\/$/g, '')
    .replace(/^\s*(\*|\/\/)\s?/gm, '')
    .replace(/\s+/g, ' ')
    .trim()

/** The rules that a sentence breaks. */
export function broken(sentence: string): string[] {
  const prose = sentence
    .replace(/`[^`]*`/g, '`code`')
    .replace(/"[^"]*"/g, '""')
    .replace(/\]\([^)]*\)/g, ']')
  return RULES.flatMap(([pattern, instead]) => {
    const match = pattern.exec(prose)
    return match === null ? [] : [`"${match[1]}": ${instead}`]
  })
}

const files = (): string[] =>
  execFileSync('git', ['ls-files', 'src', 'packages', 'examples', 'assembly', 'bench', 'bin', 'test', 'docs', '*.md'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => /\.(tsx?|mjs|md)$/.test(file) && file !== 'test/language.test.ts')

describe('the language of comments, titles of tests and documents', () => {
  it('is plain technical English, as far as a rule can tell', () => {
    const held = files().filter((file) =>
      (process.env.LANGUAGE_OF ?? HELD.join()).split(',').some((folder) => file.startsWith(folder)),
    )
    const faults = held.flatMap((file) =>
      sentencesOf(file, readFileSync(join(root, file), 'utf8')).flatMap(({ line, text }) =>
        broken(text).map((fault) => `${file}:${line} ${fault}`),
      ),
    )
    expect(faults).toEqual([])
  }, 120_000)

  it.each([
    ['Who has one reference or none has no baseline.', 1],
    ['Reads it. What is left goes.', 1],
    ['A cached person costs one Redis round trip.', 0],
    ['Who may read it?', 0],
    ['Aligned with the reference; `laid` is a name.', 0],
    ['It is told once.', 1],
  ])('%j breaks %i rules', (sentence, n) => {
    expect(broken(sentence)).toHaveLength(n)
  })

  it('reads comments, titles and lines of documents', () => {
    const code = "/** Who asks. */\nconst a = 1 // Of course\nit('is told', () => {})\n"
    expect(sentencesOf('a.test.ts', code).map(({ text }) => text)).toEqual(['Who asks.', 'Of course', 'is told'])
    expect(sentencesOf('a.md', '# Title\n- an item')).toEqual([
      { line: 1, text: 'Title' },
      { line: 2, text: 'an item' },
    ])
  })
})
