import type { RowId } from './figure.js'
import type { Row } from './rows.js'

export interface Options {
  readonly long: boolean
  /** File that the table goes to as JSON; null if none. */
  readonly json: string | null
  /** Writes these rows of docs/trust.md again. */
  readonly write: boolean
  /** Rows to show; all rows if the command line names none. */
  readonly rows: readonly RowId[]
}

export const HELP = `npm run test:trust [-- options]

Runs each test that shows a row of the table of trust, and prints the table. Ends with status 1 if a row fails or one of
its tests gives no figure. Some rows need the open typing data: KEYSTRIDE_DATA_SETS names its folder.

  --long             the full counts; takes hours. Without it: the short form
  --rows T01,F07     only these rows
  --json FILE        writes the table as JSON: [{ "row", "figure", "bar", "pass" }]
  --write            writes these rows of docs/trust.md again
  --help             prints this text`

/** Reads the command line; `help` if it asks for help. Throws an Error whose message names the fault. */
export function optionsOf(words: readonly string[], known: readonly Row[]): Options | 'help' {
  let [long, write] = [false, false]
  let json: string | null = null
  let rows: RowId[] = []
  const rest = [...words]
  const following = (option: string): string => {
    const value = rest.shift()
    if (value === undefined || value === '' || value.startsWith('--')) throw new Error(`${option} needs a value`)
    return value
  }
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--help' || word === '-h') return 'help'
    if (word === '--long') long = true
    else if (word === '--write') write = true
    else if (word === '--json') json = following(word)
    else if (word === '--rows')
      rows = following(word)
        .split(',')
        .map((id) => rowNamed(id, known))
    else throw new Error(`unknown option ${JSON.stringify(word)}`)
  }
  return { long, json, write, rows }
}

function rowNamed(id: string, known: readonly Row[]): RowId {
  const found = known.find((row) => row.id === id)
  if (found === undefined) throw new Error(`there is no row ${JSON.stringify(id)}: T01 to T34 and F01 to F24`)
  return found.id
}
