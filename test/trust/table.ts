import type { Figure, RowId } from '../harness/figure.js'

/** One attack (T) or fault (F) of docs/trust.md, which is the list of rows. Each text is a cell of that page. */
export interface Row {
  readonly id: RowId
  readonly what: string
  /** The requirement, with the counts of the long form. */
  readonly must: string
  readonly figure: string
  /** The part of `must` that no test shows, and why: the row then holds in part. Null if there is none. */
  readonly notShown: string | null
  readonly verdict: string
  /** Links to the test files. */
  readonly tests: string
  /** Date and form of the count. */
  readonly when: string
}

/** The results of a test file: its figures, and whether all of its tests passed. */
interface Shown {
  readonly file: string
  readonly figures: readonly Figure[]
  readonly passed: boolean
}

/** One row of the table as `--json` writes it. */
interface Result extends Figure {
  /** Test files that show the row; empty if none. */
  readonly files: readonly string[]
}

/** Date, machine and form of a run. */
interface Run {
  readonly date: string
  readonly machine: string
  readonly form: 'short' | 'long'
}

/** Rows that only the long form shows. */
const LONG_ONLY: readonly RowId[] = ['F24']

const ids = (letter: 'T' | 'F', ...numbers: readonly number[]): RowId[] =>
  numbers.map((number) => `${letter}${String(number).padStart(2, '0')}` as RowId)

/** The rows by subject, for the summary of the page. */
export const GROUPS: readonly (readonly [name: string, ids: readonly RowId[]])[] = [
  ['API keys, organizations, sessions', ids('T', 1, 2, 3, 4, 16, 17)],
  ['Replays, machines, training of profiles', ids('T', 5, 6, 7, 12, 13)],
  ['Security codes, locks, budgets', ids('T', 8, 9, 10, 11, 15)],
  ['Resets, links, redirects', ids('T', 14, 24, 25, 26)],
  ['Malformed, slow and huge requests', ids('T', 19, 20, 21, 22, 23, 34)],
  ['Text of users, foreign sites, alert hosts', ids('T', 18, 27, 28, 29, 30)],
  ['Backups, insiders, deletion, migrations', [...ids('T', 31, 32, 33), ...ids('F', 20, 21)]],
  ['Faults of PostgreSQL and Redis', ids('F', 1, 2, 3, 4, 5, 6, 9, 10, 11, 12)],
  ['Faults of processes, clocks, networks, clients', ids('F', 7, 8, 13, 14, 15, 16, 17, 22, 23)],
  ['Overload and long load', ids('F', 18, 19, 24)],
]

const unique = (texts: readonly string[]) => [...new Set(texts)]

/** The ids of the rows that a test source has a figure for. */
export const rowsShownBy = (source: string): RowId[] =>
  unique([...source.matchAll(/\bfigure\(\s*'([TF]\d\d)'/g)].map(([, id = '']) => id)) as RowId[]

/**
 * The table. A row passes if each of its files gave a figure, all figures pass and no test of those files failed.
 * `files`: the test files of each row. A row without a file does not pass.
 */
export function results(
  rows: readonly RowId[],
  files: ReadonlyMap<RowId, readonly string[]>,
  all: readonly Shown[],
  form: Run['form'],
): Result[] {
  return rows.map((row) => {
    const named = files.get(row) ?? []
    const none = { row, bar: '', pass: false, files: [] }
    if (form === 'short' && LONG_ONLY.includes(row)) return { ...none, figure: 'shown by the long form alone' }
    if (named.length === 0) return { ...none, figure: 'no test shows it' }
    const shown = named.map((file) => all.find((one) => one.file === file) ?? { file, figures: [], passed: false })
    const own = shown.flatMap(({ figures }) => figures.filter((one) => one.row === row))
    const silent = shown.filter(({ figures }) => !figures.some((one) => one.row === row)).map(({ file }) => file)
    const failed = shown.filter(({ passed }) => !passed).map(({ file }) => file)
    const said = [
      ...own.map(({ figure }) => figure),
      ...silent.map((file) => `NO FIGURE from ${file}`),
      ...failed.map((file) => `FAILED ${file}`),
    ]
    return {
      row,
      figure: unique(said).join('; '),
      bar: unique(own.map(({ bar }) => bar)).join('; '),
      pass: silent.length === 0 && failed.length === 0 && own.every(({ pass }) => pass),
      files: named,
    }
  })
}

const verdict = ({ files, pass }: Result) => (files.length === 0 ? 'not shown' : pass ? 'holds' : 'FAILS')

/** The table as text for a terminal. */
export const tableText = (table: readonly Result[]): string =>
  table.map((one) => `${one.row}  ${verdict(one).padEnd(9)}  ${one.figure}  (bar: ${one.bar})`).join('\n')

const NOT_SHOWN = '. Not shown: '

/** The rows of the page. */
export const rowsOf = (page: string): Row[] =>
  page
    .split('\n')
    .filter((line) => /^\| [TF]\d\d \|/.test(line))
    .map((line) => {
      const [id = '', what = '', must = '', counted = '', verdict = '', tests = '', when = ''] = line
        .slice(2, -2)
        .split(/(?<!\\) \| /)
      const [figure = '', notShown = null] = counted.split(NOT_SHOWN)
      return { id: id as RowId, what, must, figure, notShown, verdict, tests, when }
    })

function counted(row: Row, found: Result, { date, form }: Run): Row {
  const links = found.files.map(
    (file) => `[${file.replace(/^test\//, '').replace(/(\.long)?\.test\.ts$/, '')}](../${file})`,
  )
  return {
    ...row,
    figure: found.figure.replaceAll('|', '\\|').replaceAll('\n', ' '),
    verdict: verdict(found) === 'holds' && row.notShown !== null ? 'holds in part' : verdict(found),
    tests: links.join(', '),
    when: found.files.length === 0 ? '' : `${date}, ${form}`,
  }
}

function lineOf({ id, what, must, figure, notShown, verdict, tests, when }: Row): string {
  const cells = [id, what, must, notShown === null ? figure : figure + NOT_SHOWN + notShown, verdict, tests, when]
  return `| ${cells.join(' | ')} |`
}

/** docs/trust.md with the rows of `table` as counted now, and other rows as the page `before` has them. */
export function page(before: string, table: readonly Result[], run: Run): string {
  const rows = rowsOf(before).map((row) => {
    const found = table.find((one) => one.row === row.id)
    return found === undefined ? row : counted(row, found, run)
  })
  const having = (verdict: string) => rows.filter((row) => row.verdict === verdict).map(({ id }) => id)
  const summary = GROUPS.map(([name, ids]) => {
    const others = ['holds in part', 'FAILS', 'not shown'].flatMap((verdict) => {
      const own = having(verdict).filter((id) => ids.includes(id))
      return own.length === 0 ? [] : [`${verdict}: ${own.join(', ')}`]
    })
    const hold = having('holds').filter((id) => ids.includes(id)).length
    return `| ${name} | ${[`${hold} of ${ids.length} hold`, ...others].join('; ')} |`
  })
  return `# Attacks and faults

Tests attack the service (T) and break its parts (F). ${having('holds').length} of ${rows.length} rows hold, ${having('holds in part').length} hold in part, ${having('FAILS').length} miss their bar, and no test
shows ${having('not shown').length}. A row holds in part if no test shows a part of it; the row says which part.

| group | result |
|---|---|
${summary.join('\n')}

In the next table "must hold" has the counts of the long form. The short form runs with \`npm run test:long\` and counts fewer cases; \`npm run test:trust -- --long\`
counts all. \`--write\` writes this page, with \`--rows\` for some rows alone; each row says when it was counted, and in which form. 0 of n
found means, with 95 % confidence, fewer than 3 in n. Machine: ${run.machine}.

| row | attack or fault | must hold | counted | verdict | tests | when |
|---|---|---|---|---|---|---|
${rows.map(lineOf).join('\n')}
`
}
