#!/usr/bin/env node
// `npm run test:trust`: runs the tests of the rows of docs/trust.md and prints the table. See --help.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { fromTests } from './from-tests.mjs'
import { prepare } from './prepare.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const HELP = `npm run test:trust [-- options]

Runs each test that shows a row of docs/trust.md, and prints the table. Ends with status 1 if a row fails or one of its
tests gives no figure. Some rows need the open typing data: KEYSTRIDE_DATA_SETS names its folder.

  --long             the full counts; takes hours. Without it: the short form
  --rows T01,F07     only these rows
  --json FILE        writes the table as JSON: [{ "row", "figure", "bar", "pass" }]
  --write            writes these rows of docs/trust.md again
  --help             prints this text`
const PAGE = join(root, 'docs/trust.md')

prepare()
const { page, results, rowsOf, rowsShownBy, tableText } = await fromTests('trust/table')

const options = asked()
const rows = options.rows
const filesOf = new Map(rows.map((id) => [id, []]))
for (const file of testFiles())
  for (const id of rowsShownBy(readFileSync(join(root, file), 'utf8'))) filesOf.get(id)?.push(file)
const files = [...new Set([...filesOf.values()].flat())]

const folder = mkdtempSync(join(tmpdir(), 'keystride-trust-'))
const shown = files.length === 0 ? [] : await run()
const form = options.long ? 'long' : 'short'
const table = results(rows, filesOf, shown, form)
rmSync(folder, { recursive: true, force: true })

process.stdout.write(`\n${tableText(table)}\n`)
if (options.json !== undefined) {
  const lines = table.map(({ row, figure, bar, pass }) => ({ row, figure, bar, pass }))
  writeFileSync(options.json, `${JSON.stringify(lines, null, 2)}\n`)
}
if (options.write) {
  const machine = `${cpus().length} cores of ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`
  const made = { date: new Date().toISOString().slice(0, 10), machine, form }
  writeFileSync(PAGE, page(readFileSync(PAGE, 'utf8'), table, made))
}
process.exit(table.every(({ pass, files: by }) => pass || by.length === 0) ? 0 : 1)

/** The options. Prints the help and ends if the command line asks for help or has a fault. */
function asked() {
  const [text, flag] = [{ type: 'string' }, { type: 'boolean' }]
  try {
    const { values } = parseArgs({ options: { long: flag, rows: text, json: text, write: flag, help: flag } })
    if (values.help) {
      process.stdout.write(`${HELP}\n`)
      process.exit(0)
    }
    const known = rowsOf(readFileSync(PAGE, 'utf8')).map(({ id }) => id)
    const rows = values.rows?.split(',') ?? known
    const unknown = rows.find((id) => !known.includes(id))
    if (unknown !== undefined) throw new Error(`there is no row ${JSON.stringify(unknown)} in docs/trust.md`)
    return { ...values, rows }
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${HELP}\n`)
    process.exit(2)
  }
}

function testFiles() {
  return readdirSync(join(root, 'test'), { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name}`)
    .sort()
}

/** Runs the test files; returns the figures of each, and whether it passed. */
async function run() {
  const report = join(folder, 'report.json')
  const vitest = spawn(
    process.execPath,
    [
      ...[join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'test/trust/vitest.config.ts'],
      ...['--project', 'short', '--project', 'long'],
      ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...files],
    ],
    {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, TRUST_FOLDER: folder, ...(options.long ? { FAULTS: 'long', RACES: 'long' } : {}) },
    },
  )
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => vitest.kill(signal))
  await new Promise((resolve) => vitest.on('exit', resolve))
  const testResults = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')).testResults : []
  return files.map((file) => {
    const figures = join(folder, createHash('sha256').update(file).digest('hex'))
    const lines = existsSync(figures) ? readFileSync(figures, 'utf8').trim().split('\n') : []
    return {
      file,
      figures: lines.map((line) => JSON.parse(line)),
      passed: testResults.some(({ name, status }) => name === join(root, file) && status === 'passed'),
    }
  })
}
