#!/usr/bin/env node
// `npm run lint`: fails for a comment, a description, an error message, a test title or a line of a document that is not plain
// technical English, as far as a rule can tell. Comments of TypeScript, SQL, shell, YAML and CSS count.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Words and openings of a sentence that are not used, and what to write. */
const RULES = [
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
  [/(?:^|[.;] )((?:Null|Undefined|Empty|Zero|None)): /, 'a sentence or a phrase: "null if ..."'],
  [/(?:^|[.;] )(Times) (?:[A-Z]|a\b|the next)/, 'a sentence: "The limit is multiplied by ..."'],
  [/(?:^|[.;] )(As a \w+:)/, 'a sentence'],
  [/(?:^|[.;] )(To the \w+(?: \w+)* alone)/, 'a sentence with a verb'],
  [/\b(others than)\b/i, 'name them: "users other than root"'],
  [/\b(lies|lay|lain)\b/i, 'is, is stored, is at'],
  [/\b(bare) (?:login|role)\b/i, 'the login role'],
  [/\b(as the next one)\b/i, 'name it'],
]

/** A comment, or a literal, which may hold the marks of a comment: string, template, regular expression. */
const TOKEN =
  /\/\*[\s\S]*?\*\/|\/\/.*(?:\n[ \t]*\/\/.*)*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|(?<=[=(,:[!&|?{};]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\//g
/** `TOKEN` for SQL, and for languages with comments after a number sign. */
const SQL_TOKEN = /--.*(?:\n[ \t]*--.*)*|'[^']*'/g
const SHELL_TOKEN = /(?<=^|\s)#.*(?:\n[ \t]*#.*)*/gm
/** A literal in front of a function, or of options: the title of a test. */
const TITLED = /^,\s*(?:async\b|\(|\{ timeout)/
/** A literal that a person reads: a description, an error message, a help text. */
const PROSE = /^['"`](?!\s)[^<>{};=]*\p{L}+(?: [^<>{};=]*\p{L}[^<>{};=]*){3}/u

/** Comments, descriptions, messages, titles of tests and lines of documents, each with its position. */
function* sentencesOf(file, text) {
  if (file.endsWith('.md')) {
    for (const { 0: line, index } of text.matchAll(/^.*$/gm)) yield { at: index, text: line.replace(/^[\s>#*|-]+/, '') }
    return
  }
  for (const { 0: token, index: at } of text.matchAll(tokenOf(file)))
    if (/^(\/[/*]|--|#)/.test(token)) yield { at, text: plain(token) }
    else if (isRead(file, token, text.slice(at + token.length))) yield { at, text: token.slice(1, -1) }
}

const tokenOf = (file) => (file.endsWith('.sql') ? SQL_TOKEN : /\.(tsx?|mjs|css)$/.test(file) ? TOKEN : SHELL_TOKEN)

const isRead = (file, token, after) =>
  file.startsWith('test/') ? TITLED.test(after) : !file.endsWith('.sql') && PROSE.test(token)

/** One line, without comment marks. */
const plain = (comment) =>
  comment
    .replace(/^\/\*\*?|\*\/$/g, '')
    .replace(/^\s*(\*|\/\/|--|#)\s?/gm, '')
    .replace(/\s+/g, ' ')
    .trim()

/** The rules that a sentence breaks. Code in backticks, quotes and links do not count. */
function broken(sentence) {
  const prose = sentence
    .replace(/`[^`]*`/g, '`code`')
    .replace(/"[^"]*"/g, '""')
    .replace(/\]\([^)]*\)/g, ']')
  return RULES.flatMap(([pattern, instead]) => {
    const match = pattern.exec(prose)
    return match === null ? [] : [`"${match[1]}": ${instead}`]
  })
}

/** Texts of the pages in other languages. */
const TRANSLATED = /texts?\/.*\b(de|es|fr|it|nl|pt)\.\w+$/
const READ = /\.(tsx?|mjs|md|sql|sh|ya?ml|css|service)$|^Dockerfile$|^\.ci\//
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString()
  .split('\n')
  .filter((file) => READ.test(file) && !TRANSLATED.test(file))
  .filter((file) => file !== 'bin/language.mjs' && existsSync(join(root, file)))
const faults = files.flatMap((file) => {
  const text = readFileSync(join(root, file), 'utf8')
  return [...sentencesOf(file, text)].flatMap(({ at, text: sentence }) =>
    broken(sentence).map((fault) => `${file}:${text.slice(0, at).split('\n').length} ${fault}`),
  )
})
for (const fault of faults) console.error(fault)
process.exitCode = faults.length > 0 ? 1 : 0
