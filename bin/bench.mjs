#!/usr/bin/env node
import { spawn } from 'node:child_process'
// `npm run bench:<name> -- <options>`: the built bench of that name, built first where it is not.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { prepare } from './prepare.mjs'

const [name = '', ...options] = process.argv.slice(2)
prepare()
const file = fileURLToPath(new URL(`../build/bench/${name}.js`, import.meta.url))
if (!existsSync(file)) {
  process.stderr.write(`there is no bench ${JSON.stringify(name)}: see bench/\n`)
  process.exit(1)
}
// A Ctrl-C reaches the bench too, which may have a report to finish: whoever started it waits for it.
const bench = spawn(process.execPath, [file, ...options], { stdio: 'inherit' })
process.on('SIGINT', () => {})
process.on('SIGTERM', () => bench.kill('SIGTERM'))
bench.on('exit', (status) => process.exit(status ?? 1))
