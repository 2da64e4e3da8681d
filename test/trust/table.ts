import type { Figure, RowId } from './figure.js'
import type { Row } from './rows.js'

/** What a test file has shown: its figures by row, and whether all of its tests passed. */
interface Shown {
  readonly file: string
  readonly figures: readonly Figure[]
  readonly passed: boolean
}

/** One row of the table as it goes into `--json`. */
interface Result extends Figure {
  /** Files that show it; none where nothing does. */
  readonly files: readonly string[]
}

const unique = (texts: readonly string[]) => [...new Set(texts)]

/** The rows whose figure a test source says. */
export const rowsShownBy = (source: string): RowId[] =>
  unique([...source.matchAll(/\bfigure\(\s*'([TF]\d\d)'/g)].map(([, id = '']) => id)) as RowId[]

/**
 * The table: a row passes where each file that shows it gave a figure, all figures pass and no test of those files failed.
 * `files` are those that show a row, by row; what is shown by none has its `notShown` for a figure and does not pass.
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

/** The table as text for a terminal. */
export const told = (table: readonly Result[]): string =>
  table.map((one) => `${one.row}  ${verdict(one).padEnd(9)}  ${one.figure}  (bar: ${one.bar})`).join('\n')

/** Where and how a run was made. */
interface Run {
  readonly date: string
  readonly machine: string
  readonly form: 'short' | 'long'
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

/** What a page says was counted of a row: figure, verdict, tests, and when in which form. */
type Counted = readonly [figure: string, verdict: string, tests: string, when: string]

function countedIn({ notShown }: Row, found: Result, { date, form }: Run): Counted {
  const remark = notShown === undefined || found.files.length === 0 ? '' : ` (${notShown})`
  const files = found.files.map((file) => `[${file.replace(/^test\//, '').replace(/\.test\.ts$/, '')}](../${file})`)
  const when = found.files.length === 0 ? '' : `${date}, ${form}`
  return [cell(`${found.figure}${remark}`), verdict(found), files.join(', '), when]
}

/**
 * docs/trust.md: a row in `table` as it was counted now, every other as the page of `before` has it; one that neither has
 * is not shown.
 */
export function page(rows: readonly Row[], table: readonly Result[], run: Run, before: string): string {
  const kept = new Map(linesOf(before).map(([id, , , ...counted]) => [id, counted as unknown as Counted]))
  const lines = rows.map((row) => {
    const found = table.find((one) => one.row === row.id)
    const counted = found === undefined ? kept.get(row.id) : countedIn(row, found, run)
    return [row.id, cell(row.what), cell(row.must), ...(counted ?? ['not counted yet', 'not shown', '', ''])]
  })
  const held = lines.filter(([, , , , verdict]) => verdict === 'holds').length
  const missed = lines.filter(([, , , , verdict]) => verdict === 'FAILS').length
  return `# What holds under attack and fault

Each row is an attack (T) or a fault (F), what must hold at full length, and what was counted. ${held} of ${lines.length} rows hold;
${missed} miss their bar, ${lines.length - held - missed} are not counted here yet or no test shows them.

\`npm run test:trust -- --write\` makes this page, with \`--rows\` of some rows alone; each says when it was counted, and in which
form. The short form counts fewer of the same and is part of \`npm test\`; \`--long\` counts them all. 0 of n found means, with
95 % confidence, fewer than 3 in n. Machine: ${run.machine}.

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
