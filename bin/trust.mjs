#!/usr/bin/env node
// `npm run test:trust`: runs the tests of the rows of docs/trust.md and prints the table. See --help.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fromTests } from './from-tests.mjs'
import { prepare } from './prepare.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
prepare()
const { ROWS } = await fromTests('trust/rows')
const { HELP, optionsOf } = await fromTests('trust/options')
const { page, results, rowsShownBy, tableText } = await fromTests('trust/table')

const options = asked()
const rows = options.rows.length === 0 ? ROWS : ROWS.filter(({ id }) => options.rows.includes(id))
const filesOf = new Map(rows.map(({ id }) => [id, []]))
for (const file of testFiles())
  for (const id of rowsShownBy(readFileSync(join(root, file), 'utf8'))) filesOf.get(id)?.push(file)
const files = [...new Set([...filesOf.values()].flat())]

const folder = mkdtempSync(join(tmpdir(), 'keystride-trust-'))
const shown = files.length === 0 ? [] : await run()
const form = options.long ? 'long' : 'short'
const table = results(rows, filesOf, shown, form)
rmSync(folder, { recursive: true, force: true })

process.stdout.write(`\n${tableText(table)}\n`)
if (options.json !== null) {
  const lines = table.map(({ row, figure, bar, pass }) => ({ row, figure, bar, pass }))
  writeFileSync(options.json, `${JSON.stringify(lines, null, 2)}\n`)
}
if (options.write) {
  const machine = `${cpus().length} cores of ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`
  const made = { date: new Date().toISOString().slice(0, 10), machine, form }
  const file = join(root, 'docs/trust.md')
  writeFileSync(file, page(ROWS, table, made, existsSync(file) ? readFileSync(file, 'utf8') : ''))
}
process.exit(table.every(({ pass, files: by }) => pass || by.length === 0) ? 0 : 1)

function asked() {
  try {
    const given = optionsOf(process.argv.slice(2), ROWS)
    if (given !== 'help') return given
    process.stdout.write(`${HELP}\n`)
    process.exit(0)
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
