import type { Figure, RowId } from './figure.js'
import { GROUPS, type Row } from './rows.js'

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

const unique = (texts: readonly string[]) => [...new Set(texts)]

/** The ids of the rows that a test source has a figure for. */
export const rowsShownBy = (source: string): RowId[] =>
  unique([...source.matchAll(/\bfigure\(\s*'([TF]\d\d)'/g)].map(([, id = '']) => id)) as RowId[]

/**
 * The table. A row passes if each of its files gave a figure, all figures pass and no test of those files failed.
 * `files`: the test files of each row. A row without a file does not pass; its figure is its `notShown`.
 */
export function results(
  rows: readonly Row[],
  files: ReadonlyMap<RowId, readonly string[]>,
  all: readonly Shown[],
  form: Run['form'],
): Result[] {
  return rows.map(({ id, must, notShown = '', longOnly = false }) => {
    const named = files.get(id) ?? []
    if (longOnly && form === 'short')
      return { row: id, figure: 'shown by the long form alone', bar: must, pass: false, files: [] }
    if (named.length === 0) return { row: id, figure: `not shown: ${notShown}`, bar: must, pass: false, files: [] }
    const shown = named.map((file) => all.find((one) => one.file === file) ?? { file, figures: [], passed: false })
    const own = shown.flatMap(({ figures }) => figures.filter(({ row }) => row === id))
    const silent = shown.filter(({ figures }) => !figures.some(({ row }) => row === id)).map(({ file }) => file)
    const failed = shown.filter(({ passed }) => !passed).map(({ file }) => file)
    const said = [
      ...own.map((one) => one.figure),
      ...silent.map((file) => `NO FIGURE from ${file}`),
      ...failed.map((file) => `FAILED ${file}`),
    ]
    return {
      row: id,
      figure: unique(said).join('; '),
      bar: unique(own.map(({ bar }) => bar)).join('; ') || must,
      pass: silent.length === 0 && failed.length === 0 && own.every(({ pass }) => pass),
      files: named,
    }
  })
}

const verdict = ({ files, pass }: Result) => (files.length === 0 ? 'not shown' : pass ? 'holds' : 'FAILS')

/** A row with a part that no test shows holds in part on the page. */
const verdictOnPage = ({ notShown }: Row, found: Result) =>
  verdict(found) === 'holds' && notShown !== undefined ? 'holds in part' : verdict(found)

/** The table as text for a terminal. */
export const tableText = (table: readonly Result[]): string =>
  table.map((one) => `${one.row}  ${verdict(one).padEnd(9)}  ${one.figure}  (bar: ${one.bar})`).join('\n')

/** Date, machine and form of a run. */
interface Run {
  readonly date: string
  readonly machine: string
  readonly form: 'short' | 'long'
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

/** The counted cells of a row on the page. */
type Counted = readonly [figure: string, verdict: string, tests: string, when: string]

function countedIn(row: Row, found: Result, { date, form }: Run): Counted {
  const remark = row.notShown === undefined || found.files.length === 0 ? '' : `. Not shown: ${row.notShown}`
  const files = found.files.map((file) => `[${file.replace(/^test\//, '').replace(/\.test\.ts$/, '')}](../${file})`)
  const when = found.files.length === 0 ? '' : `${date}, ${form}`
  return [cell(`${found.figure}${remark}`), verdictOnPage(row, found), files.join(', '), when]
}

/**
 * docs/trust.md: the rows of `table` as counted now, other rows as the page `before` has them. A row in neither says
 * so.
 */
export function page(rows: readonly Row[], table: readonly Result[], run: Run, before: string): string {
  const kept = new Map(linesOf(before).map(([id, , , ...counted]) => [id, counted as unknown as Counted]))
  const lines = rows.map((row) => {
    const found = table.find((one) => one.row === row.id)
    const counted = found === undefined ? kept.get(row.id) : countedIn(row, found, run)
    return [row.id, cell(row.what), cell(row.must), ...(counted ?? ['not counted yet', 'not shown', '', ''])]
  })
  const withVerdict = (wanted: string, ids?: readonly string[]) =>
    lines.filter(([id = '', , , , verdict]) => verdict === wanted && (ids?.includes(id) ?? true)).map(([id]) => id)
  const summary = GROUPS.map(([name, ids]) => {
    const others = ['holds in part', 'FAILS', 'not shown'].flatMap((verdict) => {
      const rows = withVerdict(verdict, ids)
      return rows.length === 0 ? [] : [`${verdict}: ${rows.join(', ')}`]
    })
    return `| ${name} | ${[`${withVerdict('holds', ids).length} of ${ids.length} hold`, ...others].join('; ')} |`
  })
  return `# Attacks and faults

Tests attack the service (T) and break its parts (F). ${withVerdict('holds').length} of ${lines.length} rows hold, ${withVerdict('holds in part').length} hold in part, ${withVerdict('FAILS').length} miss their bar, and no test
shows ${withVerdict('not shown').length}. A row holds in part if no test shows a part of it; the row says which part.

| group | result |
|---|---|
${summary.join('\n')}

In the next table "must hold" has the counts of the long form. The short form runs with \`npm test\` and counts fewer cases; \`npm run test:trust -- --long\`
counts all. \`--write\` writes this page, with \`--rows\` for some rows alone; each row says when it was counted, and in which form. 0 of n
found means, with 95 % confidence, fewer than 3 in n. Machine: ${run.machine}.

| row | attack or fault | must hold | counted | verdict | tests | when |
|---|---|---|---|---|---|---|
${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}
`
}

const linesOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => /^\| [TF]\d\d \|/.test(line))
    .map((line) => line.slice(2, -2).split(/(?<!\\) \| /))

/** The rows of such a page: id and attack or fault. */
export const rowsOfPage = (text: string): (readonly [string, string])[] =>
  linesOf(text).map(([id = '', what = '']) => [id, what] as const)
