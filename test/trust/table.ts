import type { Figure, RowId } from '../harness/figure.js'

/** One attack (T) or fault (F) of docs/trust.md, which is the list of rows. Each text is a cell of that page. */
export interface Row {
  readonly id: RowId
  readonly what: string
  readonly figure: string
  /** The part that no test shows or that misses its bar; the row then holds in part. Null if there is none. */
  readonly notShown: string | null
  readonly verdict: string
  /** Links to the test files. */
  readonly tests: string
  /** Date of the count, with `*` if it was in the long form. */
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

const unique = (texts: readonly string[]) => [...new Set(texts)]

const COUNT = /([\d,]+) of ([\d,]+)/g
const inCount = (text = '') => Number(text.replaceAll(',', ''))

/** One text for figures that differ only in counts `N of M`, which are added. */
function added(figures: readonly string[]): string[] {
  const sums = new Map<string, number[]>()
  for (const one of figures) {
    const counts = [...one.matchAll(COUNT)].flatMap(([, n, of]) => [inCount(n), inCount(of)])
    const words = one.replace(COUNT, '# of #')
    const before = sums.get(words)
    sums.set(words, before === undefined ? counts : before.map((count, i) => count + (counts[i] ?? 0)))
  }
  return [...sums].map(([words, counts]) => {
    const rest = [...counts]
    return words.replace(/#(?= of #)|(?<=# of )#/g, () => (rest.shift() ?? 0).toLocaleString('en'))
  })
}

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
      ...added(own.flatMap(({ figure }) => figure.split('; '))),
      ...silent.map((file) => `NO FIGURE from ${file}`),
      ...failed.map((file) => `FAILED ${file}`),
    ]
    return {
      row,
      figure: said.join('; '),
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
      const [id = '', what = '', counted = '', verdict = '', testsAndWhen = ''] = line.slice(2, -2).split(/(?<!\\) \| /)
      const [, tests = '', when = ''] = /^(.*), ([^,]*)$/.exec(testsAndWhen) ?? []
      const [figure = '', notShown = null] = counted.split(NOT_SHOWN)
      return { id: id as RowId, what, figure, notShown, verdict, tests, when }
    })

function counted(row: Row, found: Result, { date, form }: Run): Row {
  const links = found.files.map(
    (file) => `[${file.replace(/^.*\//, '').replace(/(\.long)?\.test\.ts$/, '')}](../${file})`,
  )
  return {
    ...row,
    figure: found.figure.replaceAll('|', '\\|').replaceAll('\n', ' '),
    verdict: verdict(found) === 'holds' && row.notShown !== null ? 'holds in part' : verdict(found),
    tests: links.join(', '),
    when: found.files.length === 0 ? '' : form === 'long' ? `${date}\\*` : date,
  }
}

function lineOf({ id, what, figure, notShown, verdict, tests, when }: Row): string {
  const counted = notShown === null ? figure : figure + NOT_SHOWN + notShown
  const cells = [id, what, counted, verdict, `${tests}, ${when}`]
  return `| ${cells.join(' | ')} |`
}

/** docs/trust.md with the rows of `table` as counted now, and other rows as the page `before` has them. */
export function page(before: string, table: readonly Result[], run: Run): string {
  const rows = rowsOf(before).map((row) => {
    const found = table.find((one) => one.row === row.id)
    return found === undefined ? row : counted(row, found, run)
  })
  const having = (verdict: string) => rows.filter((row) => row.verdict === verdict).length
  return `# Attacks and faults

Tests attack the service (T) and break its parts (F). ${having('holds')} of ${rows.length} rows hold, ${having('holds in part')} hold in part, ${having('FAILS')} miss their bar,
${having('not shown')} have no test. A row holds in part if a part of it is not shown or misses its bar; the row says which part.

The counts are those of the last run: of the long form (\`npm run test:trust -- --long\`), which counts up to a million cases, where the date has an
asterisk, else of the short form, which \`npm run test:long\` includes. The bar is none, or all, unless the row names another. Equal counts of several
tests are added. Writes are acknowledged enrollments and recorded attempts. 0 of n means, with 95 % confidence, fewer than 3 in n. \`--write\` writes this page. Machine of the last run: ${run.machine}.

| row | attack or fault | counted | verdict | tests, date |
|---|---|---|---|---|
${rows.map(lineOf).join('\n')}
`
}
