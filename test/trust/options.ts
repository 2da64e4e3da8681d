import type { RowId } from './figure.js'
import type { Row } from './rows.js'

export interface Options {
  readonly long: boolean
  /** Where the table goes as JSON; null: nowhere. */
  readonly json: string | null
  /** These rows of docs/trust.md are written anew. */
  readonly write: boolean
  /** All where none are named. */
  readonly rows: readonly RowId[]
}

export const HELP = `npm run test:trust [-- options]

Runs every test that shows a row of the table of trust and prints the table. Ends with status 1 where a row fails or one
of its tests gave no figure. Some rows want the open typing data: KEYSTRIDE_DATA_SETS names its folder.

  --long             the whole sizes: hours. Without it the short ones.
  --rows T01,F07     these rows alone
  --json FILE        the table as JSON: [{ "row", "figure", "bar", "pass" }]
  --write            these rows of docs/trust.md anew
  --help             this text`

/** What the command line asks for; throws an Error whose message says what is wrong. `help` where that is asked for. */
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
